/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets a certificate from bringup and who does not, and what the log says of it. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/cluster/kubernetes/kube.h"
#include "tests/support/csr.h"
#include "tests/support/kube_world.h"
#include "tests/support/unit.h"

#define NODE1 "CN=system:node:node001,O=system:nodes"
#define CLIENT "kubernetes.io/kube-apiserver-client-kubelet"
#define SERVING "kubernetes.io/kubelet-serving"

static struct rig rig;
static const struct bu_cluster_driver *driver;
static struct bu_cluster *cluster;
static int ended;

static void
on_end(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	ck_assert_msg(!err, "%s", err ? err->text : "");
	ended++;
}

static void
pass(int64_t ms)
{
	for (; ms > 0; ms -= 250)
		rig_pass(&rig, 250);
}

/* The loop waits for no watch, and a line of one takes real time. */
static void
await_watch(const struct bu_kube_watch *watch, int64_t version)
{
	for (int i = 0; i < 20000 && atoll(watch->version) < version; i++) {
		rig_pass(&rig, 1);
		usleep(100);
	}
	ck_assert_int_ge(atoll(watch->version), version);
}

static struct bu_cluster_target
target_of(const char *node)
{
	return (struct bu_cluster_target){
		.member = {.name = node, .address = "10.77.0.11"},
		.deadline_ms = 20000};
}

static void
issue(const char *node)
{
	struct bu_cluster_target target = target_of(node);

	ended = 0;
	driver->issue(cluster, &target, on_end, NULL);
	pass(2000);
	ck_assert_int_eq(ended, 1);
}

/* What the log has from here on is read by log_has(). */
static void
begin(void)
{
	bu_autofree char *path = NULL;
	char handle[BU_CLUSTER_HANDLE_SIZE];
	int log;

	driver = bu_cluster_driver("kubernetes");
	rig_begin(&rig, 0);
	kube_begin(&rig, handle);
	cluster = driver->open(rig.loop, handle, NULL, NULL);
	pass(2000);
	path = bu_xasprintf("%s/log", rig.dir);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(log, 0);
	ck_assert_int_eq(dup2(log, STDERR_FILENO), STDERR_FILENO);
	close(log);
}

static void
end(void)
{
	driver->close(cluster);
	kube_end();
	rig_end(&rig);
}

static void
log_has(const char *part)
{
	bu_autofree char *log = rig_read(&rig, "log");

	rig_text_has(log, part);
}

/* --- requests --- */

struct asked {
	const char *user, *group, *signer,
		*usages; /* "digital signature,client auth" */
	struct csr_of of;
	const char *pem; /* in place of `of` */
};

static json_t *
words_of(const char *text)
{
	bu_autofree char *own = bu_xstrdup(text);
	json_t *ret = json_array();
	char *rest = own;

	for (char *word; (word = strtok_r(rest, ",", &rest));)
		json_array_append_new(ret, json_string(word));
	return ret;
}

static void
post(const char *name, const struct asked *asked)
{
	bu_autofree char *pem =
		asked->pem ? bu_xstrdup(asked->pem) : csr_make(&asked->of);
	bu_autofree char *text = bu_base64_encode(pem, strlen(pem));

	paper_kube_put(kube, PAPER_CSRS,
		       json_pack("{s:{s:s},s:{s:s,s:s,s:o,s:o,s:s}}", "metadata",
				 "name", name, "spec", "username", asked->user,
				 "signerName", asked->signer, "groups",
				 words_of(asked->group), "usages",
				 words_of(asked->usages), "request", text));
	await_watch(&cluster->csrs, kube->version);
	pass(1000);
}

/* "Approved", "Denied" or "", and the reason that is told to the cluster. */
static const char *
verdict(const char *name, const char **ret_why)
{
	json_t *object = paper_kube_get(kube, PAPER_CSRS, name);
	const json_t *one =
		json_array_get(bu_kube_at(object, "status", "conditions", NULL), 0);

	*ret_why = bu_json_str(one, "message", "");
	return bu_json_str(one, "type", "");
}

