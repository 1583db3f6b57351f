/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong users, groups and keys, and the exact messages that they get. */
#include <stdio.h>
#include <string.h>

#include "profiles/export/facets.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define KEY                                                                            \
	"ssh-ed25519 "                                                                 \
	"AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXNhbXBsZXMh"

/* Each row changes one thing in the good profile and names all findings. */
#define DIRECTORY                                                                      \
	"[access]\ndirectory = ldaps://a\ndirectory_base = dc=a\n"                     \
	"directory_ca = file:/etc/ca\n"

static const struct wrong {
	const char *from, *to;
	const char *want;
} wrongs[] = {
	{"[image debian12]",
	 "[user alice]\nuid = 2001\nkeys = -----BEGIN OPENSSH PRIVATE "
	 "KEY-----\n[image debian12]",
	 "site.ini:19: [user alice] keys: is a private key; paste the line of its .pub "
	 "file, and make a new key: everyone with read access to the tree has this "
	 "one\n"},
	{"[image debian12]",
	 "[user alice]\nuid = 2001\nkeys = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA\n[image debian12]",
	 "site.ini:19: [user alice] keys: is cut off or has something behind the key; "
	 "paste the whole line of the .pub file\n"},
	{"[image debian12]",
	 "[user alice]\nuid = 2001\n"
	 "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA"
	 "AAtzc2gtZW\n[image debian12]",
	 "site.ini:19: [user alice] '(a line of a key?)' is not an entry; allowed is 'key "
	 "= value', the key of lower-case letters, digits, '-', '_' and '.'\n"},
	{"[image debian12]",
	 "[user alice]\nuid = 2001\nkeys = " KEY " a\nkeys = " KEY
	 " b\n[image debian12]",
	 "site.ini:20: [user alice] keys: was given in line 19 already; put a comma "
	 "between keys, or put the keys into a file of the tree, a line each, and say "
	 "keys = file:keys.d/NAME\n"},
	{"[image debian12]",
	 "[user alice]\nuid = 2001\nkeys = " KEY " a, \\\n[image debian12]",
	 "site.ini:19: [user alice] keys: ends with '\\'; an entry is one line, there is "
	 "no continuation; put the keys into a file of the tree, a line each, and say "
	 "keys = file:keys.d/NAME\n"},
	{"[image debian12]", "[user alice]\n[image debian12]",
	 "site.ini:17: [user alice] uid: is missing; it says: the number, the same on "
	 "every node\n"},
	{"[image debian12]",
	 "[user alice]\nuid = 2001\n[user bob]\nuid = 2001\n[image debian12]",
	 "site.ini:20: [user bob] uid: 2001 is of [user alice] (site.ini:17) already; a "
	 "number is given once\n"},
	{"[image debian12]",
	 "[group hpc]\ngid = 2001\n[user bob]\nuid = 2001\n[image debian12]",
	 "site.ini:20: [user bob] uid: 2001 is of [group hpc] (site.ini:17) already; a "
	 "number is given once\n"},
	{"[image debian12]",
	 "[group hpc]\ngid = 3000\n[group ml]\ngid = 3000\n[image debian12]",
	 "site.ini:20: [group ml] gid: 3000 is of [group hpc] (site.ini:17) already; a "
	 "number is given once\n"},
	{"[image debian12]",
	 "[group bob]\ngid = 3000\n[user bob]\nuid = 2001\n[image debian12]",
	 "site.ini:19: [user bob] would get a group of its own that is called like [group "
	 "bob]; say group = bob\n"},
	{"[image debian12]", "[user root]\nuid = 2001\n[image debian12]",
	 "site.ini:17: [user root] is an account that systems have themselves; choose "
	 "another name\n"},
	{"[image debian12]", "[group systemd-x]\ngid = 2001\n[image debian12]",
	 "site.ini:17: [group systemd-x] is an account that systems have themselves; "
	 "choose another name\n"},
	{"[image debian12]", "[user a.b]\nuid = 2001\n[image debian12]",
	 "site.ini:17: [user a.b] cannot be an account; allowed are 1 to 31 lower-case "
	 "letters, digits, '-' and '_', a letter first\n"},
	{"[image debian12]", "[user bob]\nuid = 500\n[image debian12]",
	 "site.ini:18: [user bob] uid: '500' is out of range; allowed is 1000 to "
	 "2000000000\n"},
	{"[image debian12]", "[user bob]\nuid = 65534\n[image debian12]",
	 "site.ini:18: [user bob] uid: 65534 is of the system's own; allowed are 1000 to "
	 "59999 and from 65536 on\n"},
	{"[image debian12]", "[user bob]\nuid = 2001\ngroups = hpc\n[image debian12]",
	 "site.ini:19: [user bob] groups: there is no [group hpc]; allowed is the name of "
	 "a [group] section\n"},
	{"[image debian12]", "[user bob]\nuid = 2001\ngroup = hpc\n[image debian12]",
	 "site.ini:19: [user bob] group: there is no [group hpc]; allowed is the name of "
	 "a [group] section\n"},
	{"[image debian12]", "[user bob]\nuid = 2001\nsudo = reboot\n[image debian12]",
	 "site.ini:19: [user bob] sudo: 'reboot' is wrong; allowed is all, or commands "
	 "like '/usr/bin/systemctl restart slurmd' with commas between them\n"},
	{"[image debian12]",
	 "[user bob]\nuid = 2001\nsudo = /usr/bin/cat /var/log/*\n[image debian12]",
	 "site.ini:19: [user bob] sudo: '/usr/bin/cat /var/log/*' is wrong; allowed is "
	 "all, or commands like '/usr/bin/systemctl restart slurmd' with commas between "
	 "them\n"},
	{"[image debian12]", "[user bob]\nuid = 2001\nhome = /a:b\n[image debian12]",
	 "site.ini:19: [user bob] home: has a ':'; choose another path\n"},
	{"[image debian12]", "[access]\nhost_ca_key = file:/etc/ca\n[image debian12]",
	 "site.ini:18: [access] host_ca_key: is here without its public half; say "
	 "host_ca, too\n"},
	{"[image debian12]", "[access]\ndirectory_login = staff\n[image debian12]",
	 "site.ini:17: [access] directory: is missing; without it the other keys of the "
	 "directory say nothing\n"},
	{"[image debian12]",
	 "[access]\ndirectory = ldaps://a, ldap://b, ldaps://\n[image debian12]",
	 "site.ini:18: [access] directory: 'ldap://b' is not ldaps://HOST; keys and "
	 "names go over TLS alone\n"
	 "site.ini:18: [access] directory: 'ldaps://' is not ldaps://HOST; keys and "
	 "names go over TLS alone\n"
	 "site.ini:18: [access] directory: needs directory_base and directory_ca: where "
	 "to look, and which certificates to trust\n"},
	{"[image debian12]",
	 DIRECTORY "directory_user = cn=x\ndirectory_login = sta*\n[image debian12]",
	 "site.ini:21: [access] directory_user: and directory_key go together: a name "
	 "and its password\n"
	 "site.ini:22: [access] directory_login: 'sta*' is not the name of one group\n"},
	{"[image debian12]",
	 "[access]\ndirectory_ca = /etc/ca\ndirectory_key = hunter2\n"
	 "directory_sudo = perhaps\ndirectory_first_id = 0\n[image debian12]",
	 "site.ini:18: [access] directory_ca: '/etc/ca' is wrong; allowed is a reference "
	 "'file:/path'\n"
	 "site.ini:19: [access] directory_key: is not a reference; allowed is a "
	 "reference 'file:/path', 'env:NAME', 'credential:NAME' or 'exec:/path'; a "
	 "profile never has the secret itself\n"
	 "site.ini:20: [access] directory_sudo: 'perhaps' is unknown; allowed is "
	 "yes|no\n"
	 "site.ini:21: [access] directory_first_id: '0' is out of range; allowed is 1000 "
	 "to 2000000000\n"},
	{"[image debian12]",
	 DIRECTORY "directory_first_id = 3000\n[group g]\ngid = 3000\n[user u]\n"
		   "uid = 3001\n[image debian12]",
	 "site.ini:23: [group g] gid: 3000 is of the directory, whose numbers are those "
	 "from directory_first_id (3000) on\n"
	 "site.ini:25: [user u] uid: 3001 is of the directory, whose numbers are those "
	 "from directory_first_id (3000) on\n"},
	{"[pool train]\n", DIRECTORY "[pool train]\nroot = raw\n",
	 "site.ini:31: [pool train] root: raw and [access] directory: the image's own "
	 "sssd is all that such nodes have; put it into the image\n"},
};

