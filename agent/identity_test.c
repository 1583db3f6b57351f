/* SPDX-License-Identifier: Apache-2.0 */
/* Enrolment against a small appliance of this test, and what is kept of it. */
#include "agent/identity.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/support/unit.h"

/* --- in the way of the linker's --wrap --- */

static unsigned slept_s; /* in all: no time passes here */
static int64_t set_to_s; /* this machine's clock, as if; 0 = it was not set */
static int sets;
static const char *in_the_way; /* that goes away meanwhile; NULL = nothing */

unsigned __wrap_sleep(unsigned seconds);
unsigned
__wrap_sleep(unsigned seconds)
{
	slept_s += seconds;
	ck_assert_uint_lt(slept_s, 60);
	if (in_the_way)
		ck_assert_int_eq(unlink(in_the_way), 0);
	in_the_way = NULL;
	return 0;
}

int __wrap_clock_settime(clockid_t clock, const struct timespec *to);
int
__wrap_clock_settime(clockid_t clock, const struct timespec *to)
{
	ck_assert_int_eq(clock, CLOCK_REALTIME);
	set_to_s = to->tv_sec;
	sets++;
	return 0;
}

/* --- the tests --- */

/* --- the appliance --- */

struct appliance {
	struct MHD_Daemon *daemon;
	char url[64];
	int status; /* of enroll */
	int refused_first;
	int other_ca; /* so many times another CA is served */
	int fetched;  /* CAs, when the token came */
	int served;   /* CAs */
	int enrolled;
	int asked;   /* who it is */
	int shown;   /* CAs, when that was asked for the first time */
	int unknown; /* so many times nobody knows */
	int leaves;  /* and it may go then */
	int half;    /* so many times it is told no token */
	int no_cert; /* enrolled, and not told as what */
	char *body;
	size_t size;
};

static const char ca[] = "-----BEGIN CERTIFICATE-----\nours\n";
static const char other_ca[] = "-----BEGIN CERTIFICATE-----\ntheirs\n";

static const char *date; /* that it says instead of its own; NULL = none */

