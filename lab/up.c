/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and removing racks: up, run, down. Invariant: from the moment at which the
 * keeper exists until it is told to detach, it removes everything when this process
 * goes away, so a failure anywhere only has to close the lifeline.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "lab/commands.h"
#include "lab/domains.h"
#include "lab/keeper.h"
#include "lab/kvm.h"
#include "lab/prepare.h"

enum { END_GRACE_S = 10 };

enum accel { ACCEL_AUTO, ACCEL_KVM, ACCEL_TCG };

struct up_opts {
	const char *dir;
	int nodes;
	unsigned long uefi_mask;
	int memory_mib;
	int fabric_rate_mbit;
	int nics;
	struct bu_rack_cable cables[BU_RACK_CABLES_MAX];
	size_t cable_count;
	int slurm;
	enum accel accel;
};

static int
parse_accel(const char *text, enum accel *ret, struct bu_err *err)
{
	static const char *const names[] = {"auto", "kvm", "tcg"};

	for (size_t i = 0; i < BU_LEN(names); i++)
		if (strcmp(text, names[i]) == 0) {
			*ret = (enum accel)i;
			return 0;
		}
	return bu_err_set(err, BU_ERR_USAGE, 0, "--accel '%s': give auto, kvm or tcg",
			  text);
}

/* "1:2*2": two cables between machines 1 and 2. */
static int
parse_cables(const char *text, struct up_opts *opts, struct bu_err *err)
{
	bu_autofree char *copy = bu_xstrdup(text);
	char *a = copy, *b = strchr(copy, ':'), *star = strchr(copy, '*');
	struct bu_rack_cable cable;
	int count = 1;

	if (!b || (star && star < b))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--cable '%s': give two machines and how many: 1:2*2",
				  text);
	*b++ = '\0';
	if (star)
		*star++ = '\0';
	if (bu_lab_parse_int("--cable", a, 1, BU_RACK_NODES_MAX, &cable.ends[0], err) !=
		    0 ||
	    bu_lab_parse_int("--cable", b, 1, BU_RACK_NODES_MAX, &cable.ends[1], err) !=
		    0 ||
	    (star && bu_lab_parse_int("--cable", star, 1, BU_RACK_CABLES_MAX, &count,
				      err) != 0))
		return -1;
	if (cable.ends[0] == cable.ends[1] ||
	    opts->cable_count + (size_t)count > BU_RACK_CABLES_MAX)
		return bu_err_set(
			err, BU_ERR_USAGE, 0,
			"--cable '%s': a cable has two different machines; %d "
			"cables at most",
			text, BU_RACK_CABLES_MAX);
	while (count-- > 0)
		opts->cables[opts->cable_count++] = cable;
	return 0;
}

static int
parse_option(int c, struct up_opts *opts, struct bu_err *err)
{
	switch (c) {
	case 'd':
		opts->dir = optarg;
		return 0;
	case 'n':
		return bu_lab_parse_int("--nodes", optarg, 1, BU_RACK_NODES_MAX,
					&opts->nodes, err);
	case 'u':
		return bu_lab_parse_list("--uefi", optarg, BU_RACK_NODES_MAX,
					 &opts->uefi_mask, err);
	case 'm':
		return bu_lab_parse_int("--memory", optarg, BU_RACK_MEMORY_MIN_MIB,
					1024 * 1024, &opts->memory_mib, err);
	case 'f':
		return bu_lab_parse_int("--fabric-rate", optarg, 1, 100000,
					&opts->fabric_rate_mbit, err);
	case 'N':
		return bu_lab_parse_int("--nics", optarg, BU_RACK_NICS_MIN,
					BU_RACK_NICS_MAX, &opts->nics, err);
	case 'c':
		return parse_cables(optarg, opts, err);
	case 'a':
		return parse_accel(optarg, &opts->accel, err);
	case 'S':
		opts->slurm = 0;
		return 0;
	default:
		return bu_err_set(err, BU_ERR_USAGE, 0, "see bringup-lab --help");
	}
}