START_TEST(wrong_accounts_get_exact_messages)
{
	int failed = 0;

	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		bu_autofree char *site = bu_testing_replace(
			bu_testing_site, wrongs[i].from, wrongs[i].to);
		struct bu_desired *desired;
		bu_autofree char *text =
			bu_testing_check(site, bu_testing_racks, &desired);

		bu_desired_destroy(desired);
		if (strcmp(text, wrongs[i].want) == 0)
			continue;
		failed++;
		fprintf(stderr, "row %zu '%s':\n-- got\n%s-- want\n%s", i, wrongs[i].to,
			text, wrongs[i].want);
	}
	ck_assert_int_eq(failed, 0);
}
END_TEST

START_TEST(more_users_than_a_node_takes_are_refused)
{
	bu_autofree char *users = bu_xstrdup("");
	struct bu_desired *desired;

	for (int i = 0; i < 201; i++) {
		char *more =
			bu_xasprintf("%s[user u%d]\nuid = %d\n", users, i, 2000 + i);

		free(users);
		users = more;
	}
	bu_autofree char *site = bu_xasprintf("%s%s", bu_testing_site, users);
	bu_autofree char *text = bu_testing_check(site, bu_testing_racks, &desired);

	ck_assert_ptr_null(desired);
	ck_assert_ptr_nonnull(strstr(text,
				     "[user u200] is one user too many; a profile "
				     "has at most 200"));
}
END_TEST

