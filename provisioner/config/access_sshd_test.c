/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image's own script and sshd, the real one: it runs by the profile's rules or not
 * at all, under the name that systemd knows it by. systemd is of paper.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/shell.h"

#define RULES                                                                          \
	"PermitRootLogin no\nPasswordAuthentication no\n"                              \
	"KbdInteractiveAuthentication no\nAuthorizedKeysFile /etc/ssh/bringup_keys/%u" \
	"\nHostKey $PWD/etc/ssh/ssh_host_ed25519_key\nAllowUsers alice\n"              \
	"AllowUsers Bob\n"
#define INCLUDE "Include $PWD/etc/ssh/sshd_config.d/*.conf\n"
#define DROPIN "etc/ssh/sshd_config.d/10-bringup.conf"

static char root[40];

/* A file of the folder; $PWD in its text is the folder. */
static void
put(const char *path, const char *text)
{
	bu_autofree char *command =
		bu_xasprintf("cat >%s <<END\n%s\nEND\n", path, text);

	free(shell_told(root, command));
}

static void
setup(void)
{
	static const char *const programs[][2] = {
		/* knows the units that lie in units/; those in active/ run */
		{"bin/systemctl", "case $1 in cat) exec test -e $PAPER/units/$2 ;;\n"
				  "-q) exec test -e $PAPER/active/$3 ;; esac\n"
				  "echo \"$*\" >>$PAPER/asked"},
		{"usr/sbin/sshd",
		 "exec /usr/sbin/sshd -f $PAPER/etc/ssh/sshd_config \"$@\""},
	};

	strcpy(root, "/tmp/bringup-sshd-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	free(shell_told(
		root,
		"mkdir -p bin usr/sbin units active /run/sshd "
		"etc/bringup etc/ssh/sshd_config.d var/lib && "
		"touch units/ssh.service etc/passwd etc/group etc/shadow etc/gshadow && "
		"echo node001 >etc/hostname"));
	shell_programs(root, "PAPER=", programs, BU_LEN(programs));
	put("etc/ssh/sshd_config", INCLUDE "UsePAM yes\nPasswordAuthentication yes");
	put(DROPIN, RULES);
}

static void
teardown(void)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

/* What systemd is asked, and what is left for the audit. */
static void
asks(const char *want, const char *why)
{
	bu_autofree char *asked =
		shell_told(root, ": >asked; PATH=$PWD/bin:$PATH sh " BU_SRCDIR
				 "/images/build/recipes/access $PWD 2>said; cat asked");
	bu_autofree char *left =
		shell_told(root, "cat run/bringup/access.failed 2>&1 || :");

	ck_assert_str_eq(asked, want);
	ck_assert_msg(why ? strstr(left, why) != NULL
			  : strstr(left, "No such file") != NULL,
		      "%s", left);
}

#define STOP "--no-block stop ssh.service\n"
#define START "--no-block start ssh.service\n"
#define HUP "kill -s HUP --kill-who=main ssh.service\n"

START_TEST(sshd_runs_by_the_profile)
{
	BU_NEEDS("root", "ssh-keygen", "/usr/sbin/sshd");
	setup();
	asks(START, NULL);
	put("active/ssh.service", "");
	asks(HUP, NULL);
	/* CAs and commands of the profile's own are no strangers' */
	put(DROPIN, RULES "TrustedUserCAKeys /etc/ssh/bringup_user_ca.pub\n"
			  "AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys %u\n"
			  "AuthorizedKeysCommandUser nobody");
	asks(HUP, NULL);
	free(shell_told(root, "rm " DROPIN));
	asks(STOP, NULL);
	put("active/ssh.socket", "");
	asks("--no-block stop ssh.socket\n" STOP, NULL);
	teardown();
}
END_TEST

START_TEST(with_rules_of_others_it_is_off)
{
	static const struct {
		const char *config, *foreign;
	} rows[] = {
		{"UsePAM yes", "permitrootlogin "},
		{"PasswordAuthentication yes\n" INCLUDE, "passwordauthentication yes"},
		{"AuthorizedKeysFile .ssh/authorized_keys\n" INCLUDE,
		 "authorizedkeysfile .ssh/authorized_keys"},
		{INCLUDE "AllowUsers ubuntu", "allowusers ubuntu"},
		{INCLUDE "AllowGroups wheel", "allowgroups wheel"},
		{INCLUDE "TrustedUserCAKeys /etc/ssh/theirs.pub",
		 "trustedusercakeys /etc/ssh/theirs.pub"},
		{INCLUDE "Match all\nPermitRootLogin yes", "permitrootlogin yes"},
	};

	BU_NEEDS("root", "ssh-keygen", "/usr/sbin/sshd");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *why = bu_xasprintf("sshd is off, it would go by '%s",
						     rows[i].foreign);

		setup();
		put("active/ssh.service", "");
		put("etc/ssh/sshd_config", rows[i].config);
		asks(STOP, why);
		asks(STOP, "/etc/ssh/sshd_config must begin with 'Include "
			   "/etc/ssh/sshd_config.d/*.conf'");
		put("etc/ssh/sshd_config", INCLUDE);
		asks(HUP, NULL);
		teardown();
	}
}
END_TEST

/* Another host key is the image's affair; one of the profile that lacks is not. */
START_TEST(what_sshd_lacks_is_said)
{
	BU_NEEDS("root", "ssh-keygen", "/usr/sbin/sshd");
	setup();
	put("etc/ssh/sshd_config", INCLUDE "HostKey /etc/ssh/another");
	asks(START, NULL);
	put("etc/ssh/sshd_config", RULES "HostKey /etc/ssh/another");
	free(shell_told(root, "sed -i 's,another,third,' etc/ssh/sshd_config; "
			      "echo HostKey /etc/ssh/another >>" DROPIN));
	asks(STOP, "'no hostkey /etc/ssh/another'");
	teardown();
}
END_TEST

/* It runs on by the rules of before, if those were the profile's. */
START_TEST(a_configuration_that_it_does_not_take)
{
	BU_NEEDS("root", "ssh-keygen", "/usr/sbin/sshd");
	setup();
	put("active/ssh.service", "");
	put("etc/ssh/sshd_config", INCLUDE "NoSuchWord yes");
	asks(STOP, "sshd does not take its configuration: ");
	asks(STOP, "NoSuchWord");
	put("etc/ssh/sshd_config", INCLUDE);
	asks(HUP, NULL);
	put("etc/ssh/sshd_config", INCLUDE "NoSuchWord yes");
	asks("", "NoSuchWord");
	teardown();
}
END_TEST

START_TEST(red_hat_names_it_otherwise)
{
	BU_NEEDS("root", "ssh-keygen", "/usr/sbin/sshd");
	setup();
	free(shell_told(root, "mv units/ssh.service units/sshd.service"));
	asks("--no-block start sshd.service\n", NULL);
	put("active/sshd.service", "");
	asks("kill -s HUP --kill-who=main sshd.service\n", NULL);
	free(shell_told(root, "rm " DROPIN));
	asks("--no-block stop sshd.service\n", NULL);
	teardown();
}
END_TEST

BU_UNIT("access_sshd", sshd_runs_by_the_profile, with_rules_of_others_it_is_off,
	what_sshd_lacks_is_said, a_configuration_that_it_does_not_take,
	red_hat_names_it_otherwise)
