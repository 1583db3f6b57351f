/* SPDX-License-Identifier: Apache-2.0 */
/* The libvirt driver over libvirt's own machines of paper (test:///FILE). */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/power/driver.h"
#include "tests/support/unit.h"

#define UUID "5f0c6d0e-1122-4344-8566-000000000001"

static const char node_xml[] =
	"<node>\n<domain type='test'>\n<name>node001</name>\n<uuid>" UUID "</uuid>\n"
	"<memory>65536</memory><currentMemory>65536</currentMemory><vcpu>1</vcpu>\n"
	"<sysinfo type='fwcfg'><entry name='opt/x'>n</entry></sysinfo>\n"
	"<sysinfo type='smbios'><system><entry name='manufacturer'>bringup</entry>"
	"<entry name='serial'>LAB-001</entry></system></sysinfo>\n"
	"<os><type>hvm</type><boot dev='hd'/></os>\n<devices>\n"
	"<interface type='ethernet'><mac address='52:54:00:77:00:01'/></interface>\n"
	"<interface type='ethernet'><mac address='52:54:00:78:00:01'/></interface>\n"
	"<serial type='file'><source path='%s/console'/><target port='0'/></serial>\n"
	"</devices></domain>\n<pool type='dir'><name>p</name><target><path>/tmp</path>"
	"</target></pool></node>\n";

static struct {
	char dir[64], bmc[120];
	void *self;
	int answers;
	struct bu_power_answer answer;
	struct bu_err err;
} site;

