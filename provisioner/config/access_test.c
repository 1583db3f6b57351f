/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a profile's users, judged by the programs that read them: sshd -t and
 * -T, visudo, ssh; and the image's own script, which makes them accounts of a system.
 */
#include "provisioner/config/access.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "provisioner/config/render.h"
#include "tests/support/profiles.h"
#include "tests/support/shell.h"

#define KEY                                                                            \
	"ssh-ed25519 "                                                                 \
	"AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXMh"
#define PEOPLE                                                                         \
	"[access]\nuser_ca = " KEY " ca\nhost_ca = " KEY " hosts, " KEY " next\n"      \
	"host_ca_key = file:/etc/bringup/ca\n"                                         \
	"[group hpc]\ngid = 3000\n"                                                    \
	"[group admin]\ngid = 3001\nsudo = all\n"                                      \
	"[user alice]\nuid = 2001\ngroups = hpc, admin\nkeys = " KEY " a@x, " KEY      \
	" b, c\n"                                                                      \
	"[user bob]\nuid = 2002\ngroup = hpc\nhome = /data/bob\nshell = /bin/sh\n"     \
	"sudo = /usr/bin/systemctl restart slurmd, /usr/sbin/reboot\n"

static char root[] = "/tmp/bringup-access-XXXXXX";
static struct bu_desired *desired;
static const char *password;

static struct bu_config *
render(const char *people)
{
	bu_autofree char *site = bu_xasprintf("%s%s", bu_testing_site, people);
	bu_autofree char *found = bu_testing_check(site, bu_testing_racks, &desired);
	struct bu_config *config = bu_xcalloc(1, sizeof(*config));

	ck_assert_msg(desired != NULL, "%s", found);
	bu_config_access(&(struct bu_config_input){.desired = desired,
						   .directory_ca = "CERTIFICATES\n",
						   .directory_key = password},
			 config);
	return config;
}

static void
done(struct bu_config *config)
{
	bu_config_destroy(config);
	bu_desired_destroy(desired);
}

/* As the agent puts them, below root. */
static void
put_files(const struct bu_config *config)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct bu_config_file *file = &config->files[i];
		bu_autofree char *path = bu_xasprintf("%s%s", root, file->path);
		bu_autofree char *dir =
			bu_xstrndup(path, (size_t)(strrchr(path, '/') - path));

		ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
		ck_assert_int_eq(bu_file_write(path, file->content, file->size,
					       file->mode, NULL),
				 0);
	}
}

static const char *
text_of(const struct bu_config *config, const char *path)
{
	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->files[i].path, path) == 0)
			return config->files[i].content;
	return NULL;
}

static void
says(const char *command, const char *want)
{
	bu_autofree char *got = shell_told(root, command);

	ck_assert_str_eq(got, want);
}

#define HEAD BU_CONFIG_HEAD

START_TEST(renders_accounts_keys_rules_and_sshd)
{
	struct bu_config *config = render(PEOPLE);
	static const char *const want[][2] = {
		{"/etc/bringup/group",
		 "hpc:x:3000:alice\nadmin:x:3001:alice\nalice:x:2001:\n"},
		{"/etc/bringup/passwd", "alice:x:2001:2001::/home/alice:/bin/bash\n"
					"bob:x:2002:3000::/data/bob:/bin/sh\n"},
		{"/etc/sudoers.d/bringup",
		 HEAD "%admin ALL=(root) NOPASSWD: ALL\nbob ALL=(root) NOPASSWD: "
		      "/usr/bin/systemctl restart slurmd,/usr/sbin/reboot\n"},
		{"/etc/ssh/bringup_keys/alice", HEAD KEY " a@x\n" KEY " b, c\n"},
		{"/etc/ssh/bringup_user_ca.pub", KEY " ca\n"},
		{"/etc/ssh/sshd_config.d/10-bringup.conf",
		 HEAD "PermitRootLogin no\nPasswordAuthentication no\n"
		      "KbdInteractiveAuthentication no\n"
		      "AuthorizedKeysFile /etc/ssh/bringup_keys/%u\n"
		      "HostKey /etc/ssh/ssh_host_ed25519_key\n"
		      "HostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub\n"
		      "TrustedUserCAKeys /etc/ssh/bringup_user_ca.pub\n"
		      "AllowUsers alice\nAllowUsers bob\n"},
		{"/etc/ssh/bringup_known_hosts", HEAD
		 "@cert-authority * " KEY " hosts\n@cert-authority * " KEY " next\n"},
		{"/etc/ssh/ssh_config.d/10-bringup.conf",
		 HEAD "GlobalKnownHostsFile /etc/ssh/ssh_known_hosts "
		      "/etc/ssh/bringup_known_hosts\n"},
	};

	for (size_t i = 0; i < BU_LEN(want); i++)
		ck_assert_str_eq(text_of(config, want[i][0]), want[i][1]);
	ck_assert_uint_eq(config->count, BU_LEN(want));
	done(config);
}
END_TEST

