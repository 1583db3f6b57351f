/* SPDX-License-Identifier: Apache-2.0 */
/* What an imported system must have and must not, one change at a time. */
#include "images/build/check_root.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

#define SSHD_CONFIG "# comment\n\nInclude /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n"

static char root[40];

static char *
in(const char *name)
{
	return bu_xasprintf("%s/%s", root, name);
}

static void
put(const char *name, mode_t mode)
{
	bu_autofree char *path = in(name);
	bu_autofree char *folder = bu_xstrdup(path);

	*strrchr(folder, '/') = '\0';
	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, "x", 1, mode, NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static void
put_text(const char *name, const void *text, size_t size, mode_t mode)
{
	bu_autofree char *path = in(name);

	put(name, mode);
	ck_assert_int_eq(bu_file_write(path, text, size, mode, NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static void
drop(const char *name)
{
	bu_autofree char *path = in(name);

	ck_assert_int_eq(unlink(path), 0);
}

static void
link_to(const char *name, const char *target)
{
	bu_autofree char *path = in(name);

	ck_assert_int_eq(symlink(target, path), 0);
}

/* As Debian is: merged /usr, init a link. */
static void
setup(void)
{
	strcpy(root, "/tmp/bringup-root-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("usr/bin/sh", 0755);
	put("usr/bin/systemctl", 0755);
	put("usr/sbin/sshd", 0755);
	put("usr/lib/systemd/systemd", 0755);
	put("usr/lib/modules/6.1/modules.dep", 0644);
	put("boot/vmlinuz-6.1", 0644);
	put("etc/shadow", 0640);
	put_text("etc/ssh/sshd_config", SSHD_CONFIG, strlen(SSHD_CONFIG), 0644);
	link_to("bin", "usr/bin");
	link_to("sbin", "usr/sbin");
	link_to("lib", "/usr/lib");
	link_to("usr/sbin/init", "/lib/systemd/systemd");
}

static void
expect(const char *why)
{
	struct bu_err err = {0};
	struct bu_root_kernel kernel;
	int rc = bu_check_root(root, &kernel, &err);

	ck_assert_msg(rc == (why ? -1 : 0), "%s", err.text);
	if (why) {
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		ck_assert_msg(strstr(err.text, why) != NULL, "%s: %s", why, err.text);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
	setup();
}

START_TEST(what_a_node_needs_is_named)
{
	static const struct {
		const char *gone, *why;
	} rows[] = {
		{"usr/sbin/init", "no init"},
		{"usr/lib/systemd/systemd", "no init"},
		{"usr/bin/sh", "no shell"},
		{"usr/bin/systemctl", "no systemd"},
		{"usr/sbin/sshd", "no sshd"},
		{"boot/vmlinuz-6.1", "modules of 6.1 without their kernel"},
		{"usr/lib/modules/6.1/modules.dep", "run depmod"},
		{"lib", "no kernel in /lib/modules"},
	};

	setup();
	expect(NULL);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		drop(rows[i].gone);
		expect(rows[i].why);
	}
	put("usr/lib/modules/6.2/modules.dep", 0644);
	put("boot/vmlinuz-6.2", 0644);
	expect(NULL);
	/* all at once */
	drop("usr/sbin/sshd");
	drop("usr/bin/systemctl");
	expect("no systemd (usr/bin/systemctl), which runs the agent; no sshd");
	put("usr/bin/sh", 0644);
	expect("no shell");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* The profile's rules come first, or sshd has others. */
START_TEST(sshd_reads_the_rules_of_the_profile)
{
	static const struct {
		const char *config;
		int good;
	} rows[] = {
		{"", 0},
		{"UsePAM yes\n", 0},
		{"#Include /etc/ssh/sshd_config.d/*.conf\n", 0},
		{"Port 22\nInclude /etc/ssh/sshd_config.d/*.conf\n", 1},
		{"permitRootLogin yes\nInclude /etc/ssh/sshd_config.d/*.conf\n", 0},
		{"\tMatch user x\nInclude /etc/ssh/sshd_config.d/*.conf\n", 0},
		{"Include /etc/crypto-policies/sshd.config\n", 0},
		{"Include /etc/crypto-policies/sshd.config\n"
		 "  include sshd_config.d/*.conf",
		 1},
		{"INCLUDE \"/etc/ssh/sshd_config.d/*.conf\"\nUsePAM yes\n", 1},
	};
	static const char path[] = "etc/ssh/sshd_config";
	static const char why[] =
		"/etc/ssh/sshd_config has no Include /etc/ssh/sshd_config.d/*.conf";

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put_text(path, rows[i].config, strlen(rows[i].config), 0644);
		expect(rows[i].good ? NULL : why);
	}
	drop(path);
	expect(why);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(secrets_are_named)
{
	static const struct {
		const char *name;
		mode_t mode;
		const char *why; /* NULL = it is none */
	} rows[] = {
		{"etc/shadow", 0644, "/etc/shadow: password hashes, open to everybody"},
		{"etc/gshadow", 0604, "/etc/gshadow"},
		{"root/.ssh/id_ed25519", 0600, "a private key must not be in an image"},
		{"root/.ssh/id_ed25519.pub", 0644, NULL},
		{"root/.ssh/authorized_keys", 0644, NULL},
		{"etc/ssl/private/web.key", 0644, "a private key, open to everybody"},
		{"etc/ssl/private/web.key", 0640, NULL},
		{"etc/sudoers.d/all", 0666, "sudo rules, open to everybody"},
		{"etc/sudoers.d/all", 0440, NULL},
		{"root/.netrc", 0600, "passwords must not be in an image"},
		{"root/.docker/config.json", 0600, "passwords of registries"},
	};

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put(rows[i].name, rows[i].mode);
		expect(rows[i].why);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(private_keys_are_found_wherever_they_are)
{
	static const char key[] = "# ours\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\n";
	static const char cert[] = "-----BEGIN CERTIFICATE-----\nAAAA\n";
	static const struct {
		const char *name;
		mode_t mode;
		int found;
	} rows[] = {
		{"etc/kubernetes/pki/ca.key", 0644, 1},
		{"etc/kubernetes/pki/ca.key", 0640, 0},
		{"opt/site/deep/er/conf.d/all.pem", 0604, 1},
		{"home/alice/notes", 0644, 1},
		{"usr/share/doc/example.key", 0644, 0}, /* everybody has that one */
	};
	bu_autofree char *closed = NULL;

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *why = bu_xasprintf(
			"/%s: a private key, open to everybody", rows[i].name);

		put_text(rows[i].name, key, strlen(key), rows[i].mode);
		expect(rows[i].found ? why : NULL);
	}
	put_text("etc/ssl/ca.pem", cert, strlen(cert), 0644);
	expect(NULL);
	put_text("root/site.key", key, strlen(key), 0644);
	closed = in("root");
	ck_assert_int_eq(chmod(closed, 0700), 0);
	expect(NULL);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* As the boot protocol of x86 has it: "HdrS", and where the version's text is. */
START_TEST(a_kernel_under_another_ones_name_is_found)
{
	char kernel[0x400] = "";

	memcpy(kernel + 0x202, "HdrS", 4);
	kernel[0x20e] = 0x10;
	kernel[0x20f] = 0x01;
	strcpy(kernel + 0x310, "6.1 (gcc) #1 SMP");
	setup();
	put_text("boot/vmlinuz-6.1", kernel, sizeof(kernel), 0644);
	expect(NULL);
	strcpy(kernel + 0x310, "6.1-rt (gcc) #1 SMP");
	put_text("boot/vmlinuz-6.1", kernel, sizeof(kernel), 0644);
	expect("/boot/vmlinuz-6.1 is kernel 6.1-rt");
	put_text("boot/vmlinuz-6.1", kernel, 0x20f, 0644);
	expect(NULL);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* A link out of the system shows nothing of this machine. */
START_TEST(links_stay_inside)
{
	setup();
	drop("usr/bin/sh");
	link_to("usr/bin/sh", "../../../../../../bin/sh");
	expect("no shell");
	drop("lib");
	link_to("lib", "/proc/self/root/usr/lib");
	expect("no kernel");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("check_root", what_a_node_needs_is_named, sshd_reads_the_rules_of_the_profile,
	secrets_are_named, private_keys_are_found_wherever_they_are,
	a_kernel_under_another_ones_name_is_found, links_stay_inside)
