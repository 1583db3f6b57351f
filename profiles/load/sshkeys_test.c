/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys in files of the tree: what is taken, and what is told of the others. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/text.h"
#include "model/sshkey.h"
#include "profiles/export/export.h"
#include "profiles/export/facets.h"
#include "profiles/load/load.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define KEY                                                                            \
	"ssh-ed25519 "                                                                 \
	"AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXMh"
#define PRINT "SHA256:e6oRRkJ7FOAlYBuxp6pdqewdjPLSGG3k83NZQlZFaTI"
#define PRIVATE                                                                        \
	"is a private key; put the .pub file in its place, and make a new key: "       \
	"everyone with read access to the tree has this one\n"

/* The good profile, alice with these keys, and a file of the tree. */
static char *
load(const char *keys, const char *path, const char *text, struct bu_desired **ret)
{
	bu_autofree char *site = bu_xasprintf("%s[user alice]\nuid = 2001\nkeys = %s\n",
					      bu_testing_site, keys);

	return bu_testing_load(bu_testing_tree("site.ini", site, "racks.csv",
					       bu_testing_racks, path, text, NULL),
			       ret);
}

/* As a plan compares them; owned. */
static char *
facet_of(const struct bu_desired *desired)
{
	struct bu_facets facets = {0};
	const struct bu_facet *facet;
	char *value;

	bu_facets_collect(&facets, desired, &desired->nodes[0]);
	facet = bu_facets_find(&facets, "user.alice.keys");
	value = bu_xstrdup(facet ? facet->value : "");
	bu_facets_clear(&facets);
	return value;
}

/* A public key of 4,096 bits; owned. */
static char *
rsa(uint8_t digit)
{
	static const uint8_t head[] = "\0\0\0\7ssh-rsa\0\0\0\3\1\0\1\0\0\2\1";
	uint8_t blob[sizeof(head) + 512];
	bu_autofree char *text = NULL;

	memset(blob, digit, sizeof(blob));
	memcpy(blob, head, sizeof(head)); /* its NUL is the number's first byte */
	text = bu_base64_encode(blob, sizeof(blob));
	return bu_xasprintf("ssh-rsa %s alice@%d", text, digit);
}

START_TEST(two_rsa_keys_are_too_long_for_a_line_and_a_file_takes_them)
{
	bu_autofree char *one = rsa(1), *two = rsa(2);
	bu_autofree char *line = bu_xasprintf("%s, %s", one, two);
	bu_autofree char *file = bu_xasprintf("# alice\n%s\r\n\n  %s", one, two);
	bu_autofree char *want = bu_xasprintf("%s\n%s\n", one, two);
	struct bu_desired *desired;
	bu_autofree char *refused = load(line, "a.csv", "", &desired);

	ck_assert_str_eq(refused,
			 "site.ini:39: [user alice] keys: the line is longer than 1000 "
			 "bytes; put the keys into a file of the tree, a line each, "
			 "and say keys = file:keys.d/NAME\n");
	bu_autofree char *said =
		load("file:keys.d/alice", "keys.d/alice", file, &desired);

	ck_assert_str_eq(said, "");
	ck_assert_str_eq(desired->users[0].keys, want);

	bu_autofree char *facet = facet_of(desired);

	ck_assert_uint_eq(strlen(facet), 2 * (BU_SSHKEY_FINGERPRINT_SIZE - 1) + 1);
	bu_desired_destroy(desired);
}
END_TEST

/* value: of keys; kept: what the desired state has. */
static const struct {
	const char *value, *kept;
} taken[] = {
	{KEY " Doe, John (laptop)", KEY " Doe, John (laptop)"},
	{KEY " Doe, John , " KEY " Doe, Jane", KEY " Doe, John," KEY " Doe, Jane"},
	{KEY "  a@x ,  " KEY, KEY "  a@x," KEY},
	{"file:keys.d/a.pub", KEY " Doe, John\n" KEY " b\n"},
	{"file:keys.d/a.pub, " KEY " c, d",
	 KEY " Doe, John\n" KEY " b\n" KEY " c, d\n"},
};

START_TEST(keys_are_taken_with_their_comments)
{
	for (size_t i = 0; i < BU_LEN(taken); i++) {
		struct bu_desired *desired;
		bu_autofree char *said =
			load(taken[i].value, i < 3 ? "other.csv" : "keys.d/a.pub",
			     "\xef\xbb\xbf" KEY " Doe, John\n" KEY " b\n", &desired);

		ck_assert_msg(desired != NULL, "%s", said);
		ck_assert_str_eq(said, "");
		ck_assert_str_eq(desired->users[0].keys, taken[i].kept);
		bu_desired_destroy(desired);
	}
}
END_TEST

