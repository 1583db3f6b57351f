/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot network: a bridge of ours with two hosts on it, each in a network namespace
 * of its own. One is the machine of node001, the other has heard its token. And what is
 * known of a boot by what its machine asks for.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "model/hello.h"
#include "provisioner/node/proof.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define ADDRESS "10.99.0.1"

struct net {
	struct site site;
	int boot, agent; /* ports on ADDRESS */
	char ca[96];     /* file */
};

static void
in_shell(const char *text)
{
	ck_assert_msg(system(text) == 0, "%s", text);
}

/* A host on the bridge; its process sleeps in its namespace. */
static pid_t
plug_in(int number, const char *mac)
{
	int fds[2];
	char text[512], byte = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) == 0 && write(fds[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	snprintf(
		text, sizeof(text),
		"set -e; ip link add h%d type veth peer name n%d; ip link set h%d "
		"master wire up; ip link set n%d netns %d; nsenter -t %d -n sh -ec 'ip "
		"link set n%d address %s; ip addr add 10.99.0.%d/24 dev n%d; ip link "
		"set n%d up'",
		number, number, number, number, (int)pid, (int)pid, number, mac, number,
		number, number);
	in_shell(text);
	return pid;
}

static void
unplug(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int
listen_on(struct net *net, enum bu_listener kind, const struct bu_server_tls *tls)
{
	int fd = bu_listen_tcp(ADDRESS ":0", NULL), port = talk_port(fd);

	ck_assert_int_eq(bu_server_listen(net->site.api.server, kind, fd, tls, NULL),
			 0);
	return port;
}

static void
open_net(struct net *net)
{
	const struct bu_trust *trust;
	const char *ca;

	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	in_shell("set -e; ip link set lo up; ip link add wire type bridge; ip addr add "
		 "10.99.0.1/24 dev wire; ip link set wire up");
	site_begin(&net->site, 2);
	trust = net->site.rig.trust;
	ca = bu_trust_ca(trust);
	snprintf(net->ca, sizeof(net->ca), "%s/ca.pem", net->site.rig.dir);
	ck_assert_int_eq(bu_file_write(net->ca, ca, strlen(ca), 0600, NULL), 0);
	net->boot = listen_on(net, BU_LISTEN_BOOT, NULL);
	net->agent = listen_on(net, BU_LISTEN_AGENT,
			       &(struct bu_server_tls){bu_trust_server_cert(trust),
						       bu_trust_server_key(trust), ca});
}

/* In the host's namespace: its exit status is 0 when the appliance said yes; what it
 * said is in the file. */
static void
say(const struct net *net, int port, const char *path, json_t *body, const char *file)
{
	bu_autofree char *url =
		bu_xasprintf("%s://" ADDRESS ":%d", body ? "https" : "http", port);
	struct bu_http_opts opts = {.base_url = url, .ca_file = body ? net->ca : NULL};
	struct bu_http *http = bu_http_create(&opts);
	bu_autofree char *text = NULL;
	json_t *reply = NULL;
	struct bu_err err = {0};
	size_t size = 0;
	int rc;

	if (body) {
		rc = bu_http_json(http,
				  &(struct bu_http_call){"POST", path, body, 20000},
				  &reply, &err);
		text = bu_xstrdup(rc ? err.text
				     : bu_json_str(reply, "cert",
						   bu_json_str(reply, "node", "")));
	} else {
		text = bu_http_get(http, path, 1 << 20, 20000, &size, &err);
		rc = text ? 0 : -1;
	}
	if (!text)
		text = bu_xstrdup(err.text);
	if (bu_file_write(file, text, strlen(text), 0600, NULL) != 0)
		_exit(3);
	_exit(rc != 0);
}

/* What the host at the namespace of pid is told; owned. */
static char *
ask(struct net *net, pid_t host, int port, const char *path, json_t *body, int *ret_yes)
{
	bu_autofree char *file = bu_xasprintf("%s/said", net->site.rig.dir);
	bu_autofree char *ns = bu_xasprintf("/proc/%d/ns/net", (int)host);
	FILE *of;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		of = fopen(ns, "re");
		if (!of || setns(fileno(of), CLONE_NEWNET) != 0)
			_exit(2);
		say(net, port, path, body, file);
	}
	for (int i = 0; i < 4000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
		rig_pass(&net->site.rig, 1);
		bu_loop_step(net->site.rig.loop, 5);
	}
	ck_assert_int_eq(WIFEXITED(status), 1);
	*ret_yes = WEXITSTATUS(status) == 0;
	ck_assert_int_le(WEXITSTATUS(status), 1);
	return bu_file_read(file, 0, NULL, NULL);
}

/* Shows the token with what node001's machine says of itself, word for word. */
static char *
enroll(struct net *net, pid_t host, int request, int *ret_yes)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct bu_node *node = rig_node(&net->site.rig, 1);
	bu_autojson json_t *listed = bu_inventory_to_json(inventory);
	bu_autojson json_t *body = NULL;
	char token[BU_DIGEST_SIZE];

	bu_trust_token(net->site.rig.trust, node->step.id, node->step.attempt, token);
	body = bu_record_to_json(
		bu_enroll_fields,
		&(struct bu_enroll){"node001", token, rig_request(request), listed});
	return ask(net, host, net->agent, "/v1/agent/enroll", body, ret_yes);
}

