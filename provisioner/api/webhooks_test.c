/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that webhooks tell, how each is signed, and what becomes of one whose receiver
 * takes nothing. Over a restart of the real daemon: tests/system/webhooks. */
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/api/webhook_form.h"
#include "tests/support/baddisk.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* LARGE: no cache of SQLite's has so many bytes. */
enum { SECOND = 1000, MINUTE = 60 * SECOND, LARGE = 8 * 1024 * 1024 };

static struct bu_webhook_opts
opts_of(const char *url, const char *events, const char *nodes, const char *pools)
{
	return (struct bu_webhook_opts){
		.name = (char *)(uintptr_t) "ops",
		.url = (char *)(uintptr_t)url,
		.secret = (char *)(uintptr_t) "env:WEBHOOK_SECRET",
		.events = (char *)(uintptr_t)events,
		.nodes = (char *)(uintptr_t)nodes,
		.pools = (char *)(uintptr_t)pools,
		.ca = (char *)(uintptr_t) "",
	};
}

START_TEST(a_filter_takes_what_it_names)
{
	static const struct {
		const char *events, *nodes, *pools;
		enum bu_event_kind kind;
		const char *node, *pool;
		int wanted;
	} rows[] = {
		{"", "", "", BU_EVENT_STATE, "n1", "train", 1},
		{"", "", "", BU_EVENT_APPLIED, "", "", 1},
		{"", "", "", BU_EVENT_DELIVERED, "", "", 0},
		{"state, held", "", "", BU_EVENT_HELD, "n1", "train", 1},
		{"state, held", "", "", BU_EVENT_RELEASED, "n1", "train", 0},
		{"held,delivered", "", "", BU_EVENT_DELIVERED, "", "", 0},
		{"", "n[1-2]", "", BU_EVENT_HELD, "n2", "train", 1},
		{"", "n[1-2]", "", BU_EVENT_HELD, "n3", "train", 0},
		{"", "n[1-2]", "", BU_EVENT_APPLIED, "", "", 0},
		{"", "", "train infer", BU_EVENT_HELD, "n1", "infer", 1},
		{"", "", "train infer", BU_EVENT_HELD, "n1", "login", 0},
		{"", "", "train", BU_EVENT_APPLIED, "", "", 0},
		{"", "n1", "train", BU_EVENT_HELD, "n1", "login", 0},
		{"held", "n1", "train", BU_EVENT_HELD, "n1", "train", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_webhook_opts opts = opts_of("http://h/", rows[i].events,
						      rows[i].nodes, rows[i].pools);
		struct bu_webhook_filter filter;
		struct bu_event event = {.kind = rows[i].kind};

		snprintf(event.node, sizeof(event.node), "%s", rows[i].node);
		ck_assert_int_eq(bu_webhook_filter_read(&opts, &filter, NULL), 0);
		ck_assert_msg(bu_webhook_wants(&filter, &event, rows[i].pool) ==
				      rows[i].wanted,
			      "row %zu", i);
		bu_webhook_filter_fini(&filter);
	}
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *url, *events, *nodes, *says;
	} rows[] = {
		{"ftp://h/x", "", "", "[webhook ops] url = ftp://h/x: give https://"},
		{"", "", "", "[webhook ops] url = : give https://"},
		{"https://me:pw@h/", "", "", "without a user"},
		{"http://h/", "statee", "",
		 "unknown kind 'statee' (did you mean 'state'?)"},
		{"http://h/", "delivered", "", "name kinds of events"},
		{"http://h/", "", "n[1-", "[webhook ops] nodes: "},
		{"http://h/", "", "@train", "[webhook ops] nodes: "},
	};
	struct bu_webhook_opts opts = opts_of("http://h/", "", "", "");
	struct bu_err err;

	ck_assert_int_eq(bu_webhook_check(&opts, &err), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		opts = opts_of(rows[i].url, rows[i].events, rows[i].nodes, "");
		ck_assert_int_eq(bu_webhook_check(&opts, &err), -1);
		rig_text_has(err.text, rows[i].says);
	}
	opts = opts_of("http://h/", "", "", "");
	opts.secret = (char *)(uintptr_t) "hunter2";
	ck_assert_int_eq(bu_webhook_check(&opts, &err), -1);
	rig_text_has(err.text, "the secret itself stays out of bringupd.conf");
	ck_assert_ptr_null(strstr(err.text, "hunter2"));
}
END_TEST

