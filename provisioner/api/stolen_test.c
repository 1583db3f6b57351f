/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot network: a bridge of ours with two hosts on it, each in a network namespace
 * of its own. One is the machine of node001, the other has heard its token.
 */
#include <arpa/inet.h>
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
	ck_assert_int_eq(node->live.refusal->code, BU_REASON_NONE);
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
	before = rig_why(&net.site.rig, rig_node(&net.site.rig, 1));
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

/* The network of the nodes is ours, and another one is behind a host of it. */
static pid_t
plug_in_router(void)
{
	pid_t router = plug_in(66, "52:54:00:66:66:66");
	bu_autofree char *text = bu_xasprintf(
		"set -e; nsenter -t %d -n sh -ec 'ip link set lo up; ip addr add "
		"192.0.2.9/32 dev lo; ip route change 10.99.0.0/24 dev n66 src "
		"192.0.2.9'; ip route add 192.0.2.0/24 via 10.99.0.66",
		(int)router);

	in_shell(text);
	return router;
}

static int
is_claimed(struct net *net, int number, const char *by)
{
	const struct bu_condition *claimed;

	rig_pass(&net->site.rig, 2000);
	claimed = &rig_node(&net->site.rig, number)
			   ->conditions[BU_CONDITION_CLAIMED_BY_OTHER];
	return claimed->on && strcmp(rig_sentence(claimed->detail), by) == 0;
}

START_TEST(a_host_behind_a_router_gets_no_token_of_an_attached_network)
{
	static const char path[] = "/boot/script/52-54-00-77-00-01";
	bu_autofree char *asked = NULL, *shown = NULL, *told = NULL, *cert = NULL;
	struct net net;
	struct bu_node *node;
	pid_t router, machine;
	int yes;

	open_net(&net);
	in_shell("ip addr add 10.77.0.1/24 dev wire");
	router = plug_in_router();
	machine = plug_in(11, "52:54:00:77:00:01");
	rig_start(&net.site.rig, 1);
	node = rig_node(&net.site.rig, 1);
	asked = ask(&net, router, net.boot, path, NULL, &yes);
	rig_text_has(asked, "this is not its machine");
	ck_assert_ptr_null(strstr(asked, "bringup.token"));
	rig_why_says(&net.site.rig, node, "192.0.2.9 (not on its wire)");
	ck_assert(is_claimed(&net, 1, "192.0.2.9 (not on its wire)"));
	shown = enroll(&net, router, 1, &yes);
	ck_assert_int_eq(yes, 0);
	rig_text_has(shown, "was not seen on the wire of its boot network");
	ck_assert_str_eq(node->machine, "");
	told = discover(&net, router, "52:54:00:77:00:01");
	ck_assert_str_eq(told, "");
	cert = enroll(&net, machine, 0, &yes);
	ck_assert_msg(yes, "%s", cert);
	for (int i = 0; i < 16; i++)
		rig_pass(&net.site.rig, 60000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_CLAIMED_BY_OTHER].on, 0);
	unplug(router);
	unplug(machine);
	site_end(&net.site);
}
END_TEST

/* Behind a relay nothing can be seen of it, and it boots. */
START_TEST(a_machine_behind_a_relay_boots_where_its_network_is_not_ours)
{
	static const char path[] = "/boot/script/52-54-00-77-00-01";
	bu_autofree char *asked = NULL, *cert = NULL;
	struct net net;
	pid_t router;
	int yes;

	open_net(&net);
	router = plug_in_router();
	rig_start(&net.site.rig, 1);
	asked = ask(&net, router, net.boot, path, NULL, &yes);
	rig_text_has(asked, "bringup.token=");
	cert = enroll(&net, router, 0, &yes);
	ck_assert_msg(yes, "%s", cert);
	unplug(router);
	site_end(&net.site);
}
END_TEST

/* In the host's namespace: connects, and asks later. */
static void
say_later(const struct net *net, const char *path, const char *file)
{
	bu_autofree char *text = bu_xasprintf("GET %s HTTP/1.1\r\nHost: " ADDRESS
					      "\r\nConnection: close\r\n\r\n",
					      path);
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)net->boot)};
	const struct timeval patience = {5, 0};
	char answer[65536];
	size_t size = 0;
	ssize_t got;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, ADDRESS, &at.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		_exit(3);
	usleep(400 * 1000);
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		_exit(3);
	while (size < sizeof(answer) &&
	       (got = recv(fd, answer + size, sizeof(answer) - size, 0)) > 0)
		size += (size_t)got;
	_exit(bu_file_write(file, answer, size, 0600, NULL) != 0);
}

/* Its ARP says for a moment that its address is at the machine's card. */
START_TEST(who_lies_in_arp_for_a_moment_gets_no_token)
{
	bu_autofree char *file = NULL, *ns = NULL, *said = NULL;
	struct net net;
	pid_t thief, pid;
	int64_t from_ms;
	int status = 0, lies = 0;

	open_net(&net);
	thief = plug_in(66, "52:54:00:66:66:66");
	rig_start(&net.site.rig, 1);
	file = bu_xasprintf("%s/said", net.site.rig.dir);
	ns = bu_xasprintf("/proc/%d/ns/net", (int)thief);
	from_ms = bu_mono_ms(bu_clock_system());
	pid = fork();
	if (pid == 0) {
		FILE *of = fopen(ns, "re");

		if (!of || setns(fileno(of), CLONE_NEWNET) != 0)
			_exit(2);
		say_later(&net, "/boot/script/52-54-00-77-00-01", file);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int64_t passed_ms = bu_mono_ms(bu_clock_system()) - from_ms;

		rig_pass(&net.site.rig, 1);
		bu_loop_step(net.site.rig.loop, 5);
		if (lies == 0 && passed_ms > 200) {
			in_shell("ip neigh replace 10.99.0.66 lladdr 52:54:00:77:00:01 "
				 "dev wire nud permanent");
			lies = 1;
		} else if (lies == 1 && passed_ms > 800) {
			in_shell("ip neigh del 10.99.0.66 dev wire");
			lies = 2;
		}
	}
	ck_assert_int_eq(status, 0);
	said = bu_file_read(file, 0, NULL, NULL);
	rig_text_has(said, "this is not its machine");
	ck_assert_ptr_null(strstr(said, "bringup.token"));
	ck_assert(is_claimed(&net, 1, "10.99.0.66 (MAC 52:54:00:66:66:66)"));
	unplug(thief);
	site_end(&net.site);
}
END_TEST

RIG_UNIT("stolen", a_stolen_token_gives_no_certificate,
	 a_card_that_answers_for_several_hosts_is_named,
	 a_host_is_told_by_its_serial_number_and_any_card,
	 a_host_behind_a_router_gets_no_token_of_an_attached_network,
	 a_machine_behind_a_relay_boots_where_its_network_is_not_ours,
	 who_lies_in_arp_for_a_moment_gets_no_token)
