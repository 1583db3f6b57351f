/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of host keys, read by ssh-keygen; a CA's key of every wrong kind. */
#include "provisioner/trust/sshcert.h"

#include <string.h>

#include "base/file.h"
#include "tests/support/shell.h"

static char dir[] = "/tmp/bringup-sshcert-XXXXXX";
static const char *const names[] = {"node001", "node001.example.org", "10.77.0.11",
				    NULL};

static char *
line_of(const char *file)
{
	bu_autofree char *command = bu_xasprintf("cat %s", file);
	char *text = shell_told(dir, command);

	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void
make_keys(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	free(shell_told(
		dir,
		"for k in ca other host; do ssh-keygen -q -t ed25519 -N '' -C $k -f "
		"$k; done; ssh-keygen -q -t ed25519 -N secret -f locked; ssh-keygen "
		"-q -t ecdsa -N '' -f ecdsa; head -c 200 ca >cut; sed "
		"s/b3BlbnNzaC1rZXktdjEA/b3BlbnNzaC1rZXktdjIA/ ca >v2; { head -n 1 ca; "
		"grep -v ^- ca | base64 -d | LC_ALL=C sed "
		"s/ssh-ed25519/ssh-ed25518/g | base64; tail -n 1 ca; } >kind"));
}

START_TEST(ssh_keygen_reads_the_certificate)
{
	bu_autofree char *key = NULL, *public = NULL, *host = NULL, *line = NULL,
			 *again = NULL, *shown = NULL, *path = NULL, *want = NULL;
	struct bu_sshcert cert = {.id = "node001", .names = names};
	struct bu_err err;

	BU_NEEDS("ssh-keygen");
	make_keys();
	key = shell_told(dir, "cat ca");
	public = shell_told(dir,
			    "cat other.pub ca.pub | tr '\\n' ,; printf ssh-ed25519");
	host = line_of("host.pub");
	cert.ca_key = key;
	cert.ca_public = public;
	cert.host_key = host;
	line = bu_sshcert_make(&cert, &err);
	ck_assert_msg(line != NULL, "%s", err.text);
	again = bu_sshcert_make(&cert, &err);
	ck_assert_str_eq(line, again);
	path = bu_xasprintf("%s/host-cert.pub", dir);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s\n", line), 0);
	shown = shell_told(dir, "ssh-keygen -Lf host-cert.pub | sed 1d");
	want = shell_told(
		dir,
		"printf '        Type: ssh-ed25519-cert-v01@openssh.com host "
		"certificate\\n        Public key: ED25519-CERT %s\\n        Signing "
		"CA: ED25519 %s (using ssh-ed25519)\\n        Key ID: \"node001\"\\n  "
		"      Serial: 0\\n        Valid: forever\\n        Principals: \\n  "
		"              node001\\n                node001.example.org\\n        "
		"        10.77.0.11\\n        Critical Options: (none)\\n        "
		"Extensions: (none)\\n' $(ssh-keygen -lf host.pub | cut -d ' ' -f 2) "
		"$(ssh-keygen -lf ca.pub | cut -d ' ' -f 2)");
	ck_assert_str_eq(shown, want);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* It stands behind the type, 36 bytes or 48 digits of base64 from the begin. */
START_TEST(another_key_gets_another_nonce)
{
	bu_autofree char *key = NULL, *public = NULL;
	char *lines[3];
	const char *nonces[3];

	BU_NEEDS("ssh-keygen");
	make_keys();
	key = shell_told(dir, "cat ca");
	public = line_of("ca.pub");
	for (int i = 0; i < 3; i++) {
		bu_autofree char *host = line_of(i == 1 ? "other.pub" : "host.pub");
		struct bu_sshcert cert = {key, public, host, "node001", names};

		lines[i] = bu_sshcert_make(&cert, NULL);
		ck_assert_ptr_nonnull(lines[i]);
		nonces[i] = strchr(lines[i], ' ') + 1 + 48;
	}
	ck_assert_int_eq(strncmp(nonces[0] - 48, nonces[1] - 48, 48), 0);
	ck_assert_int_ne(strncmp(nonces[0], nonces[1], 48), 0);
	ck_assert_str_eq(lines[0], lines[2]); /* the same is the same again */
	for (int i = 0; i < 3; i++)
		free(lines[i]);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* file of the CA's key, file of its public half, of the host's: what is said */
static const char *const wrongs[][4] = {
	{"ca", "other.pub", "host.pub", "does not name the public half"},
	{"locked", "locked.pub", "host.pub", "it has a passphrase"},
	{"ecdsa", "ecdsa.pub", "host.pub", "it is not an Ed25519 key"},
	{"kind", "ca.pub", "host.pub", "it is not an Ed25519 key"},
	{"cut", "ca.pub", "host.pub", "it is not a private key of OpenSSH"},
	{"v2", "ca.pub", "host.pub", "it is not a private key of OpenSSH"},
	{"ca.pub", "ca.pub", "host.pub", "it is not a private key of OpenSSH"},
	{"ca", "ca.pub", "ecdsa.pub", "ssh-ed25519 is wanted"},
	{"ca", "ca.pub", "ca", "the host key"},
};

START_TEST(wrong_keys_sign_nothing)
{
	BU_NEEDS("ssh-keygen");
	make_keys();
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		bu_autofree char *command = bu_xasprintf("cat %s", wrongs[i][0]);
		bu_autofree char *key = shell_told(dir, command);
		bu_autofree char *public = line_of(wrongs[i][1]);
		bu_autofree char *host = line_of(wrongs[i][2]);
		struct bu_sshcert cert = {key, public, host, "node001", names};
		struct bu_err err = {0};

		ck_assert_ptr_null(bu_sshcert_make(&cert, &err));
		ck_assert_msg(strstr(err.text, wrongs[i][3]) != NULL, "%s: %s",
			      wrongs[i][0], err.text);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("sshcert", ssh_keygen_reads_the_certificate, another_key_gets_another_nonce,
	wrong_keys_sign_nothing)
