/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: what was signed is read, anything else is refused. */
#include "model/anchor.h"

#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static char *private_pem, *public_pem;

static json_t *
signed_text(const char *text)
{
	char sig[BU_SIG_HEX_SIZE];

	ck_assert_int_eq(bu_sign(private_pem, text, strlen(text), sig, NULL), 0);
	return json_pack("{s:s,s:s}", "text", text, "sig", sig);
}

/* With the list {"m1": "node001"}. */
static json_t *
make(void)
{
	struct bu_anchor anchor = {.site = "falcon",
				   .epoch = 7,
				   .seq = 41,
				   .hash = "abc",
				   .time_ms = 5,
				   .made_ms = 6};
	bu_autojson json_t *list = json_pack("{s:s}", "m1", "node001"), *body = NULL;
	bu_autofree char *text = NULL;
	json_t *document;

	bu_json_digest(list, anchor.revoked);
	body = bu_anchor_to_json(&anchor);
	text = bu_json_canonical(body);
	document = signed_text(text);
	json_object_set(document, "revoked", list);
	return document;
}

static void
begin(void)
{
	if (!public_pem)
		ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL),
				 0);
}

static void
refused(json_t *document, const char *pem, const char *part)
{
	struct bu_anchor anchor = {.seq = 3};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_anchor_open(document, pem, &anchor, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
	ck_assert_int_eq(anchor.seq, 3);
	json_decref(document);
}

START_TEST(reads_what_was_signed)
{
	bu_autojson json_t *document = NULL;
	struct bu_anchor anchor;

	begin();
	document = make();
	ck_assert_int_eq(bu_anchor_open(document, public_pem, &anchor, NULL), 0);
	ck_assert_str_eq(anchor.site, "falcon");
	ck_assert_int_eq(anchor.epoch, 7);
	ck_assert_int_eq(anchor.seq, 41);
	ck_assert_str_eq(anchor.hash, "abc");
	ck_assert_int_eq(anchor.time_ms, 5);
	/* As in the syslog. */
	json_object_del(document, "revoked");
	ck_assert_int_eq(bu_anchor_open(document, public_pem, &anchor, NULL), 0);
}
END_TEST

START_TEST(refuses_all_else)
{
	bu_autofree char *other = NULL, *others = NULL;
	json_t *document;

	begin();
	ck_assert_int_eq(bu_sign_key_create(&other, &others, NULL), 0);
	refused(make(), others, "not signed by this appliance");
	document = make();
	json_object_set_new(document, "text", json_string("{}"));
	refused(document, public_pem, "not signed by this appliance");
	/* Signed by the appliance, and something else. */
	refused(signed_text("{\"kind\":\"stamp\"}"), public_pem, "not an anchor");
	document = make();
	json_object_set_new(json_object_get(document, "revoked"), "m1",
			    json_string("node002"));
	refused(document, public_pem, "revoked was changed");
	document = make();
	json_object_set_new(document, "revoked", json_object());
	refused(document, public_pem, "revoked was changed");
}
END_TEST

START_TEST(finds_it_in_a_line_of_the_syslog)
{
	char path[] = "/tmp/bringup-anchor-XXXXXX";
	bu_autojson json_t *document = NULL, *loaded = NULL;
	bu_autofree char *text = NULL, *line = NULL;
	struct bu_anchor anchor;
	struct bu_err err = {0};

	begin();
	document = make();
	text = json_dumps(document, JSON_COMPACT);
	line = bu_xasprintf("Nov 30 06:00:00 host bringupd[7]: anchor: %s\n", text);
	close(mkstemp(path));
	ck_assert_int_eq(bu_file_write(path, line, strlen(line), 0600, NULL), 0);
	loaded = bu_anchor_load(path, &err);
	ck_assert_msg(loaded != NULL, "%s", err.text);
	ck_assert_int_eq(bu_anchor_open(loaded, public_pem, &anchor, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, "no\n", 3, 0600, NULL), 0);
	ck_assert_ptr_null(bu_anchor_load(path, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_file_write(path, "{}\n", 3, 0600, NULL), 0);
	ck_assert_ptr_null(bu_anchor_load(path, &err));
	unlink(path);
}
END_TEST

BU_UNIT("anchor", reads_what_was_signed, refuses_all_else,
	finds_it_in_a_line_of_the_syslog)