/* Nobody may log in: then no sshd is configured, and none runs. */
START_TEST(without_keys_there_is_no_sshd)
{
	struct bu_config *config = render("[user job]\nuid = 2001\n");

	ck_assert_uint_eq(config->count, 2);
	ck_assert_ptr_nonnull(text_of(config, "/etc/bringup/passwd"));
	done(config);
	config = render("");
	ck_assert_uint_eq(config->count, 0);
	done(config);
}
END_TEST

START_TEST(each_user_has_its_rule)
{
	struct bu_config *config = render("[user ann]\nuid = 2001\nsudo = all\n");

	ck_assert_str_eq(text_of(config, "/etc/sudoers.d/bringup"),
			 HEAD "ann ALL=(root) NOPASSWD: ALL\n");
	done(config);
}
END_TEST

/* All of these lie below /etc on a node; what matches no pattern would stay there when
 * the profile does not say it any more. */
START_TEST(each_file_goes_with_what_it_says)
{
	struct bu_config *config = render(PEOPLE);

	for (size_t i = 0; i < config->count; i++) {
		const char *path = config->files[i].path;
		size_t found = 0;

		for (size_t j = 0; bu_config_patterns[j]; j++) {
			const char *pattern = bu_config_patterns[j];
			size_t size = strcspn(pattern, "*");

			found += strncmp(path, pattern, size) == 0 &&
				 (pattern[size] || !path[size]);
		}
		ck_assert_msg(found == 1, "%s", path);
	}
	done(config);
}
END_TEST

