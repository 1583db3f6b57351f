/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rack's services as a table; the keeper starts them in this order. Invariant: a
 * service's pid is 0 exactly while it does not run.
 */
#include "lab/services.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/worker.h"

enum { START_TIMEOUT_MS = 60000, POLL_MS = 50, END_GRACE_MS = 3000, SLURM_PORT = 6817 };

struct service {
	const char *name;
	int slurm;          /* only wanted with Slurm */
	const char *socket; /* answers here when it is ready; NULL = Slurm's port */
	const char *argv[8];
	pid_t pid;
};

static struct service services[] = {
	{.name = "libvirtd",
	 .socket = "/run/libvirt/libvirt-sock",
	 .argv = {"libvirtd", "--config", "/etc/libvirt/libvirtd.conf", NULL}},
	{.name = "munged",
	 .slurm = 1,
	 .socket = "/run/munge/munge.socket.2",
	 .argv = {"munged", "--foreground", "--num-threads=2",
		  "--pid-file=/run/munge/munged.pid",
		  "--seed-file=/run/munge/munged.seed",
		  "--log-file=/run/munge/munged.log", NULL}},
	/* -c: no saved state; -D: stays in the foreground. */
	{.name = "slurmctld", .slurm = 1, .argv = {"slurmctld", "-D", NULL}},
};

static int
answers(const struct service *service)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	struct sockaddr_in inet = {.sin_family = AF_INET,
				   .sin_port = htons(SLURM_PORT)};
	bu_autoclose int fd = socket(service->socket ? AF_UNIX : AF_INET,
				     SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (service->socket) {
		strncpy(local.sun_path, service->socket, sizeof(local.sun_path) - 1);
		return connect(fd, (struct sockaddr *)&local, sizeof(local)) == 0;
	}
	inet_pton(AF_INET, BU_RACK_ADDRESS, &inet.sin_addr);
	return connect(fd, (struct sockaddr *)&inet, sizeof(inet)) == 0;
}

static int
wait_for(const struct bu_rack *rack, struct service *service, struct bu_err *err)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + START_TIMEOUT_MS;

	while (!answers(service)) {
		int ended = waitpid(service->pid, NULL, WNOHANG) == service->pid;

		if (!ended && bu_mono_ms(bu_clock_system()) < until_ms) {
			poll(NULL, 0, POLL_MS);
			continue;
		}
		if (ended)
			service->pid = 0;
		bu_err_set(err, ended ? BU_ERR_IO : BU_ERR_TIMEOUT, 0, "%s %s",
			   service->name, ended ? "ended at once" : "does not answer");
		return bu_rack_add_log_tail(rack, service->name, err);
	}
	return 0;
}

static int
start(const struct bu_rack *rack, struct service *service, struct bu_err *err)
{
	bu_autofree char *log_path = bu_rack_path(rack, "log/%s.log", service->name);
	struct bu_daemon_opts opts = {.argv = service->argv, .log_path = log_path};
	pid_t pid = bu_daemon_spawn(&opts, err);

	if (pid < 0)
		return -1;
	service->pid = pid;
	return wait_for(rack, service, err);
}

int
bu_services_start(const struct bu_rack *rack, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(services); i++)
		if ((rack->slurm || !services[i].slurm) &&
		    start(rack, &services[i], err) != 0)
			return -1;
	return 0;
}

static void
stop(struct service *service)
{
	if (service->pid)
		bu_daemon_end(service->pid, END_GRACE_MS);
	service->pid = 0;
}

static int
empty_slurm(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *state = bu_rack_path(rack, "slurm");

	if (bu_remove_tree(state, err) != 0 || bu_mkdir_p(state, 0700, err) != 0)
		return -1;
	return 0;
}

int
bu_services_slurm(const struct bu_rack *rack, const char *verb, struct bu_err *err)
{
	struct service *slurmctld = &services[BU_LEN(services) - 1];
	int forgets = strcmp(verb, "forget") == 0;

	if (!rack->slurm)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the rack was made without Slurm");
	if (!forgets && strcmp(verb, "stop") != 0 && strcmp(verb, "start") != 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "'%s': give stop, start or forget", verb);
	if (forgets || strcmp(verb, "stop") == 0)
		stop(slurmctld);
	if (forgets && empty_slurm(rack, err) != 0)
		return -1;
	return strcmp(verb, "stop") == 0 || slurmctld->pid
		       ? 0
		       : start(rack, slurmctld, err);
}

void
bu_services_ended(pid_t pid, int status)
{
	for (size_t i = 0; i < BU_LEN(services); i++)
		if (services[i].pid == pid) {
			services[i].pid = 0;
			bu_warn("keeper", "%s ended with status %#x", services[i].name,
				(unsigned int)status);
		}
}

int
bu_services_has(pid_t pid)
{
	for (size_t i = 0; i < BU_LEN(services); i++)
		if (services[i].pid == pid)
			return 1;
	return 0;
}

json_t *
bu_services_status(void)
{
	json_t *status = json_object();

	for (size_t i = 0; i < BU_LEN(services); i++)
		json_object_set_new(status, services[i].name,
				    json_boolean(services[i].pid > 0));
	return status;
}