/* The example of the Standard Webhooks' own libraries. */
START_TEST(it_is_signed_as_others_verify_it)
{
	static const char text[] = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330."
				   "{\"test\": 2432232314}";
	static const char secret[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
	struct bu_err err;
	bu_autofree char *signature =
		bu_webhook_sign(secret, strlen(secret), text, &err);

	ck_assert_str_eq(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	ck_assert_ptr_null(bu_webhook_sign("short", 5, text, &err));
	rig_text_has(err.text, "at least 24 are needed");
	ck_assert_ptr_null(bu_webhook_sign("whsec_%%%%", 10, text, &err));
	rig_text_has(err.text, "not base64");
}
END_TEST

/* --- a receiver --- */

static struct {
	struct MHD_Daemon *server;
	char url[64];
	atomic_int status; /* that it answers with */
	atomic_int asked;
	atomic_llong last; /* number of the event that it took last */
	atomic_int torn;   /* one came that was not after the last */
} receiver;

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	const char *id =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "webhook-id");
	int status = atomic_load(&receiver.status);
	long long seq = id && strchr(id, '-') ? atoll(strchr(id, '-') + 1) : -1;
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (!*state || *upload_size) {
		*state = &receiver;
		*upload_size = 0;
		return MHD_YES;
	}
	atomic_fetch_add(&receiver.asked, 1);
	if (status == 200) {
		if (seq <= atomic_load(&receiver.last))
			atomic_store(&receiver.torn, 1);
		atomic_store(&receiver.last, seq);
	}
	response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	rc = MHD_queue_response(connection, (unsigned int)status, response);
	MHD_destroy_response(response);
	return rc;
}

static struct site site;
static struct bu_webhook_opts opts;

static void
begin(void)
{
	memset(&receiver, 0, sizeof(receiver));
	atomic_store(&receiver.status, 200);
	receiver.server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL,
					   NULL, on_request, NULL, MHD_OPTION_END);
	ck_assert_ptr_nonnull(receiver.server);
	snprintf(receiver.url, sizeof(receiver.url), "http://127.0.0.1:%u/",
		 (unsigned int)MHD_get_daemon_info(receiver.server,
						   MHD_DAEMON_INFO_BIND_PORT)
			 ->port);
	setenv("WEBHOOK_SECRET", "a secret of many more bytes", 1);
	site_begin(&site, 2);
	opts = opts_of(receiver.url, "", "", "");
	site.api.webhooks = bu_webhooks_create(&site.api, &opts, 1);
	rig_pass(&site.rig, 1);
}

static void
finish(void)
{
	bu_webhooks_destroy(bu_steal(&site.api.webhooks));
	site_end(&site);
	MHD_stop_daemon(receiver.server);
}

static void
lease(const char *node, const char *probe)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_LEASE, node,
		 json_pack("{s:s,s:s}", "probe", probe, "for", ""));
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
}

static void
hold(const char *node)
{
	lease(node, "p");
}

static const struct bu_condition *
behind(void)
{
	return &site.rig.fleet->conditions[BU_CONDITION_WEBHOOK_BEHIND];
}

static int64_t
row_seq(void)
{
	return site.rig.fleet->life.row_seq;
}

/* The log cannot be read: no event is named, and the next one comes when it can. */
START_TEST(a_log_that_is_not_read_is_read_again)
{
	bu_autofree char *path = NULL, *text = NULL;
	bu_autofree char *large = bu_xcalloc(1, LARGE + 1);
	int before = dup(STDERR_FILENO);

	memset(large, 'p', LARGE);
	bad_disk_install();
	begin();
	path = bu_xasprintf("%s/said", site.rig.dir);
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	bad_disk.unread = 1;
	lease("node001", large);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	ck_assert_int_eq(atomic_load(&receiver.asked), 0);
	text = bu_file_read(path, 65536, NULL, NULL);
	rig_text_has(text, "the next event is looked for again");
	ck_assert_ptr_null(strstr(text, "event 0"));
	bad_disk_install();
	rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(atomic_load(&receiver.asked), 1);
	finish();
}
END_TEST