static int
parse_up(int argc, char **argv, struct up_opts *opts, struct bu_err *err)
{
	static const struct option options[] = {
		{"dir", required_argument, NULL, 'd'},
		{"nodes", required_argument, NULL, 'n'},
		{"uefi", required_argument, NULL, 'u'},
		{"memory", required_argument, NULL, 'm'},
		{"fabric-rate", required_argument, NULL, 'f'},
		{"nics", required_argument, NULL, 'N'},
		{"cable", required_argument, NULL, 'c'},
		{"accel", required_argument, NULL, 'a'},
		{"no-slurm", no_argument, NULL, 'S'},
		{0},
	};
	int c;

	*opts = (struct up_opts){.nodes = 2,
				 .memory_mib = 512,
				 .fabric_rate_mbit = 20,
				 .nics = BU_RACK_NICS_MIN,
				 .slurm = 1};
	/* "+": what follows `--` or the first word belongs to the command. */
	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1)
		if (parse_option(c, opts, err) != 0)
			return -1;
	for (int n = opts->nodes + 1; n <= BU_RACK_NODES_MAX; n++)
		if ((opts->uefi_mask >> n) & 1)
			return bu_err_set(
				err, BU_ERR_USAGE, 0,
				"--uefi names node %d, but there are %d; raise "
				"--nodes",
				n, opts->nodes);
	for (size_t i = 0; i < opts->cable_count; i++)
		for (size_t end = 0; end < 2; end++)
			if (opts->cables[i].ends[end] > opts->nodes)
				return bu_err_set(err, BU_ERR_USAGE, 0,
						  "--cable names node %d, but there "
						  "are %d; raise --nodes",
						  opts->cables[i].ends[end],
						  opts->nodes);
	return 0;
}

static int
set_cache(struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *cache = bu_cache_dir(err);

	if (!cache)
		return -1;
	snprintf(rack->cache, sizeof(rack->cache), "%s", cache);
	return 0;
}

static void
choose_accel(struct bu_rack *rack, enum accel wish)
{
	if (wish == ACCEL_AUTO) {
		rack->kvm =
			bu_kvm_probe(rack->accel_reason, sizeof(rack->accel_reason));
		return;
	}
	rack->kvm = wish == ACCEL_KVM;
	snprintf(rack->accel_reason, sizeof(rack->accel_reason), "asked for");
}

/* Ends the keeper, if one lives, and removes what it leaves; also what a crash left
 * half-made. */
static int
remove_rack(struct bu_rack *rack, struct bu_err *err)
{
	if (access(rack->dir, F_OK) != 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no rack in '%s'",
				  rack->dir);
	if (!bu_rack_is_ours(rack))
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"'%s' is not a rack (no marker file, or not owned by this "
			"user); it is left as it is",
			rack->dir);
	if (bu_rack_load_keeper(rack, err) != 0 || bu_keeper_end(rack, err) != 0)
		return -1;
	return bu_remove_tree(rack->dir, err);
}

static int
claim_dir(struct bu_rack *rack, struct bu_err *err)
{
	struct bu_rack old = *rack;

	if (access(rack->dir, F_OK) == 0) {
		if (bu_rack_load_keeper(&old, NULL) == 0 && bu_rack_keeper_alive(&old))
			return bu_err_set(
				err, BU_ERR_STATE, 0,
				"a rack is up in '%s'; end it first: bringup-lab "
				"down --dir %s",
				rack->dir, rack->dir);
		if (remove_rack(&old, err) != 0)
			return -1;
		printf("removed the dead rack that was in %s\n", rack->dir);
	}
	return bu_rack_create_dir(rack, err);
}

/* The slow half, with the keeper there. */
static int
fill_rack(struct bu_rack *rack, enum accel wish, int lifeline, struct bu_err *err)
{
	struct bu_domains *domains;
	int rc;

	/* Before "go": a rack that was released is always known by its rack.json. */
	if (bu_rack_save(rack, err) != 0 || bu_prepare_files(rack, err) != 0 ||
	    bu_keeper_go(rack, lifeline, err) != 0)
		return -1;
	domains = bu_domains_open(rack, err);
	if (!domains)
		return bu_rack_add_log_tail(rack, "libvirtd", err);
	if (rack->kvm && wish == ACCEL_AUTO && !bu_domains_kvm(domains)) {
		rack->kvm = 0;
		snprintf(rack->accel_reason, sizeof(rack->accel_reason),
			 "a test machine ran on /dev/kvm but libvirt refuses this "
			 "processor for it");
	}
	rc = bu_domains_define(domains, err);
	bu_domains_close(domains);
	return rc == 0 ? bu_rack_save(rack, err) : -1;
}

static void
print_rack(const struct bu_rack *rack)
{
	printf("rack %s is up: %zu nodes, %s\n", rack->dir, rack->node_count,
	       rack->kvm ? "KVM" : "emulated (TCG)");
	printf("  because %s\n", rack->accel_reason);
	for (size_t i = 0; i < rack->node_count; i++)
		printf("  %s  %s  %s  console %s/console/%s.log\n", rack->nodes[i].name,
		       rack->nodes[i].uefi ? "UEFI" : "BIOS", rack->nodes[i].boot_mac,
		       rack->dir, rack->nodes[i].name);
	fflush(stdout);
}

/* Makes the rack; *ret_lifeline is what it dies with. */
static int
make_rack(const struct up_opts *opts, struct bu_rack *rack, int *ret_lifeline,
	  struct bu_err *err)
{
	int lifeline;

