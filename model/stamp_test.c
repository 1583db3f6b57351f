/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps: what was signed is read with its texts, anything else is refused. */
#include "model/stamp.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/unit.h"

static char *private_pem, *public_pem;

static json_t *
sign(const json_t *body)
{
	bu_autofree char *text = bu_json_canonical(body);
	char sig[BU_SIG_HEX_SIZE];

	ck_assert_int_eq(bu_sign(private_pem, text, strlen(text), sig, NULL), 0);
	return json_pack("{s:s,s:s}", "text", text, "sig", sig);
}

static void
fill(struct bu_stamp *ret)
{
	*ret = (struct bu_stamp){.site = "falcon",
				 .node = "node001",
				 .machine = "0123456789abcdef",
				 .cert = "c1",
				 .next = "c2",
				 .cert_until_ms = 5,
				 .next_until_ms = 6,
				 .state = "ready",
				 .step = "node001.4.install",
				 .image = "debian12",
				 .digest = "d1",
				 .slot = "a",
				 .raw = 1,
				 .commit = "c0ffee",
				 .revision = "r1",
				 .called = "old001",
				 .boot_id = "b1",
				 .cluster = "hpc",
				 .driver = "slurm",
				 .handle = "{\"conf\":\"/etc/slurm/slurm.conf\"}",
				 .member = "old001",
				 .epoch = 7,
				 .seq = 41,
				 .time_ms = 9};
	bu_sha256_hex("the facets", 10, ret->facets);
	bu_sha256_hex("the full one", 12, ret->full);
	bu_sha256_hex("the boot one", 12, ret->boot);
	bu_stamp_set_of(ret);
}

static json_t *
make(void)
{
	bu_autojson json_t *body = NULL;
	struct bu_stamp stamp;
	json_t *document;

	if (!public_pem)
		ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL),
				 0);
	fill(&stamp);
	body = bu_stamp_to_json(&stamp);
	document = sign(body);
	json_object_set_new(document, "facets", json_string("the facets"));
	json_object_set_new(document, "full", json_string("the full one"));
	json_object_set_new(document, "boot", json_string("the boot one"));
	return document;
}

static void
refused(const json_t *document, const char *part)
{
	struct bu_stamp stamp = {.seq = 3};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_stamp_open(document, public_pem, &stamp, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
	ck_assert_int_eq(stamp.seq, 3);
}

START_TEST(what_was_signed_is_read)
{
	bu_autojson json_t *document = make(), *all = NULL, *read = NULL;
	struct bu_stamp want, stamp;
	struct bu_err err = {0};

	ck_assert_msg(bu_stamp_open(document, public_pem, &stamp, &err) == 0, "%s",
		      err.text);
	fill(&want);
	all = bu_stamp_to_json(&want);
	read = bu_stamp_to_json(&stamp);
	ck_assert(json_equal(all, read));
	ck_assert_uint_eq(json_object_size(all), 30);
	json_object_del(document, "facets");
	ck_assert_int_eq(bu_stamp_open(document, public_pem, &stamp, &err), 0);
}
END_TEST

/* Each byte of the text, one at a time. */
START_TEST(one_byte_more_or_less_is_no_stamp)
{
	bu_autojson json_t *document = make();
	bu_autofree char *text = bu_xstrdup(bu_json_str(document, "text", ""));

	for (size_t i = 0; text[i]; i++) {
		bu_autojson json_t *altered = json_copy(document);

		text[i] ^= 1;
		json_object_set_new(altered, "text", json_string(text));
		refused(altered, "was altered, or another site's keys signed it");
		text[i] ^= 1;
	}
	json_object_set_new(document, "sig", json_string("00"));
	refused(document, "was altered");
}
END_TEST

START_TEST(other_texts_beside_it_are_refused)
{
	static const char *const names[] = {"facets", "full", "boot"};

	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autojson json_t *document = make();

		json_object_set_new(document, names[i], json_string("another"));
		refused(document, names[i]);
		json_object_del(document, names[i]);
		if (i)
			refused(document, names[i]);
	}
}
END_TEST

/* The same key signs anchors, and stamps of installs. */
START_TEST(another_signed_text_is_no_stamp)
{
	static const char *const kinds[] = {"anchor", "stamp"};

	json_decref(make());
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		bu_autojson json_t *body = NULL, *document = NULL;
		struct bu_stamp stamp;

		fill(&stamp);
		body = bu_stamp_to_json(&stamp);
		json_object_set_new(body, "kind", json_string(kinds[i]));
		document = sign(body);
		refused(document, "this is not a stamp: kind");
	}
}
END_TEST

START_TEST(of_tells_what_changed)
{
	struct bu_stamp stamp, other;

	fill(&stamp);
	fill(&other);
	other.seq = 99;
	other.time_ms = 99;
	bu_stamp_set_of(&other);
	ck_assert_str_eq(stamp.of, other.of);
	other.epoch++;
	bu_stamp_set_of(&other);
	ck_assert_str_ne(stamp.of, other.of);
	fill(&other);
	strcpy(other.boot_id, "b2");
	bu_stamp_set_of(&other);
	ck_assert_str_ne(stamp.of, other.of);
}
END_TEST

BU_UNIT("stamp", what_was_signed_is_read, one_byte_more_or_less_is_no_stamp,
	other_texts_beside_it_are_refused, another_signed_text_is_no_stamp,
	of_tells_what_changed)