/* A new webhook begins with the next row, and its own rows are told to nobody. */
START_TEST(a_row_is_told_once_it_is_in_the_log)
{
	begin();
	ck_assert_int_eq(atomic_load(&receiver.asked), 0);
	hold("node001");
	ck_assert_int_eq(atomic_load(&receiver.asked), 1);
	ck_assert_int_eq(atomic_load(&receiver.last), row_seq());
	for (int i = 0; i < 5; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(atomic_load(&receiver.asked), 1);
	ck_assert_int_eq(bu_json_int(site.rig.fleet->delivered, "ops", 0),
			 atomic_load(&receiver.last));
	/* One row says so, not one a minute. */
	ck_assert_int_eq(row_seq(), atomic_load(&receiver.last) + 1);
	finish();
}
END_TEST

START_TEST(another_process_goes_on_where_it_stopped)
{
	int64_t last;

	begin();
	hold("node001");
	last = atomic_load(&receiver.last);
	atomic_store(&receiver.status, 503);
	hold("node001");
	hold("node002");
	bu_webhooks_destroy(bu_steal(&site.api.webhooks));
	rig_pass(&site.rig, 1);
	site_restart(&site);
	atomic_store(&receiver.status, 200);
	site.api.webhooks = bu_webhooks_create(&site.api, &opts, 1);
	rig_pass(&site.rig, 1);
	ck_assert_int_gt(atomic_load(&receiver.last), last + 1);
	ck_assert_int_eq(atomic_load(&receiver.torn), 0);
	finish();
}
END_TEST

/* Tried ever less often; after five minutes the site has the condition. */
START_TEST(a_receiver_that_takes_nothing_is_told_of)
{
	int64_t stuck;
	int asked;
	const char *name;

	begin();
	atomic_store(&receiver.status, 500);
	hold("node001");
	stuck = site.rig.fleet->life.row_seq;
	hold("node002");
	for (int i = 0; i < 4; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(behind()->on, 0);
	asked = atomic_load(&receiver.asked);
	ck_assert_int_ge(asked, 4);
	ck_assert_int_le(asked, 12);
	for (int i = 0; i < 2; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(behind()->on, 1);
	rig_text_has(rig_sentence(behind()->detail), "webhook ops: http://127.0.0.1:");
	rig_text_has(rig_sentence(behind()->detail), "answers with status 500");
	ck_assert_int_gt(bu_webhooks_waiting(site.api.webhooks, 0, &name), 0);
	ck_assert_str_eq(name, "ops");
	ck_assert_int_eq(bu_webhooks_waiting(site.api.webhooks, 1, &name), -1);
	ck_assert_int_lt(bu_json_int(site.rig.fleet->delivered, "ops", 0), stuck);
	atomic_store(&receiver.status, 204);
	for (int i = 0; i < 2; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(behind()->on, 0);
	ck_assert_int_eq(bu_webhooks_waiting(site.api.webhooks, 0, &name), 0);
	ck_assert_int_ge(bu_json_int(site.rig.fleet->delivered, "ops", 0), stuck + 1);
	finish();
}
END_TEST

/* A secret that is not there is a failure like any other, and its name is said. */
START_TEST(without_its_secret_nothing_is_told)
{
	begin();
	unsetenv("WEBHOOK_SECRET");
	hold("node001");
	for (int i = 0; i < 6; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(atomic_load(&receiver.asked), 0);
	rig_text_has(rig_sentence(behind()->detail), "WEBHOOK_SECRET");
	setenv("WEBHOOK_SECRET", "a secret of many more bytes", 1);
	for (int i = 0; i < 2; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_gt(atomic_load(&receiver.asked), 0);
	ck_assert_int_eq(behind()->on, 0);
	finish();
}
END_TEST

RIG_UNIT("webhooks", a_filter_takes_what_it_names, what_is_wrong_is_named,
	 it_is_signed_as_others_verify_it, a_log_that_is_not_read_is_read_again,
	 a_row_is_told_once_it_is_in_the_log, another_process_goes_on_where_it_stopped,
	 a_receiver_that_takes_nothing_is_told_of, without_its_secret_nothing_is_told)