START_TEST(a_stolen_token_gives_no_certificate)
{
	static const char path[] = "/boot/script/52-54-00-77-00-01";
	struct net net;
	bu_autofree char *asked = NULL, *shown = NULL, *own = NULL, *cert = NULL;
	struct bu_node *node;
	pid_t machine, thief;
	int yes;

	open_net(&net);
	machine = plug_in(11, "52:54:00:77:00:01");
	thief = plug_in(66, "52:54:00:66:66:66");
	rig_start(&net.site.rig, 1);
	node = rig_node(&net.site.rig, 1);

	/* It asks in the machine's name. */
	asked = ask(&net, thief, net.boot, path, NULL, &yes);
	rig_text_has(asked, "this is not its machine");
	ck_assert_ptr_null(strstr(asked, "bringup.token"));
	rig_why_says(&net.site.rig, node, "10.99.0.66 (MAC 52:54:00:66:66:66)");
	/* It has heard the token on the wire, before the machine shows it. */
	shown = enroll(&net, thief, 1, &yes);
	ck_assert_int_eq(yes, 0);
	rig_text_has(shown, "nothing was signed for it");
	ck_assert_str_eq(node->machine, "");
	ck_assert_str_eq(node->admitted_step, "");
	rig_why_says(&net.site.rig, node,
		     "a host at 10.99.0.66 with MAC 52:54:00:66:66:66 showed the token "
		     "of node001");
	/* That does not keep the machine from its boot. */
	own = ask(&net, machine, net.boot, path, NULL, &yes);
	rig_text_has(own, "bringup.token=");
	cert = enroll(&net, machine, 0, &yes);
	ck_assert_msg(yes, "%s", cert);
	rig_text_has(cert, "BEGIN CERTIFICATE");
	rig_pass(&net.site.rig, 1);
	ck_assert_str_ne(node->machine, "");
	ck_assert_int_eq(node->live.refusal.code, BU_REASON_NONE);
	unplug(machine);
	unplug(thief);
	site_end(&net.site);
}
END_TEST

/* As behind a switch that does proxy ARP: nobody is known by its card there. */
START_TEST(a_card_that_answers_for_several_hosts_is_named)
{
	struct net net;
	bu_autofree char *second = NULL, *before = NULL, *text = NULL;
	pid_t host;
	int yes;

	open_net(&net);
	host = plug_in(66, "52:54:00:66:66:66");
	for (int i = 1; i <= 2; i++)
		rig_start(&net.site.rig, i);
	for (int i = 0; i < 2; i++)
		free(ask(&net, host, net.boot, "/boot/script/52-54-00-77-00-01", NULL,
			 &yes));
	before = bu_reconcile_why(net.site.rig.rec, rig_node(&net.site.rig, 1));
	rig_text_has(before, "10.99.0.66 (MAC 52:54:00:66:66:66)");
	ck_assert_ptr_null(strstr(before, "proxy ARP"));
	text = bu_xasprintf("nsenter -t %d -n sh -ec 'ip addr add 10.99.0.67/24 dev "
			    "n66; ip route change 10.99.0.0/24 dev n66 src 10.99.0.67'",
			    (int)host);
	in_shell(text);
	second =
		ask(&net, host, net.boot, "/boot/script/52-54-00-77-00-02", NULL, &yes);
	rig_text_has(second, "this is not its machine");
	ck_assert_ptr_null(strstr(second, "bringup.token"));
	rig_why_says(&net.site.rig, rig_node(&net.site.rig, 1),
		     "the card with MAC 52:54:00:66:66:66 answers for 10.99.0.66 and "
		     "10.99.0.67 in the boot network: if it is a router or a switch, "
		     "switch proxy ARP off there");
	rig_why_says(&net.site.rig, rig_node(&net.site.rig, 2), "switch proxy ARP off");
	unplug(host);
	site_end(&net.site);
}
END_TEST