static void
begin(void)
{
	bu_autofree char *path = NULL, *connection = NULL, *xml = NULL;

	memset(&site, 0, sizeof(site));
	strcpy(site.dir, "/tmp/bringup-libvirt-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site.dir));
	path = bu_xasprintf("%s/node.xml", site.dir);
	xml = bu_xasprintf(node_xml, site.dir);
	ck_assert_int_eq(bu_file_write(path, xml, strlen(xml), 0600, NULL), 0);
	snprintf(site.bmc, sizeof(site.bmc), "test://%s#node001", path);
	connection = bu_power_libvirt.connection(site.bmc, NULL);
	site.self = bu_power_libvirt.open(NULL, connection, NULL);
}

static void
finish(void)
{
	bu_power_libvirt.close(site.self);
	ck_assert_int_eq(bu_remove_tree(site.dir, NULL), 0);
}

static void
on_answer(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	site.answers++;
	ck_assert((answer != NULL) != (err != NULL));
	if (answer)
		site.answer = *answer;
	site.err = err ? *err : (struct bu_err){0};
}

/* It has ended when start() returns. */
static int
ask(enum bu_power_op op, enum bu_boot_first first, const char *bmc)
{
	const struct bu_power_request request = {
		.op = op, .first = first, .target.bmc = bmc};
	int answers = site.answers;

	ck_assert_ptr_null(
		bu_power_libvirt.start(site.self, &request, on_answer, NULL));
	ck_assert_int_eq(site.answers, answers + 1);
	return site.err.kind == BU_ERR_NONE ? 0 : -1;
}

START_TEST(a_domain_says_which_machine_it_is)
{
	const struct bu_machine *machine = &site.answer.machine;

	begin();
	ck_assert_msg(ask(BU_POWER_IDENTITY, 0, site.bmc) == 0, "%s", site.err.text);
	ck_assert_str_eq(machine->uuid, UUID);
	ck_assert_str_eq(machine->serial, "LAB-001");
	ck_assert_uint_eq(machine->macs_count, 2);
	ck_assert_str_eq(machine->macs[0], "52:54:00:77:00:01");
	ck_assert_str_eq(machine->macs[1], "52:54:00:78:00:01");
	finish();
}
END_TEST

START_TEST(a_domain_is_switched_and_its_order_changed)
{
	begin();
	ck_assert_int_eq(ask(BU_POWER_STATUS, 0, site.bmc), 0);
	ck_assert_int_eq(site.answer.state, BU_POWER_ON);
	/* what is there already is no failure */
	ck_assert_int_eq(ask(BU_POWER_SWITCH_ON, 0, site.bmc), 0);
	ck_assert_int_eq(ask(BU_POWER_SWITCH_OFF, 0, site.bmc), 0);
	ck_assert_int_eq(ask(BU_POWER_SWITCH_OFF, 0, site.bmc), 0);
	ck_assert_int_eq(ask(BU_POWER_STATUS, 0, site.bmc), 0);
	ck_assert_int_eq(site.answer.state, BU_POWER_OFF);
	ck_assert_msg(ask(BU_POWER_BOOT_FIRST, BU_BOOT_NETWORK, site.bmc) == 0, "%s",
		      site.err.text);
	ck_assert_int_eq(ask(BU_POWER_SWITCH_ON, 0, site.bmc), 0);
	ck_assert_int_eq(ask(BU_POWER_STATUS, 0, site.bmc), 0);
	ck_assert_int_eq(site.answer.state, BU_POWER_ON);
	/* still the same machine */
	ck_assert_int_eq(ask(BU_POWER_IDENTITY, 0, site.bmc), 0);
	ck_assert_str_eq(site.answer.machine.serial, "LAB-001");
	finish();
}
END_TEST

/* And the connection is made anew for the next one. */
START_TEST(a_domain_that_is_not_there_is_the_bmcs_error)
{
	bu_autofree char *other = NULL;

	begin();
	other = bu_xasprintf("test://%s/node.xml#nobody", site.dir);
	ck_assert_int_eq(ask(BU_POWER_STATUS, 0, other), -1);
	ck_assert_int_eq(site.err.kind, BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(site.err.text, "#nobody"));
	ck_assert_int_eq(ask(BU_POWER_STATUS, 0, site.bmc), 0);
	finish();
}
END_TEST

/* --- the console, in a process of its own --- */

static pid_t
start_console(int *ret_fd)
{
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execl(BU_BUILDDIR "/bringup-power", "bringup-power", "--console",
		      site.bmc, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static void
append(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

/* What it says, with this in it; the machine says `said` until then, NULL = nothing. */
static void
console_says(int fd, const char *path, const char *said, const char *text)
{
	char heard[4096] = "";
	size_t size = 0;

	for (int i = 0; i < 100 && !strstr(heard, text); i++) {
		struct pollfd at = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (said)
			append(path, said);
		if (poll(&at, 1, 100) <= 0)
			continue;
		got = read(fd, heard + size, sizeof(heard) - 1 - size);
		ck_assert_int_gt(got, 0);
		size += (size_t)got;
	}
	ck_assert_msg(strstr(heard, text) != NULL, "no '%s' in '%s'", text, heard);
	ck_assert_ptr_null(strstr(heard, "old"));
}

/* virtlogd renames it when it is full. */
START_TEST(a_console_goes_on_in_the_next_file)
{
	bu_autofree char *path = NULL, *full = NULL;
	pid_t pid;
	int fd;

	begin();
	path = bu_xasprintf("%s/console", site.dir);
	full = bu_xasprintf("%s/console.0", site.dir);
	append(path, "old\n");
	pid = start_console(&fd);
	console_says(fd, path, "first\n", "first");
	ck_assert_int_eq(rename(path, full), 0);
	append(path, "second\n");
	console_says(fd, path, NULL, "second\n");
	append(path, "third\n");
	console_says(fd, path, NULL, "third\n");
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(fd);
	finish();
}
END_TEST

/* One that is none, and would not even open: its last words are for whoever asks why
 * there is no console. */
START_TEST(a_console_is_a_regular_file)
{
	bu_autofree char *path = NULL, *link = NULL;
	int fd, status;

	begin();
	path = bu_xasprintf("%s/console", site.dir);
	link = bu_xasprintf("%s/elsewhere", site.dir);
	for (int linked = 0; linked < 2; linked++) {
		char words[512];
		ssize_t got;
		pid_t pid;

		unlink(path);
		append(link, "");
		ck_assert_int_eq(linked ? symlink(link, path) : mkfifo(path, 0600), 0);
		pid = start_console(&fd);
		for (int i = 0; i < 100 && waitpid(pid, &status, WNOHANG) == 0; i++)
			poll(NULL, 0, 50);
		ck_assert_int_eq(kill(pid, 0), -1);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
		got = read(fd, words, sizeof(words) - 1);
		ck_assert_int_gt(got, 0);
		words[got] = '\0';
		ck_assert_msg(strstr(words, linked ? "console: Too many levels"
						   : "console is not a regular file"),
			      "%s", words);
		close(fd);
	}
	finish();
}
END_TEST

/* Its console's path, read here, would be a file of this machine. */
START_TEST(a_hypervisor_with_a_host_is_another_machine)
{
	static const struct {
		const char *uri;
		int is_remote;
	} rows[] = {
		{"qemu:///system", 0},
		{"qemu:///session", 0},
		{"test:///default", 0},
		{"qemu+unix:///system?socket=/run/other/libvirt-sock", 0},
		{"qemu://kvm1/system", 1},
		{"qemu+ssh://root@kvm1.example.org/system", 1},
		{"qemu+tls://[fd00::5]:16514/system", 1},
		{"qemu://kvm 1/system", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_libvirt_is_remote(rows[i].uri) == rows[i].is_remote,
			      "%s", rows[i].uri);
}
END_TEST

BU_UNIT("libvirt", a_domain_says_which_machine_it_is,
	a_domain_is_switched_and_its_order_changed,
	a_domain_that_is_not_there_is_the_bmcs_error,
	a_console_goes_on_in_the_next_file, a_console_is_a_regular_file,
	a_hypervisor_with_a_host_is_another_machine)
