/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys as ssh-keygen writes them, and what is none. ssh-keygen is the judge. */
#include "model/sshkey.h"

#include <string.h>

#include "base/file.h"
#include "tests/support/shell.h"

static char dir[] = "/tmp/bringup-sshkey-XXXXXX";

/* The first line that the command prints; owned. */
static char *
told(const char *command)
{
	char *out = shell_told(dir, command);

	out[strcspn(out, "\n")] = '\0';
	return out;
}

START_TEST(reads_what_ssh_keygen_makes)
{
	static const char *const kinds[] = {"ed25519",      "ecdsa -b 256",
					    "ecdsa -b 384", "ecdsa -b 521",
					    "rsa -b 2048",  "rsa -b 4096"};

	BU_NEEDS("ssh-keygen");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		bu_autofree char *make = bu_xasprintf(
			"rm -f k k.pub; ssh-keygen -q -t %s -N '' -C me@x -f k; cat k.pub",
			kinds[i]);
		bu_autofree char *line = told(make);
		bu_autofree char *want = told("ssh-keygen -lf k.pub | cut -d ' ' -f 2");
		bu_autofree char *private = told("tr -d '\\n' <k");
		bu_autofree char *cut = bu_xstrndup(line, strlen(line) - 20);
		char print[BU_SSHKEY_FINGERPRINT_SIZE];
		struct bu_sshkey key;
		struct bu_err err = {0};

		ck_assert_msg(bu_sshkey_parse(line, &key, &err) == 0, "%s: %s",
			      kinds[i], err.text);
		bu_sshkey_fingerprint(&key, print);
		ck_assert_str_eq(print, want);
		ck_assert_int_ne(bu_sshkey_parse(cut, &key, &err), 0);
		ck_assert_int_ne(bu_sshkey_parse(private, &key, &err), 0);
		ck_assert_ptr_nonnull(strstr(err.text, "is a private key"));
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

#define GOOD "AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXMh"

/* What people paste instead, and what they are told. */
static const char *const wrongs[][2] = {
	{"-----BEGIN OPENSSH PRIVATE KEY-----", "is a private key"},
	{"-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEA", "is a private key"},
	{"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ", "is a private key"},
	{"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
	 "is a private key"},
	{"", "is not a public key"},
	{"ssh-ed25519", "is not a public key"},
	{GOOD, "is not a public key"},
	{"from=\"10.0.0.1\" ssh-ed25519 " GOOD, "has options before the type"},
	{"no-pty,command=\"/usr/bin/rsync a b, and all that is behind it\" ssh-rsa "
	 "AAAAB3NzaC1yc2EAAAADAQAB",
	 "has options before the type"},
	{"ssh-dss " GOOD, "is not a type of key"},
	{"ssh-rsa " GOOD, "is not a key of the type ssh-rsa"},
	{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZQ", "is cut off"},
	{"ssh-ed25519 " GOOD "AAAA", "is cut off or has something behind"},
	{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAHnNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZQ==",
	 "of 30 bytes; allowed are 32 to 32"},
	{"ssh-ed25519 AAAA*bad", "are not base64"},
};

START_TEST(says_what_is_wrong_and_shows_no_secret)
{
	struct bu_sshkey key;
	struct bu_err err;

	ck_assert_int_eq(bu_sshkey_parse("ssh-ed25519 " GOOD " a b", &key, &err), 0);
	ck_assert_uint_eq(key.size, 51);
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		err.text[0] = '\0';
		ck_assert_int_eq(bu_sshkey_parse(wrongs[i][0], &key, &err), -1);
		ck_assert_msg(strstr(err.text, wrongs[i][1]) != NULL, "%s: %s",
			      wrongs[i][0], err.text);
		ck_assert_ptr_null(strstr(err.text, "b3Blbn"));
		ck_assert_ptr_null(strstr(err.text, "MIIE"));
	}
}
END_TEST

#define ED "ssh-ed25519 " GOOD
#define DSS "AAAAB3NzaC1kc3MAAACBAP1"

/* A list, and its items with '|' between them. */
static const char *const lists[][2] = {
	{ED, ED},
	{ED " a@x," ED " b", ED " a@x|" ED " b"},
	{" " ED " a@x , \t" ED "\tb ", ED " a@x|" ED "\tb"},
	{ED " Doe, John", ED " Doe, John"},
	{ED " Doe, John (laptop, old)," ED " Roe, Jane",
	 ED " Doe, John (laptop, old)|" ED " Roe, Jane"},
	{ED " a, the key of b," ED, ED " a, the key of b|" ED},
	{ED " a,, b", ED " a,, b"},
	/* What is not a comment is not taken for one. */
	{ED ", John", ED "|John"},
	{ED ",", ED "|"},
	{ED " a, ssh-rsa cut", ED " a|ssh-rsa cut"},
	{ED " a, ssh-dss " DSS " b", ED " a|ssh-dss " DSS " b"},
	{ED " a, no-pty " ED " b", ED " a|no-pty " ED " b"},
	{ED " a, " GOOD, ED " a|" GOOD},
	{ED " a, -----BEGIN OPENSSH PRIVATE KEY-----",
	 ED " a|-----BEGIN OPENSSH PRIVATE KEY-----"},
	{"file:keys.d/a, file:keys.d/b", "file:keys.d/a|file:keys.d/b"},
	{ED " a, file:keys.d/b," ED, ED " a|file:keys.d/b|" ED},
	/* By lines: all behind a key is its comment. */
	{ED " a, " ED " b\n", ED " a, " ED " b"},
	{ED " a\n" ED "\n" ED " c, d\n", ED " a|" ED "|" ED " c, d"},
};

START_TEST(a_comma_in_a_comment_does_not_end_the_key)
{
	for (size_t i = 0; i < BU_LEN(lists); i++) {
		const char *rest = lists[i][0];
		bu_autofree char *all = NULL;
		char *item;

		for (int first = 1; (item = bu_sshkey_next(&rest)); first = 0) {
			char *more = bu_xasprintf("%s%s%s", all ? all : "",
						  first ? "" : "|", item);

			free(all);
			free(item);
			all = more;
		}
		ck_assert_ptr_null(rest);
		ck_assert_str_eq(all, lists[i][1]);
	}
}
END_TEST

BU_UNIT("sshkey", a_comma_in_a_comment_does_not_end_the_key,
	reads_what_ssh_keygen_makes, says_what_is_wrong_and_shows_no_secret)