/* What a plan compares: each key of each account, keys by their fingerprints. */
START_TEST(accounts_are_facets_that_reconfigure)
{
	static const char *const want[][2] = {
		{"access.user_ca",
		 "SHA256:e6oRRkJ7FOAlYBuxp6pdqewdjPLSGG3k83NZQlZFaTI"},
		{"group.hpc.gid", "3000"},
		{"user.alice.group", "hpc"},
		{"user.alice.keys",
		 "SHA256:e6oRRkJ7FOAlYBuxp6pdqewdjPLSGG3k83NZQlZFaTI"},
		{"user.alice.uid", "2001"},
	};
	bu_autofree char *site = bu_xasprintf(
		"%s[access]\nuser_ca = " KEY "\n[group hpc]\ngid = 3000\n"
		"[user alice]\nuid = 2001\ngroup = hpc\nkeys = " KEY " a\n",
		bu_testing_site);
	struct bu_desired *desired;
	bu_autofree char *text = bu_testing_check(site, bu_testing_racks, &desired);
	struct bu_facets facets = {0};
	size_t found = 0;

	ck_assert_msg(desired != NULL, "%s", text);
	bu_facets_collect(&facets, desired, &desired->nodes[0]);
	for (size_t i = 0; i < facets.count; i++)
		found += strncmp(facets.items[i].name, "user.", 5) == 0 ||
			 strncmp(facets.items[i].name, "group.", 6) == 0 ||
			 strncmp(facets.items[i].name, "access.", 7) == 0;
	ck_assert_uint_eq(found, BU_LEN(want));
	for (size_t i = 0; i < BU_LEN(want); i++) {
		const struct bu_facet *facet = bu_facets_find(&facets, want[i][0]);

		ck_assert_msg(facet != NULL, "%s", want[i][0]);
		ck_assert_str_eq(facet->value, want[i][1]);
		ck_assert_int_eq(bu_facet_change(want[i][0]), BU_CLASS_RECONFIGURE);
		ck_assert_str_eq(facet->origin.file, "site.ini");
	}
	ck_assert_str_eq(bu_facet_default("user.alice.shell"), "/bin/bash");
	bu_facets_clear(&facets);
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("access", wrong_accounts_get_exact_messages,
	more_users_than_a_node_takes_are_refused, accounts_are_facets_that_reconfigure)