/* Whose machine the host is, that tells the serial number of node001; "" = nobody's. */
static char *
discover(struct net *net, pid_t host, const char *mac)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *body = NULL;
	int yes;

	/* Its boot NIC is on no PCI bus. */
	strcpy(inventory->nics[0].mac, mac);
	inventory->nics[0].pci[0] = '\0';
	body = json_pack("{s:o}", "inventory", bu_inventory_to_json(inventory));
	return ask(net, host, net->agent, "/v1/agent/discover", body, &yes);
}

START_TEST(a_host_is_told_by_its_serial_number_and_any_card)
{
	static const char usb[] = "52:54:00:99:00:09";
	bu_autofree char *own = NULL, *used = NULL;
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(2, "b");
	struct net net;
	struct bu_node *node;
	pid_t machine;

	open_net(&net);
	machine = plug_in(11, usb);
	rig_start(&net.site.rig, 1);
	own = discover(&net, machine, usb);
	ck_assert_str_eq(own, "node001");
	/* The same from a card of a node in use. */
	rig_start(&net.site.rig, 2);
	node = rig_node(&net.site.rig, 2);
	strcpy(inventory->nics[1].mac, usb);
	ck_assert_int_eq(
		rig_admit(&net.site.rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(&net.site.rig, 1);
	used = discover(&net, machine, usb);
	ck_assert_str_eq(used, "");
	unplug(machine);
	site_end(&net.site);
}
END_TEST

static void
fetch(struct site *site, const char *path)
{
	free(site_text(site, site->boot, path, 200));
}

static void
waits(const struct site *site, const char *words)
{
	struct bu_node *node = rig_node(&site->rig, 1);

	rig_reason_is(&node->live.says, NOT_CALLED);
	rig_reason_has(&node->live.says, words);
	rig_why_says(&site->rig, node, words);
}

/* Each link of it, where it ended, and what a restart leaves of it. */
START_TEST(a_boot_is_proven_by_what_its_machine_asks_for)
{
	struct site site;
	struct bu_node *node;
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");

	site_begin(&site, 1);
	rig_write(&site.rig, "ramdisk/vmlinuz", "k");
	rig_write(&site.rig, "ramdisk/agent.img", "r");
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	rig_pass(&site.rig, 1000);
	waits(&site, "its machine has not asked for its boot script");
	bu_proof_rival(site.rig.rec, "10.77.0.2");
	rig_pass(&site.rig, 1000);
	waits(&site, "another DHCP server (10.77.0.2) answers in the boot network");
	bu_proof_rival(site.rig.rec, "");
	/* Files alone are nobody's. */
	fetch(&site, "/boot/vmlinuz");
	waits(&site, "its machine has not asked for its boot script");
	fetch(&site, "/boot/script/52-54-00-77-00-01");
	waits(&site, "it has not asked for the kernel");
	rig_pass(&site.rig, 2000);
	fetch(&site, "/boot/vmlinuz");
	rig_pass(&site.rig, 38000);
	waits(&site, "it has not asked for the ramdisk");
	rig_why_says(&site.rig, node,
		     "asked for the kernel 38 s ago (at 127.0.0.1); there it ends");
	fetch(&site, "/boot/agent.img");
	waits(&site, "its agent has not called");
	/* It has begun again: what it had then, it has no more. */
	fetch(&site, "/boot/script/52-54-00-77-00-01");
	waits(&site, "it has not asked for the kernel");
	ck_assert_int_eq(rig_admit(&site.rig, node, rig_request(0), inventory, NULL),
			 0);
	rig_pass(&site.rig, 1000);
	waits(&site, "its agent has not said hello");
	/* Token and hello are in the log, the rest is said to be unknown. */
	site_restart(&site);
	rig_pass(&site.rig, 1000);
	node = rig_node(&site.rig, 1);
	waits(&site, "its agent has not said hello");
	rig_why_says(&site.rig, node, "before bringupd started is not known");
	ck_assert_int_eq(bu_reconcile_hello(site.rig.rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(&site.rig, node, BU_STATE_IMAGING);
	rig_pass(&site.rig, 1000);
	rig_reason_is(&node->live.says, NONE);
	rig_why_says(&site.rig, node, "its agent said hello");
	/* From its disk it boots without asking anybody. */
	rig_until_step(&site.rig, node, BU_ACTION_INSTALL, BU_STEP_OPEN);
	rig_install(&site.rig, 1);
	rig_pass(&site.rig, 1000);
	waits(&site, "it was started from its disk, and its agent has not called");
	site_end(&site);
}
END_TEST

/* Where it ended is in the reason of its ladder, too. */
START_TEST(who_is_late_says_where_its_boot_ended)
{
	struct site site;
	struct bu_node *node;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	fetch(&site, "/boot/script/52-54-00-77-00-01");
	for (int i = 0; i < 900 && !node->repeats; i++)
		rig_pass(&site.rig, 1000);
	ck_assert_int_eq(node->repeats, 1);
	rig_reason_has(&node->reason, "asked for its boot script at");
	rig_reason_has(&node->reason, "it has not asked for the kernel");
	site_end(&site);
}
END_TEST

static void
pass_seconds(struct site *site, int seconds)
{
	while (seconds--)
		rig_pass(&site->rig, 1000);
}

/* The power went in the middle of what it was at: longer than a minute before it would
 * be late. */
static void
lose_power(struct site *site, int seconds)
{
	struct bu_node *node = rig_node(&site->rig, 1);

	/* Anybody in the boot network can ask in its name. */
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, seconds);
	ck_assert_int_eq(node->repeats, 0);
	/* And an agent may be silent for its network alone. */
	site->rig.silent = 1 << 1;
	pass_seconds(site, seconds);
	ck_assert_int_eq(node->repeats, 0);
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, 40);
	/* its firmware has found nothing, and asks again */
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, 18);
	ck_assert_int_eq(node->repeats, 0);
	pass_seconds(site, 4);
	ck_assert_int_eq(node->repeats, 1);
	rig_reason_is(&node->reason, BEGAN_AGAIN);
	rig_until_step(&site->rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&site->rig, "boot network node001"), 2);
	/* This boot is ours: it gets the agent, and is late by its own deadline. */
	fetch(site, "/boot/script/52-54-00-77-00-01");
	pass_seconds(site, 120);
	ck_assert_int_eq(node->repeats, 1);
}

START_TEST(who_lost_its_power_in_the_middle_begins_again_within_minutes)
{
	struct site site;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	lose_power(&site, 300);
	rig_why_says(&site.rig, rig_node(&site.rig, 1),
		     "began to boot again in the middle of imaging");
	site_end(&site);
}
END_TEST

/* It has traded its token, and never said hello. */
START_TEST(who_lost_its_power_before_its_hello_does_so_too)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct site site;
	struct bu_node *node;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	ck_assert_int_eq(rig_admit(&site.rig, node, rig_request(0), inventory, NULL),
			 0);
	rig_pass(&site.rig, 1000);
	lose_power(&site, 90);
	site_end(&site);
}
END_TEST

RIG_UNIT("stolen", a_stolen_token_gives_no_certificate,
	 a_card_that_answers_for_several_hosts_is_named,
	 a_host_is_told_by_its_serial_number_and_any_card,
	 a_boot_is_proven_by_what_its_machine_asks_for,
	 who_is_late_says_where_its_boot_ended,
	 who_lost_its_power_in_the_middle_begins_again_within_minutes,
	 who_lost_its_power_before_its_hello_does_so_too)