static void
is_judged(const struct asked *asked, const char *want, const char *why)
{
	static int number;
	bu_autofree char *name = bu_xasprintf("csr-%d", ++number);
	bu_autofree char *line = bu_xasprintf("request %s of %s", name, asked->user);
	const char *said, *got;

	post(name, asked);
	got = verdict(name, &said);
	ck_assert_msg(strcmp(got, want) == 0, "%s (%s): '%s' in place of '%s': %s",
		      asked->user, why, got, want, said);
	if (*want)
		rig_text_has(said, why);
	log_has(line);
	log_has(why);
}

static struct asked
first_request(const char *node)
{
	static char users[4][64];
	static int next;
	char id[BU_KUBE_ID_SIZE], *user = users[next++ % 4];

	bu_kube_token_id(node, id);
	snprintf(user, sizeof(users[0]), "system:bootstrap:%s", id);
	return (struct asked){.user = user,
			      .group = "system:bootstrappers," BU_KUBE_GROUP,
			      .signer = CLIENT,
			      .usages = "digital signature,client auth",
			      .of = {.subject = NODE1}};
}

static struct asked
later_request(const char *signer)
{
	int serves = strcmp(signer, SERVING) == 0;

	return (struct asked){.user = "system:node:node001",
			      .group = "system:nodes,system:authenticated",
			      .signer = signer,
			      .usages = serves ? "digital signature,server auth"
					       : "digital signature,client auth",
			      .of = {.subject = NODE1,
				     .names = {serves ? "DNS:node001" : NULL,
					       serves ? "IP:10.77.0.11" : NULL}}};
}

START_TEST(a_node_that_joins_gets_its_certificate)
{
	struct asked asked = first_request("node001");

	begin();
	issue("node001");
	is_judged(&asked, "Approved", "shows its token");
	asked.usages = "key encipherment,digital signature,client auth";
	asked.of.rsa_bits = 2048;
	issue("node001"); /* it joins once more, with another key */
	is_judged(&asked, "Approved", "shows its token");
	end();
}
END_TEST