START_TEST(sshd_visudo_and_ssh_take_the_files)
{
	struct bu_config *config;

	BU_NEEDS("root", "ssh-keygen", "/usr/sbin/sshd", "/usr/sbin/visudo");
	config = render(PEOPLE);
	ck_assert_ptr_nonnull(mkdtemp(root));
	put_files(config);
	free(shell_told(
		root,
		"mkdir -p /run/sshd && ssh-keygen -q -t ed25519 -N '' -f "
		"etc/ssh/ssh_host_ed25519_key && sed \"s#/etc/ssh/#$PWD/etc/ssh/#\" "
		"etc/ssh/sshd_config.d/10-bringup.conf >sshd.conf && "
		"/usr/sbin/sshd -t -f $PWD/sshd.conf"));
	says("/usr/sbin/sshd -T -f $PWD/sshd.conf | grep -E '^(permitroot|passworda|"
	     "kbdint|allowusers|authorizedkeysf)' | sed \"s#$PWD##\" | sort",
	     "allowusers alice\nallowusers bob\n"
	     "authorizedkeysfile /etc/ssh/bringup_keys/%u\n"
	     "kbdinteractiveauthentication no\npasswordauthentication no\n"
	     "permitrootlogin no\n");
	says("/usr/sbin/visudo -c -f etc/sudoers.d/bringup",
	     "etc/sudoers.d/bringup: parsed OK\n");
	says("ssh -G -F etc/ssh/ssh_config.d/10-bringup.conf x | grep ^globalknown",
	     "globalknownhostsfile /etc/ssh/ssh_known_hosts "
	     "/etc/ssh/bringup_known_hosts\n");
	says("ssh-keygen -lf etc/ssh/bringup_keys/alice | wc -l", "2\n");
	done(config);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

#define SCRIPT "sh " BU_SRCDIR "/images/build/recipes/access $PWD"

static void
make_system(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	free(shell_told(
		root,
		"mkdir -p etc/bringup var/lib && "
		"printf 'root:x:0:0::/root:/bin/bash\\nmunge:x:104:104::/:/x\\n' "
		">etc/passwd && printf 'root:!:1::::::\\nmunge:!:1::::::\\n' "
		">etc/shadow && printf 'root:x:0:\\nvideo:x:44:\\n' >etc/group && "
		"printf 'root:*::\\nvideo:!::\\n' >etc/gshadow && "
		"chmod 640 etc/shadow etc/gshadow"));
}

START_TEST(the_script_makes_and_removes_accounts)
{
	struct bu_config *config;

	BU_NEEDS("root");
	make_system();
	config = render(PEOPLE);
	put_files(config);
	done(config);
	for (int i = 0; i < 2; i++) { /* as at each start */
		free(shell_told(root, SCRIPT));
		says("cat etc/passwd", "root:x:0:0::/root:/bin/bash\n"
				       "munge:x:104:104::/:/x\n"
				       "alice:x:2001:2001::/home/alice:/bin/bash\n"
				       "bob:x:2002:3000::/data/bob:/bin/sh\n");
		says("cat etc/shadow", "root:!:1::::::\nmunge:!:1::::::\n"
				       "alice:*:::::::\nbob:*:::::::\n");
		says("cat etc/group",
		     "root:x:0:\nvideo:x:44:\nhpc:x:3000:alice\nadmin:x:3001:alice\n"
		     "alice:x:2001:\n");
		says("cat etc/gshadow", "root:*::\nvideo:!::\nhpc:*::alice\n"
					"admin:*::alice\nalice:*::\n");
		says("stat -c '%a %u %g' etc/shadow home/alice data/bob",
		     "640 0 0\n700 2001 2001\n700 2002 3000\n");
	}
	says("/usr/sbin/pwck -rq -R $PWD 2>&1 | grep -v 'directory\\|program' || :",
	     "");
	/* A user who goes, another uid for one who stays. */
	config = render("[user bob]\nuid = 2003\n");
	put_files(config);
	done(config);
	free(shell_told(root, "touch home/alice/thesis && " SCRIPT));
	says("cut -d: -f1,3 etc/passwd", "root:0\nmunge:104\nbob:2003\n");
	says("cut -d: -f1 etc/shadow", "root\nmunge\nbob\n");
	says("cut -d: -f1,3 etc/group", "root:0\nvideo:44\nbob:2003\n");
	says("ls home/alice", "thesis\n");
	free(shell_told(root, "rm etc/bringup/* && " SCRIPT));
	says("cat etc/passwd", "root:x:0:0::/root:/bin/bash\nmunge:x:104:104::/:/x\n");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* What was cut off in the middle is done by the next start. */
START_TEST(the_script_leaves_the_images_accounts_alone)
{
	make_system();
	free(shell_told(
		root,
		"echo 'alice:x:104:2001::/home/alice:/bin/sh' >etc/bringup/passwd"));
	says(SCRIPT " 2>&1 || :",
	     "bringup-access: the image itself has passwd munge (104) with a name or a "
	     "number of the profile; choose others there\n");
	free(shell_told(
		root,
		"echo 'video:x:3000:' >etc/bringup/group; rm etc/bringup/passwd"));
	says(SCRIPT " 2>&1 || :",
	     "bringup-access: the image itself has group video (44) with a name or a "
	     "number of the profile; choose others there\n");
	says("cat etc/passwd", "root:x:0:0::/root:/bin/bash\nmunge:x:104:104::/:/x\n");
	/* Cut off after /etc/group. */
	free(shell_told(
		root,
		"rm etc/bringup/*; echo 'eve:x:2001:' >etc/bringup/group; " SCRIPT
		" && rm etc/bringup/group && sed -i /eve/d etc/gshadow && " SCRIPT));
	says("cat etc/group", "root:x:0:\nvideo:x:44:\n");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* One is like the image's by name, one by number, one is in its group; the others come.
 */
START_TEST(who_clashes_is_left_out_and_the_others_come)
{
	BU_NEEDS("root");
	make_system();
	free(shell_told(
		root,
		"echo 'ubuntu:x:1000:1000::/home/ubuntu:/bin/sh' >>etc/passwd && "
		"echo 'ubuntu:x:1000:' >>etc/group && mkdir -p etc/ssh/sshd_config.d "
		"&& touch etc/ssh/sshd_config.d/10-bringup.conf && "
		"printf 'ann:x:2001:2001::/home/ann:/x\nubuntu:x:2002:2001::/h:/x\n"
		"eve:x:1000:2001::/home/eve:/x\nbob:x:2003:44::/home/bob:/x\n' "
		">etc/bringup/passwd && printf 'ann:x:2001:\nhpc:x:44:ann\n"
		"adm:x:3000:ubuntu,ann,eve\n' >etc/bringup/group"));
	for (int i = 0; i < 2; i++) { /* as at each start */
		says(SCRIPT " 2>&1; echo $?",
		     "bringup-access: the image itself has group video (44), passwd "
		     "ubuntu (1000) with a name or a number of the profile; choose "
		     "others there\n1\n");
		says("cat run/bringup/access.failed",
		     "the image itself has group video (44), passwd ubuntu (1000) with "
		     "a name or a number of the profile; choose others there\n");
		says("tail -n +3 etc/passwd; tail -n +3 etc/group; ls home",
		     "ubuntu:x:1000:1000::/home/ubuntu:/bin/sh\n"
		     "ann:x:2001:2001::/home/ann:/x\nubuntu:x:1000:\n"
		     "ann:x:2001:\nadm:x:3000:ann\nann\n");
		says("cat etc/ssh/sshd_config.d/20-bringup.conf",
		     "DenyUsers ubuntu\nDenyUsers eve\nDenyUsers bob\n");
	}
	free(shell_told(root, "sed -i '/ubuntu\\|eve\\|bob/d' etc/bringup/passwd && "
			      "sed -i 's/^hpc:x:44/hpc:x:3001/; s/ubuntu,//' "
			      "etc/bringup/group && " SCRIPT));
	says("tail -n +4 etc/group; ls run/bringup etc/ssh/sshd_config.d",
	     "ann:x:2001:\nhpc:x:3001:ann\nadm:x:3000:ann,eve\n"
	     "etc/ssh/sshd_config.d:\n10-bringup.conf\n\nrun/bringup:\n");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Whatever ends it, the audit finds a reason. */
START_TEST(a_script_that_is_cut_off_leaves_a_reason)
{
	BU_NEEDS("root");
	make_system();
	free(shell_told(root, "echo 'ann:x:2001:2001::/h:/x' >etc/bringup/passwd; "
			      "rm etc/shadow; " SCRIPT " 2>&1 || :"));
	says("cat run/bringup/access.failed",
	     "accounts and sshd are not set up; journalctl -u bringup-access says "
	     "why\n");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

#define DIRECTORY                                                                      \
	"[access]\ndirectory = ldaps://a.site, ldaps://b.site:1636\n"                  \
	"directory_base = dc=site\ndirectory_ca = file:/etc/ca.pem\n"
#define BOUND "directory_user = cn=nodes,dc=site\ndirectory_key = file:/etc/ldap\n"

static const struct bu_config_file *
file_of(const struct bu_config *config, const char *path)
{
	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->files[i].path, path) == 0)
			return &config->files[i];
	return NULL;
}

START_TEST(users_of_a_directory)
{
	struct bu_config *config;
	const struct bu_config_file *conf, *ca, *sshd;

	password = "hunter 2";
	config = render(DIRECTORY BOUND "directory_login = staff, hpc-ops\n"
					"directory_sudo = yes\ndirectory_first_id = "
					"5000\n[group hpc]\ngid = 3000\n"
					"[user alice]\nuid = 2001\nkeys = " KEY "\n"
					"[user bob]\nuid = 2002\ngroup = hpc\n");
	conf = file_of(config, "/etc/sssd/conf.d/bringup.conf");
	ca = file_of(config, "/etc/sssd/bringup-ca.pem");
	sshd = file_of(config, "/etc/ssh/sshd_config.d/10-bringup.conf");
	ck_assert(conf && ca && sshd);
	ck_assert_uint_eq(conf->mode, 0600);
	ck_assert_str_eq(conf->apply, "access");
	ck_assert_str_eq(conf->content, BU_CONFIG_HEAD
			 "[sssd]\ndomains = bringup\nservices = nss, pam, ssh, sudo\n\n"
			 "[nss]\nfilter_users = root, alice, bob\n"
			 "filter_groups = root, hpc, alice\n\n"
			 "[domain/bringup]\nid_provider = ldap\nauth_provider = none\n"
			 "access_provider = permit\nchpass_provider = none\n"
			 "sudo_provider = ldap\n"
			 "ldap_uri = ldaps://a.site,ldaps://b.site:1636\n"
			 "ldap_search_base = dc=site\nldap_tls_reqcert = demand\n"
			 "ldap_tls_cacert = /etc/sssd/bringup-ca.pem\nmin_id = 5000\n"
			 "fallback_homedir = /home/%u\n"
			 "ldap_default_bind_dn = cn=nodes,dc=site\n"
			 "ldap_default_authtok_type = password\n"
			 "ldap_default_authtok = hunter 2\n");
	ck_assert_str_eq(ca->content, "CERTIFICATES\n");
	ck_assert_msg(
		strstr(sshd->content,
		       "AllowGroups alice\nAllowGroups hpc\n"
		       "AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys %u\n"
		       "AuthorizedKeysCommandUser nobody\n"
		       "AllowGroups staff\nAllowGroups hpc-ops\n") != NULL,
		"%s", sshd->content);
	ck_assert_ptr_null(strstr(sshd->content, "AllowUsers"));
	done(config);
}
END_TEST

/* sssd's own check of its files. */
START_TEST(sssd_takes_its_file)
{
	BU_NEEDS("root", "/usr/sbin/sssctl");
	struct bu_config *config;

	ck_assert_ptr_nonnull(mkdtemp(root));
	password = "hunter2";
	config =
		render(DIRECTORY BOUND "directory_login = staff\ndirectory_sudo = yes\n"
				       "[user alice]\nuid = 2001\n");
	put_files(config);
	says("printf '[sssd]\\nservices = nss\\n' >etc/sssd/sssd.conf && "
	     "chmod 600 etc/sssd/sssd.conf && "
	     "/usr/sbin/sssctl config-check -c $PWD/etc/sssd/sssd.conf "
	     "-s $PWD/etc/sssd/conf.d | sed \"s,$PWD,,\"",
	     "Issues identified by validators: 0\n\n"
	     "Messages generated during configuration merging: 0\n\n"
	     "Used configuration snippet files: 1\n/etc/sssd/conf.d/bringup.conf\n");
	done(config);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Of paper, beside the tree: what it was asked. */
#define PAPER                                                                          \
	"mkdir -p bin usr/sbin && printf '#!/bin/sh\\necho \"$*\" >>'$PWD'/asked\\n' " \
	">bin/systemctl && chmod 755 bin/systemctl"
#define RUN "PATH=$PWD/bin:$PATH " SCRIPT " 2>&1; cat asked; rm -f asked"

START_TEST(sssd_starts_again_when_its_files_are_others)
{
	static const char *const steps[][2] = {
		{"touch asked", ""},
		{"mkdir -p etc/sssd/conf.d && echo 1 >etc/sssd/conf.d/bringup.conf && "
		 "touch asked",
		 "bringup-access: the image has no sssd; it needs sssd-ldap, libnss-sss, "
		 "libpam-sss and libsss-sudo\n"},
		{"touch usr/sbin/sssd asked", "--no-block restart sssd.service\n"},
		{"touch asked", ""},
		{"echo 2 >etc/sssd/conf.d/bringup.conf",
		 "--no-block restart sssd.service\n"},
		{"echo 3 >etc/sssd/bringup-ca.pem",
		 "--no-block restart sssd.service\n"},
		{"rm etc/sssd/conf.d/bringup.conf", "--no-block stop sssd.service\n"},
		{"touch asked", ""},
	};

	BU_NEEDS("root");
	make_system();
	free(shell_told(root, PAPER));
	for (size_t i = 0; i < BU_LEN(steps); i++) {
		free(shell_told(root, steps[i][0]));
		says(RUN, steps[i][1]);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* For jobs alone: nobody of it logs in, or is root. */
START_TEST(a_directory_lets_nobody_in_by_itself)
{
	struct bu_config *config;
	const struct bu_config_file *conf;

	password = NULL;
	config = render(DIRECTORY "[user alice]\nuid = 2001\nkeys = " KEY "\n");
	conf = file_of(config, "/etc/sssd/conf.d/bringup.conf");
	ck_assert_ptr_nonnull(conf);
	ck_assert_ptr_nonnull(strstr(conf->content, "\nservices = nss, pam\n"));
	ck_assert_ptr_nonnull(strstr(conf->content, "\nsudo_provider = none\n"));
	ck_assert_ptr_nonnull(strstr(conf->content, "\nmin_id = 10000\n"));
	ck_assert_ptr_null(strstr(conf->content, "authtok"));
	conf = file_of(config, "/etc/ssh/sshd_config.d/10-bringup.conf");
	ck_assert_ptr_nonnull(strstr(conf->content, "\nAllowUsers alice\n"));
	ck_assert_ptr_null(strstr(conf->content, "sss_ssh"));
	done(config);
	config = render("[user alice]\nuid = 2001\n");
	ck_assert_ptr_null(file_of(config, "/etc/sssd/conf.d/bringup.conf"));
	done(config);
}
END_TEST

BU_UNIT("access", renders_accounts_keys_rules_and_sshd, without_keys_there_is_no_sshd,
	each_user_has_its_rule, each_file_goes_with_what_it_says,
	sshd_visudo_and_ssh_take_the_files, the_script_makes_and_removes_accounts,
	the_script_leaves_the_images_accounts_alone,
	who_clashes_is_left_out_and_the_others_come,
	a_script_that_is_cut_off_leaves_a_reason, users_of_a_directory,
	sssd_takes_its_file, sssd_starts_again_when_its_files_are_others,
	a_directory_lets_nobody_in_by_itself)