static enum MHD_Result
reply(struct MHD_Connection *connection, int status, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (date)
		MHD_add_response_header(response, "Date", date);
	rc = MHD_queue_response(connection, (unsigned)status, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
who_is(struct appliance *appliance, struct MHD_Connection *connection)
{
	if (!appliance->asked)
		appliance->shown = appliance->served;
	if (appliance->half-- > 0)
		return reply(connection, 200,
			     "{\"node\":\"node001\",\"why\":\"nobody\"}");
	if (appliance->asked++ >= appliance->unknown)
		return reply(connection, 200,
			     "{\"node\":\"node001\",\"token\":\"told\"}");
	return reply(connection, 200,
		     appliance->leaves ? "{\"leave\":true,\"why\":\"nobody\"}"
				       : "{\"again_s\":1,\"why\":\"nobody\"}");
}

static enum MHD_Result
on_access(void *cls, struct MHD_Connection *connection, const char *url,
	  const char *method, const char *version, const char *data, size_t *size,
	  void **slot)
{
	struct appliance *appliance = cls;

	if (!*slot) {
		*slot = appliance;
		free(appliance->body);
		appliance->body = bu_xstrdup("");
		appliance->size = 0;
		return MHD_YES;
	}
	if (*size) {
		appliance->body =
			bu_xrealloc(appliance->body, appliance->size + *size + 1);
		memcpy(appliance->body + appliance->size, data, *size);
		appliance->size += *size;
		appliance->body[appliance->size] = '\0';
		*size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/boot/ca.pem") == 0)
		return reply(connection, 200,
			     appliance->served++ < appliance->other_ca ? other_ca : ca);
	if (strcmp(url, "/v1/agent/discover") == 0)
		return who_is(appliance, connection);
	if (strcmp(url, "/v1/agent/enroll") != 0)
		return reply(connection, 404, "");
	appliance->enrolled++;
	appliance->fetched = appliance->served;
	if (appliance->refused_first && appliance->enrolled == 1)
		return reply(connection, 503,
			     "{\"error\":{\"kind\":\"busy\",\"text\":\"changing\"}}");
	if (appliance->status != 200)
		return reply(connection, appliance->status,
			     "{\"error\":{\"kind\":\"denied\",\"text\":\"no such "
			     "token\"}}");
	if (appliance->no_cert)
		return reply(connection, 200, "{\"node\":\"node001\"}");
	return reply(connection, 200, "{\"cert\":\"our cert\",\"node\":\"node001\"}");
}

static void
begin(struct appliance *appliance, int status)
{
	const union MHD_DaemonInfo *info;

	memset(appliance, 0, sizeof(*appliance));
	appliance->status = status;
	appliance->daemon =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD |
					 (date ? MHD_USE_SUPPRESS_DATE_NO_CLOCK : 0),
				 0, NULL, NULL, on_access, appliance,
				 MHD_OPTION_LISTEN_BACKLOG_SIZE, 5u, MHD_OPTION_END);
	ck_assert_ptr_nonnull(appliance->daemon);
	info = MHD_get_daemon_info(appliance->daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(appliance->url, sizeof(appliance->url), "http://127.0.0.1:%u",
		 (unsigned)info->port);
}

static void
finish(struct appliance *appliance)
{
	MHD_stop_daemon(appliance->daemon);
	free(appliance->body);
}

static int
enroll(struct appliance *appliance, const char *digest, const char *dir,
       struct bu_identity *ret, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	bu_autofree char *cmdline = bu_xasprintf(
		"bringup.node=node001 bringup.url=%s bringup.boot=%s bringup.ca=%s "
		"bringup.token=secret\n",
		appliance->url, appliance->url, digest);

	return bu_identity_enroll(cmdline, dir, inventory, ret, err);
}

static int
mode_of(const char *dir, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	struct stat st;

	return stat(path, &st) == 0 ? (int)(st.st_mode & 0777) : -1;
}

/* Without a node on the command line it asks who it is, and enrols as that. */
START_TEST(a_machine_of_no_name_is_told_its_name)
{
	char base[] = "/tmp/bringup-agent-XXXXXX";
	bu_autofree char *dir = NULL, *cmdline = NULL, *path = NULL, *log = NULL;
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	struct appliance appliance;
	struct bu_identity identity = {0};
	char digest[BU_DIGEST_SIZE];
	const char *said;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	dir = bu_xasprintf("%s/run", base);
	path = bu_xasprintf("%s/log", base);
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	bu_log_init("identity_test", BU_LOG_INFO);
	begin(&appliance, 200);
	bu_sha256_hex(ca, strlen(ca), digest);
	cmdline = bu_xasprintf("bringup.url=%s bringup.boot=%s bringup.ca=%s\n",
			       appliance.url, appliance.url, digest);
	appliance.unknown = appliance.leaves = 1;
	appliance.other_ca = 1; /* who has another CA is not asked */
	ck_assert_int_eq(bu_identity_enroll(cmdline, dir, inventory, &identity, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	ck_assert_int_eq(appliance.shown, 2);
	ck_assert_int_eq(appliance.enrolled, 0);
	ck_assert_uint_eq(slept_s, 2);
	appliance.leaves = 0;
	appliance.unknown = 2;
	appliance.half = 1;
	ck_assert_msg(bu_identity_enroll(cmdline, dir, inventory, &identity, &err) == 0,
		      "%s", err.text);
	ck_assert_int_eq(appliance.asked, 3);
	ck_assert_str_eq(identity.node, "node001");
	ck_assert_ptr_nonnull(strstr(appliance.body, "\"token\":\"told\""));
	/* as long as it was told to wait, and 2 s where it was not */
	ck_assert_uint_eq(slept_s, 2 + 2 + 1);
	/* the same is said once */
	fflush(stderr);
	log = bu_file_read(path, 0, NULL, NULL);
	said = strstr(log, "not enrolled yet: nobody");
	ck_assert_msg(said && !strstr(said + 1, "not enrolled yet: nobody"), "%s", log);
	bu_identity_fini(&identity);
	finish(&appliance);
	bu_ignore(bu_remove_tree(base, NULL));
}
END_TEST

START_TEST(a_token_is_traded_for_a_certificate)
{
	char base[] = "/tmp/bringup-agent-XXXXXX";
	bu_autofree char *dir = NULL, *cert = NULL, *cert_path = NULL;
	bu_autojson json_t *said = NULL;
	struct appliance appliance;
	struct bu_identity identity = {0}, again = {0};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	dir = bu_xasprintf("%s/run", base);
	begin(&appliance, 200);
	appliance.refused_first = 1; /* busy is no answer: once more */
	bu_sha256_hex(ca, strlen(ca), digest);
	ck_assert_msg(enroll(&appliance, digest, dir, &identity, &err) == 0, "%s",
		      err.text);
	ck_assert_int_eq(appliance.enrolled, 2);
	ck_assert_uint_eq(slept_s, 2);
	ck_assert_int_eq(set_to_s, 0); /* its clock is ours */
	ck_assert_str_eq(identity.node, "node001");
	ck_assert_str_eq(identity.url, appliance.url);
	ck_assert_int_eq(identity.installed, 0);
	/* after a restart of the agent the token is used up, the identity is not */
	ck_assert_int_eq(bu_identity_exists(dir), 1);
	ck_assert_int_eq(bu_identity_load(dir, 0, &again, &err), 0);
	ck_assert_str_eq(again.node, "node001");
	ck_assert_str_eq(again.boot_url, appliance.url);
	bu_identity_fini(&again);
	said = json_loads(appliance.body, 0, NULL);
	ck_assert_str_eq(bu_json_str(said, "token", ""), "secret");
	ck_assert_str_eq(bu_json_str(said, "node", ""), "node001");
	ck_assert(json_is_object(json_object_get(said, "inventory")));
	ck_assert_ptr_null(strstr(appliance.body, "PRIVATE KEY")); /* it stays here */
	cert_path = bu_xasprintf("%s/cert.pem", dir);
	cert = bu_file_read(cert_path, 0, NULL, NULL);
	ck_assert_str_eq(cert, "our cert");
	ck_assert_int_eq(mode_of(dir, "key.pem"), 0600);
	ck_assert_int_eq(mode_of(dir, "ca.pem"), 0600);
	ck_assert_int_eq(mode_of(base, "run"), 0700);
	bu_identity_fini(&identity);
	finish(&appliance);
	bu_ignore(bu_remove_tree(base, NULL));
}
END_TEST

/* The token is shown to nobody but who has the CA of the boot script. */
START_TEST(another_ca_gets_no_token)
{
	char base[] = "/tmp/bringup-agent-XXXXXX";
	bu_autofree char *path = NULL, *kept = NULL;
	struct appliance appliance;
	struct bu_identity identity = {0};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	begin(&appliance, 200);
	appliance.other_ca = 1;
	bu_sha256_hex(ca, strlen(ca), digest);
	ck_assert_int_eq(enroll(&appliance, digest, base, &identity, &err), 0);
	ck_assert_int_eq(appliance.enrolled, 1);
	ck_assert_int_eq(appliance.fetched, 2);
	path = bu_xasprintf("%s/ca.pem", base);
	kept = bu_file_read(path, 0, NULL, NULL);
	ck_assert_str_eq(kept, ca);
	bu_identity_fini(&identity);
	finish(&appliance);
	bu_ignore(bu_remove_tree(base, NULL));
}
END_TEST

START_TEST(a_refusal_is_an_answer)
{
	char base[] = "/tmp/bringup-agent-XXXXXX";
	struct appliance appliance;
	struct bu_identity identity = {0};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	begin(&appliance, 403);
	bu_sha256_hex(ca, strlen(ca), digest);
	ck_assert_int_eq(enroll(&appliance, digest, base, &identity, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(appliance.enrolled, 1);
	ck_assert_int_eq(mode_of(base, "cert.pem"), -1);
	ck_assert_int_eq(bu_identity_exists(base), 0);
	ck_assert_ptr_null(identity.node);
	/* and so is an answer that makes no sense */
	appliance.status = 200;
	appliance.no_cert = 1;
	ck_assert_int_eq(enroll(&appliance, digest, base, &identity, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(appliance.enrolled, 2);
	ck_assert_int_eq(mode_of(base, "cert.pem"), -1);
	ck_assert_uint_eq(slept_s, 0);
	finish(&appliance);
	bu_ignore(bu_remove_tree(base, NULL));
}
END_TEST

/* When the answer to a trade was lost, the appliance knows the request for the same. */
START_TEST(another_try_has_the_same_request)
{
	char base[] = "/tmp/bringup-agent-XXXXXX";
	bu_autojson json_t *first = NULL, *second = NULL;
	bu_autofree char *file = NULL, *dir = NULL;
	struct appliance appliance;
	struct bu_identity identity = {0};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	file = bu_xasprintf("%s/file", base);
	dir = bu_xasprintf("%s/run", file);
	begin(&appliance, 403);
	bu_sha256_hex(ca, strlen(ca), digest);
	ck_assert_int_eq(enroll(&appliance, digest, base, &identity, &err), -1);
	first = json_loads(appliance.body, 0, NULL);
	appliance.status = 200;
	ck_assert_int_eq(enroll(&appliance, digest, base, &identity, &err), 0);
	second = json_loads(appliance.body, 0, NULL);
	ck_assert_str_ne(bu_json_str(first, "csr", ""), "");
	ck_assert_str_eq(bu_json_str(first, "csr", ""), bu_json_str(second, "csr", ""));
	bu_identity_fini(&identity);
	/* Without a place for its key nothing is asked. */
	ck_assert_int_eq(bu_file_write(file, "x", 1, 0600, NULL), 0);
	ck_assert_int_eq(enroll(&appliance, digest, dir, &identity, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_int_eq(appliance.enrolled, 2);
	finish(&appliance);
	bu_ignore(bu_remove_tree(base, NULL));
}
END_TEST

/* One that has no name needs no place before it is told one: it waits for it. */
START_TEST(a_place_that_is_not_there_yet_is_waited_for)
{
	char base[] = "/tmp/bringup-agent-XXXXXX";
	bu_autofree char *file = NULL, *cmdline = NULL;
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();
	struct appliance appliance;
	struct bu_identity identity = {0};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	file = bu_xasprintf("%s/file", base);
	begin(&appliance, 200);
	bu_sha256_hex(ca, strlen(ca), digest);
	cmdline = bu_xasprintf("bringup.url=%s bringup.boot=%s bringup.ca=%s\n",
			       appliance.url, appliance.url, digest);
	ck_assert_int_eq(bu_file_write(file, "x", 1, 0600, NULL), 0);
	in_the_way = file;
	ck_assert_msg(bu_identity_enroll(cmdline, file, inventory, &identity, &err) ==
			      0,
		      "%s", err.text);
	ck_assert_uint_eq(slept_s, 2);
	ck_assert_int_eq(appliance.asked, 1);
	bu_identity_fini(&identity);
	finish(&appliance);
	bu_ignore(bu_remove_tree(base, NULL));
}
END_TEST

/* A certificate that is valid from now on. */
static void
put_cert(const char *dir)
{
	bu_autofree char *path = bu_xasprintf("%s/cert.pem", dir), *cert = NULL;
	bu_autofree char *key = NULL, *csr = NULL, *authority = NULL;

	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_ca_create("falcon", key, &authority, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "node001", &csr, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){authority, key}, csr,
					    "node001", 9, &cert, NULL),
			 0);
	ck_assert_int_eq(bu_file_write(path, cert, strlen(cert), 0600, NULL), 0);
}

/* Of who has a certificate: a clock from before it is lost, and no other one. */
START_TEST(a_clock_that_was_lost_is_asked_for_without_tls)
{
	static const struct {
		int64_t theirs_s, ours_s; /* after its begin */
		int is_set;
	} rows[] = {
		{3600, -3600, 1},
		{0, -1, 1},
		{3600, -1000000000, 1},
		/* It may be right, whatever somebody answers. */
		{3600, 0, 0},
		{864000, 60, 0},
		/* There is no such time for who has this certificate. */
		{-1, -3600, 0},
		{8 * 86400, -3600, 1},
		{10 * 86400, -3600, 0},
		{2000000000, -3600, 0},
	};
	char dir[] = "/tmp/bringup-agent-XXXXXX", text[64];
	struct appliance appliance;
	struct bu_identity identity = {.installed = 1, .dir = dir};
	bu_autofree char *path = NULL, *pem = NULL;
	int64_t to_s = -1, from_s, until_s;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	begin(&appliance, 200);
	identity.boot_url = appliance.url;
	date = "Fri, 01 Jan 2100 00:00:00 GMT";
	ck_assert_int_eq(bu_identity_ask_clock(&identity, 0, &to_s, NULL), 0);
	ck_assert_int_eq(to_s, 0); /* without a certificate */
	put_cert(dir);
	path = bu_xasprintf("%s/cert.pem", dir);
	pem = bu_file_read(path, 1 << 16, NULL, NULL);
	ck_assert_int_eq(bu_cert_times(pem, &from_s, &until_s, NULL), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		time_t theirs = from_s + rows[i].theirs_s;
		struct tm tm;

		strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT",
			 gmtime_r(&theirs, &tm));
		date = text;
		ck_assert_int_eq(bu_identity_ask_clock(&identity,
						       from_s + rows[i].ours_s, &to_s,
						       NULL),
				 0);
		ck_assert_msg(to_s == (rows[i].is_set ? theirs : 0), "row %zu", i);
	}
	/* This machine's clock is of after it was issued, as good as it may be. */
	set_to_s = 0;
	ck_assert_int_eq(bu_identity_set_clock(&identity), 0);
	ck_assert_int_eq(set_to_s, 0);
	date = "yesterday";
	ck_assert_int_eq(bu_identity_ask_clock(&identity, 0, &to_s, NULL), 0);
	ck_assert_int_eq(to_s, 0);
	finish(&appliance);
	ck_assert_int_eq(bu_identity_ask_clock(&identity, 0, &to_s, NULL), -1);
	ck_assert_int_eq(bu_identity_set_clock(&identity), -1);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* Before a certificate is looked at: the CA came with the boot. */
START_TEST(an_enrolment_begins_with_the_appliances_time)
{
	static const struct {
		const char *date;
		int64_t set_to_s;
	} rows[] = {{"Fri, 01 Jan 2100 00:00:00 GMT", 4102444800}, {"yesterday", 0}};
	char digest[BU_DIGEST_SIZE];

	bu_sha256_hex(ca, strlen(ca), digest);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char dir[] = "/tmp/bringup-agent-XXXXXX";
		struct appliance appliance;
		struct bu_identity identity = {0};
		struct bu_err err = {0};

		ck_assert_ptr_nonnull(mkdtemp(dir));
		date = rows[i].date;
		begin(&appliance, 200);
		set_to_s = 0;
		appliance.other_ca = 1;
		ck_assert_int_eq(enroll(&appliance, digest, dir, &identity, &err), 0);
		ck_assert_int_eq(set_to_s, rows[i].set_to_s);
		/* who serves another CA has set nothing */
		ck_assert_int_eq(sets, 1);
		bu_identity_fini(&identity);
		finish(&appliance);
		bu_ignore(bu_remove_tree(dir, NULL));
	}
}
END_TEST

BU_UNIT("identity", a_token_is_traded_for_a_certificate,
	a_machine_of_no_name_is_told_its_name, another_ca_gets_no_token,
	a_refusal_is_an_answer, another_try_has_the_same_request,
	a_place_that_is_not_there_yet_is_waited_for,
	an_enrolment_begins_with_the_appliances_time,
	a_clock_that_was_lost_is_asked_for_without_tls)