/* Each row is an honest request but for one thing. */
START_TEST(a_token_that_asks_for_more_is_denied)
{
	struct asked rows[12];
	const char *whys[12];
	size_t count = 0;

#define ROW(change, why)                                                               \
	(rows[count] = first_request("node001"), rows[count].change,                   \
	 whys[count++] = (why))
	ROW(of.subject = "CN=system:node:node002,O=system:nodes", "of another node");
	ROW(of.subject = "CN=node001,O=system:nodes", "of another node");
	ROW(group = "system:bootstrappers", "not in the group");
	ROW(of.subject = "CN=system:node:node001,O=system:masters", "its subject");
	ROW(of.subject = NODE1 ",O=system:masters", "its subject");
	ROW(of.names[0] = "DNS:node001", "no other names");
	ROW(of.names[0] = "IP:10.77.0.1", "no other names");
	ROW(usages = "digital signature,server auth", "its usages");
	ROW(usages = "digital signature,client auth,cert sign", "its usages");
	ROW(of.rsa_bits = 1024, "its key is weak");
	ROW(signer = SERVING, "no certificate of a server");
	ROW(pem = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n", "cannot be read");
#undef ROW
	begin();
	issue("node001");
	for (size_t i = 0; i < count; i++)
		is_judged(&rows[i], "Denied", whys[i]);
	rows[0] = first_request("node001");
	is_judged(&rows[0], "Approved", "shows its token");
	end();
}
END_TEST

/* Two blocks: the signer might take the other one. */
START_TEST(two_requests_in_one_are_denied)
{
	bu_autofree char *honest = csr_make(&(struct csr_of){.subject = NODE1});
	bu_autofree char *evil =
		csr_make(&(struct csr_of){.subject = "CN=admin,O=system:masters"});
	bu_autofree char *both = bu_xasprintf("%s%s", honest, evil);
	bu_autofree char *before = bu_xasprintf("x\n%s", honest);
	struct asked asked = first_request("node001");

	begin();
	issue("node001");
	asked.pem = both;
	is_judged(&asked, "Denied", "cannot be read");
	asked.pem = before;
	is_judged(&asked, "Denied", "cannot be read");
	end();
}
END_TEST

/* A token that was read on its way: the second key gets nothing. */
START_TEST(a_token_serves_one_key)
{
	struct asked asked = first_request("node001");
	bu_autofree char *honest = csr_make(&asked.of);

	begin();
	issue("node001");
	asked.pem = honest;
	is_judged(&asked, "Approved", "shows its token");
	is_judged(&asked, "Approved", "shows its token"); /* kubelet starts anew */
	asked.pem = NULL;
	is_judged(&asked, "Denied", "used with another key before");
	end();
}
END_TEST

START_TEST(a_token_ends_with_its_join_and_its_time)
{
	struct asked asked = first_request("node001");
	struct bu_cluster_target target = target_of("node001");

	begin();
	is_judged(&asked, "", "no node that joins now"); /* before there is one */
	issue("node001");
	pass(BU_KUBE_TOKEN_S * 1000 + 1000);
	is_judged(&asked, "", "no node that joins now");
	issue("node001");
	kube_be(&rig, PAPER_OURS);
	driver->admit(cluster, &target, on_end, NULL);
	pass(5000);
	ck_assert_int_eq(ended, 2);
	is_judged(&asked, "", "no node that joins now");
	end();
}
END_TEST

/* Whoever has joined shows its own certificate, and gets no other name by it. */
START_TEST(a_node_renews_its_own_certificates)
{
	struct asked rows[7];
	const char *whys[7];
	struct asked good[2];
	struct bu_cluster_target target = target_of("node001");
	size_t count = 0;

#define ROW(kind, change, why)                                                         \
	(rows[count] = later_request(kind), rows[count].change, whys[count++] = (why))
	ROW(CLIENT, of.subject = "CN=system:node:node002,O=system:nodes",
	    "names another node");
	ROW(CLIENT, group = "system:authenticated", "does not come from a node");
	ROW(CLIENT, of.names[0] = "DNS:x", "no other names");
	ROW(SERVING, of.names[1] = "IP:10.77.0.1", "is not the node's");
	ROW(SERVING, of.names[0] = "DNS:kubernetes.default.svc", "is not the node's");
	ROW(SERVING, usages = "digital signature,client auth", "its usages");
	ROW(SERVING, of.rsa_bits = 1024, "its key is weak");
#undef ROW
	good[0] = later_request(CLIENT);
	good[1] = later_request(SERVING);
	begin();
	kube_be(&rig, PAPER_OURS);
	await_watch(&cluster->nodes, kube->version);
	is_judged(&good[0], "", "has not joined through bringup");
	driver->admit(cluster, &target, on_end, NULL);
	pass(5000);
	ck_assert_int_eq(ended, 1);
	await_watch(&cluster->nodes,
		    atoll(bu_json_str(
			    bu_kube_at(paper_kube_get(kube, PAPER_NODES, "node001"),
				       "metadata", NULL),
			    "resourceVersion", "")));
	for (size_t i = 0; i < count; i++)
		is_judged(&rows[i], "Denied", whys[i]);
	for (size_t i = 0; i < 2; i++)
		is_judged(&good[i], "Approved", "has shown its certificate");
	end();
}
END_TEST

/* Others may approve it. */
START_TEST(a_request_of_somebody_else_is_left_alone)
{
	struct asked asked = first_request("node001");
	const char *why;

	begin();
	issue("node001");
	asked.user = "system:serviceaccount:kube-system:x";
	is_judged(&asked, "", "neither a token nor a node");
	asked = first_request("node009");
	is_judged(&asked, "", "no node that joins now");
	asked = first_request("node001");
	asked.signer = "kubernetes.io/kube-apiserver-client";
	post("other-signer", &asked);
	ck_assert_str_eq(verdict("other-signer", &why), "");
	ck_assert_int_eq(kube->lists[PAPER_CSRS], 1);
	end();
}
END_TEST

RIG_UNIT("kubernetes_requests", a_node_that_joins_gets_its_certificate,
	 a_token_that_asks_for_more_is_denied, two_requests_in_one_are_denied,
	 a_token_serves_one_key, a_token_ends_with_its_join_and_its_time,
	 a_node_renews_its_own_certificates, a_request_of_somebody_else_is_left_alone)