/* value: of keys; text: of keys.d/alice */
static const struct {
	const char *value, *text, *want;
} wrongs[] = {
	{"file:keys.d/alice", "# none\n\n",
	 "keys.d/alice:1: [user alice] keys: holds no key; put in a key a line, as .pub "
	 "files have them\n"},
	{"file:keys.d/alice", KEY " a\n\n" KEY "AAAA b\n" KEY "\n",
	 "keys.d/alice:3: [user alice] keys: is cut off or has something behind the key; "
	 "paste the whole line of the .pub file\n"},
	{"file:keys.d/alice", "from=\"10.0.0.0/8\" " KEY " a\n",
	 "keys.d/alice:1: [user alice] keys: has options before the type of the key; "
	 "take them out, a profile has keys without options\n"},
	{"file:keys.d/alice", KEY " a, " KEY " b\n",
	 "keys.d/alice:1: [user alice] keys: has a comma and another key behind a key; a "
	 "file of keys has a key a line\n"},
	{"file:keys.d/alice", KEY " a\x01\n",
	 "keys.d/alice:1: [user alice] keys: holds a control character; a file of keys "
	 "is plain text\n"},
	{"file:keys.d/alice",
	 "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n"
	 "-----END OPENSSH PRIVATE KEY-----\n",
	 "keys.d/alice:1: [user alice] keys: " PRIVATE},
	{"file:keys.d/alice",
	 "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n",
	 "keys.d/alice:1: [user alice] keys: is not in the form of OpenSSH; take what "
	 "`ssh-keygen -i -f FILE` prints\n"},
	{KEY " a", "-----BEGIN RSA PRIVATE KEY-----\n", "keys.d/alice:1: " PRIVATE},
	{KEY " a", KEY "\n",
	 "keys.d/alice: warning: is not read; no [user] keys and no CA of [access] names "
	 "it\n"},
	{"file:keys.d/alcie", KEY "\n",
	 "keys.d/alice: warning: is not read; no [user] keys and no CA of [access] names "
	 "it\n"
	 "site.ini:39: [user alice] keys: there is no file keys.d/alcie in the profile "
	 "tree (did you mean 'keys.d/alice'?)\n"},
	{"file:keys.d/alice, file:/etc/keys", KEY "\n",
	 "site.ini:39: [user alice] keys: 'file:/etc/keys' is wrong; allowed is "
	 "file:keys.d/NAME, a file in the folder keys.d/ of the profile tree, its name "
	 "not *.ini or *.csv\n"},
	{"file:keys.d/alice, file:keys.d/../site.ini", KEY "\n",
	 "site.ini:39: [user alice] keys: 'file:keys.d/../site.ini' is wrong; allowed is "
	 "file:keys.d/NAME, a file in the folder keys.d/ of the profile tree, its name "
	 "not *.ini or *.csv\n"},
	{"file:keys.d/alice, ssh-ed25519 cut", KEY "\n",
	 "site.ini:39: [user alice] keys: is cut off or changed: its 3 characters after "
	 "ssh-ed25519 are not base64; paste the whole line of the .pub file\n"},
};

START_TEST(a_wrong_file_of_keys_has_one_finding_a_cause)
{
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		struct bu_desired *desired;
		bu_autofree char *said =
			load(wrongs[i].value, "keys.d/alice", wrongs[i].text, &desired);

		bu_desired_destroy(desired);
		ck_assert_str_eq(said, wrongs[i].want);
	}
}
END_TEST

START_TEST(a_list_has_a_greatest_length)
{
	bu_autofree char *text = bu_xmalloc(202 * sizeof(KEY));
	struct bu_desired *desired;
	char *to = text;

	for (int i = 0; i < 102; i++)
		to += sprintf(to, KEY "\n");

	bu_autofree char *said =
		load("file:keys.d/alice", "keys.d/alice", text, &desired);

	ck_assert_str_eq(
		said, "keys.d/alice:101: [user alice] keys: is one key too many; a "
		      "list has at most 100, more log in by certificates of [access] "
		      "user_ca\n");
	text[100 * sizeof(KEY)] = '\0';
	free(said);
	said = load("file:keys.d/alice", "keys.d/alice", text, &desired);
	ck_assert_str_eq(said, "");
	bu_desired_destroy(desired);
}
END_TEST

/* By their fingerprints a dozen keys are longer than any other value. */
START_TEST(a_dozen_keys_are_compared_as_a_few_are)
{
	static const char few[] = PRINT "," PRINT;
	bu_autofree char *keys = bu_xstrdup(KEY), *before = NULL;

	for (size_t i = 2; i <= 14; i++) {
		char *more = bu_xasprintf(i <= 12 ? "%s," KEY : "%s\n" KEY "\n", keys);
		struct bu_desired *desired;
		bu_autofree char *said =
			i <= 12 ? load(more, "a.csv", "", &desired)
				: load("file:keys.d/a", "keys.d/a", more, &desired);
		char *facet;

		free(keys);
		keys = more;
		if (i == 12) {
			for (char *p = keys; *p; p++)
				*p = *p == ',' ? '\n' : *p;
		}
		ck_assert_msg(desired != NULL, "%s", said);
		facet = facet_of(desired);
		bu_desired_destroy(desired);
		if (i == 2)
			ck_assert_str_eq(facet, few);
		if (i == 12)
			ck_assert_ptr_eq(strstr(facet, "12 keys, together "), facet);
		ck_assert(!before || strcmp(before, facet) != 0);
		free(before);
		before = facet;
	}
}
END_TEST

START_TEST(of_many_keys_each_one_counts)
{
	char *facets[2];

	for (int i = 0; i < 2; i++) {
		bu_autofree char *last = rsa((uint8_t)i), *text = NULL;
		struct bu_desired *desired;

		for (int j = 0; j < 20; j++)
			bu_text_add(&text, "\n", "%s", KEY);
		bu_text_add(&text, "\n", "%s", last);

		bu_autofree char *said =
			load("file:keys.d/a", "keys.d/a", text, &desired);

		ck_assert_str_eq(said, "");
		facets[i] = facet_of(desired);
		bu_desired_destroy(desired);
	}
	ck_assert_str_ne(facets[0], facets[1]);
	free(facets[0]);
	free(facets[1]);
}
END_TEST

BU_UNIT("sshkeys", of_many_keys_each_one_counts,
	two_rsa_keys_are_too_long_for_a_line_and_a_file_takes_them,
	keys_are_taken_with_their_comments,
	a_wrong_file_of_keys_has_one_finding_a_cause, a_list_has_a_greatest_length,
	a_dozen_keys_are_compared_as_a_few_are)