	memset(rack, 0, sizeof(*rack));
	if (bu_rack_locate(rack, opts->dir, err) != 0 || set_cache(rack, err) != 0)
		return -1;
	rack->slurm = opts->slurm;
	rack->memory_mib = opts->memory_mib;
	rack->fabric_rate_mbit = opts->fabric_rate_mbit;
	rack->nics = opts->nics;
	memcpy(rack->cables, opts->cables, sizeof(rack->cables));
	rack->cable_count = opts->cable_count;
	bu_rack_fill(rack, (size_t)opts->nodes, opts->uefi_mask);
	if (bu_prepare_check(rack, err) != 0)
		return -1;
	choose_accel(rack, opts->accel);
	/* The keeper's parent ends at once; this makes it a child that can be reaped.
	 */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (claim_dir(rack, err) != 0)
		return -1;
	if (bu_prepare_log_dir(rack, err) != 0 ||
	    bu_keeper_spawn(rack, &lifeline, err) != 0) {
		bu_ignore(bu_remove_tree(rack->dir, NULL));
		return -1;
	}
	if (fill_rack(rack, opts->accel, lifeline, err) != 0) {
		close(lifeline);
		/* One that hangs does not see that; then its directory stays. */
		if (bu_keeper_end(rack, NULL) != 0)
			return -1;
		bu_ignore(bu_remove_tree(rack->dir, NULL));
		return -1;
	}
	*ret_lifeline = lifeline;
	return 0;
}

int
bu_lab_up(int argc, char **argv)
{
	struct bu_err err = {0};
	struct up_opts opts;
	struct bu_rack rack;
	int lifeline;

	if (parse_up(argc, argv, &opts, &err) == 0 && optind < argc)
		bu_err_set(&err, BU_ERR_USAGE, 0, "unexpected '%s'", argv[optind]);
	if (err.kind || make_rack(&opts, &rack, &lifeline, &err) != 0 ||
	    bu_keeper_detach(lifeline, &err) != 0)
		return bu_lab_fail("up", &err);
	close(lifeline);
	print_rack(&rack);
	return 0;
}

int
bu_lab_down(int argc, char **argv)
{
	struct bu_err err = {0};
	struct bu_rack rack = {0};
	const char *dir;
	int alive;

	if (bu_lab_parse_dir("down", argc, argv, &dir, &err) != 0 ||
	    bu_rack_locate(&rack, dir, &err) != 0)
		return bu_lab_fail("down", &err);
	if (access(rack.dir, F_OK) != 0) {
		printf("no rack in %s: nothing to do\n", rack.dir);
		return 0;
	}
	bu_ignore(bu_rack_load_keeper(&rack, NULL));
	alive = bu_rack_keeper_alive(&rack);
	if (remove_rack(&rack, &err) != 0)
		return bu_lab_fail("down", &err);
	printf("rack %s: %s, directory removed\n", rack.dir,
	       alive ? "keeper and all in it ended" : "no keeper was alive");
	return 0;
}

static pid_t
start_command(char **argv, const struct bu_rack *rack, const sigset_t *mask)
{
	pid_t self = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != self)
		_exit(127);
	setenv("BRINGUP_RACK", rack->dir, 1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "bringup-lab run: '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Passes signals on; a command that stays ten seconds after one is killed. */
static int
wait_command(pid_t pid, const sigset_t *set)
{
	struct timespec timeout = {.tv_sec = END_GRACE_S};
	int asked = 0, status;
	siginfo_t info;

	if (pid < 0) {
		fprintf(stderr, "bringup-lab run: fork: %s\n", strerror(errno));
		return 127;
	}
	for (;;) {
		int signo;

		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status)
						 : 128 + WTERMSIG(status);
		signo = asked ? sigtimedwait(set, &info, &timeout)
			      : sigwaitinfo(set, &info);
		if (signo < 0 && errno == EAGAIN) {
			kill(pid, SIGKILL);
		} else if (signo > 0 && signo != SIGCHLD) {
			asked = 1;
			if (info.si_code != SI_KERNEL) /* a terminal sends to all */
				kill(pid, signo);
		}
	}
}

int
bu_lab_run(int argc, char **argv)
{
	struct bu_err err = {0};
	struct up_opts opts;
	struct bu_rack rack;
	sigset_t set, mask;
	int lifeline, code;

	if (parse_up(argc, argv, &opts, &err) == 0 && optind >= argc)
		bu_err_set(&err, BU_ERR_USAGE, 0, "give a command after --");
	if (err.kind || make_rack(&opts, &rack, &lifeline, &err) != 0)
		return bu_lab_fail("run", &err);
	print_rack(&rack);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &mask);
	code = wait_command(start_command(argv + optind, &rack, &mask), &set);
	if (remove_rack(&rack, &err) != 0)
		return bu_lab_fail("run", &err);
	return code;
}
