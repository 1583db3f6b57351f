/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and groups of a profile against each other and against the accounts that every
 * system has. Called by load_checks.c. Invariant: what passes can be put into
 * /etc/passwd and /etc/group of a node as it is.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "profiles/load/load_internal.h"

/* A file of keys each; work items have room for 256 files. More belong into a directory
 * service. */
enum { USERS_MAX = 200, NAME_LENGTH_MAX = 31 };
/* Of systemd's dynamic users, nobody, and "no id" of 16 bits. */
enum { SYSTEM_ID_FIRST = 60000, SYSTEM_ID_LAST = 65535 };

/* Accounts of Debian, Ubuntu, Red Hat and of what nodes run. */
static const char *const reserved[] = {
	"adm",     "audio",      "backup",   "bin",    "cdrom",  "chrony",  "crontab",
	"daemon",  "dbus",       "dialout",  "dip",    "disk",   "etcd",    "fax",
	"floppy",  "ftp",        "games",    "gnats",  "halt",   "input",   "irc",
	"kmem",    "kvm",        "list",     "lock",   "lp",     "mail",    "man",
	"mem",     "messagebus", "munge",    "news",   "nobody", "nogroup", "operator",
	"plugdev", "polkitd",    "proxy",    "render", "root",   "rpc",     "sasl",
	"sgx",     "shadow",     "shutdown", "slurm",  "src",    "ssh",     "sshd",
	"staff",   "sudo",       "sync",     "sys",    "tape",   "tcpdump", "tss",
	"tty",     "users",      "utmp",     "uucp",   "video",  "voice",   "wheel",
	"www-data"};

static int
is_reserved(const char *name)
{
	for (size_t i = 0; i < BU_LEN(reserved); i++)
		if (strcmp(reserved[i], name) == 0)
			return 1;
	return strncmp(name, "systemd-", 8) == 0 || *name == '_';
}

static void
check_name(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const char *name = section->name;

	if (!islower((unsigned char)*name) || strchr(name, '.') ||
	    strlen(name) > NAME_LENGTH_MAX)
		bu_load_wrong(ld, section, NULL,
			      "cannot be an account; allowed are 1 to %d lower-case "
			      "letters, digits, '-' and '_', a letter first",
			      NAME_LENGTH_MAX);
	else if (is_reserved(name))
		bu_load_wrong(ld, section, NULL,
			      "is an account that systems have themselves; choose "
			      "another name");
}

static void
check_id(struct bu_loader *ld, const struct bu_ini_section *section, const char *key,
	 int id)
{
	if (id >= SYSTEM_ID_FIRST && id <= SYSTEM_ID_LAST)
		bu_load_wrong(ld, section, key,
			      "%d is of the system's own; allowed are 1000 to %d and "
			      "from %d on",
			      id, SYSTEM_ID_FIRST - 1, SYSTEM_ID_LAST + 1);
}

static void
twice(struct bu_loader *ld, const struct bu_ini_section *section, const char *key,
      int id, const struct bu_ini_section *other)
{
	bu_load_wrong(ld, section, key,
		      "%d is of [%s %s] (%s:%d) already; a number is given once", id,
		      other->kind, other->name, other->file, other->line);
}

static void
check_groups(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;

	for (size_t i = 0; i < desired->groups_count; i++) {
		const struct bu_ini_section *section = ld->group_sections[i];

		check_name(ld, section);
		check_id(ld, section, "gid", desired->groups[i].gid);
		for (size_t j = 0; j < i; j++)
			if (desired->groups[i].gid == desired->groups[j].gid)
				twice(ld, section, "gid", desired->groups[i].gid,
				      ld->group_sections[j]);
	}
}

static void
check_memberships(struct bu_loader *ld, const struct bu_desired_user *user,
		  const struct bu_ini_section *section)
{
	const char *rest = user->groups;
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		bu_load_find(ld, section, "groups", "group", word);
		free(word);
	}
}

/* A user without a group has one of the same name and number. */
static void
check_against_groups(struct bu_loader *ld, const struct bu_desired_user *user,
		     const struct bu_ini_section *section)
{
	const struct bu_desired *desired = ld->desired;

	for (size_t i = 0; !user->group && i < desired->groups_count; i++) {
		const struct bu_ini_section *other = ld->group_sections[i];

		if (strcmp(desired->groups[i].name, user->name) == 0)
			bu_load_wrong(ld, section, NULL,
				      "would get a group of its own that is called "
				      "like [group %s]; say group = %s",
				      other->name, other->name);
		else if (desired->groups[i].gid == user->uid)
			twice(ld, section, "uid", user->uid, other);
	}
}

static void
check_user(struct bu_loader *ld, size_t index)
{
	const struct bu_desired_user *user = &ld->desired->users[index];
	const struct bu_ini_section *section = ld->user_sections[index];

	check_name(ld, section);
	check_id(ld, section, "uid", user->uid);
	for (size_t j = 0; j < index; j++)
		if (user->uid == ld->desired->users[j].uid)
			twice(ld, section, "uid", user->uid, ld->user_sections[j]);
	check_memberships(ld, user, section);
	check_against_groups(ld, user, section);
	/* The lines of /etc/passwd end their fields with it. */
	if (user->home && strchr(user->home, ':'))
		bu_load_wrong(ld, section, "home", "has a ':'; choose another path");
	if (user->shell && strchr(user->shell, ':'))
		bu_load_wrong(ld, section, "shell", "has a ':'; choose another path");
}

void
bu_load_check_access(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;

	check_groups(ld);
	for (size_t i = 0; i < desired->users_count; i++)
		check_user(ld, i);
	if (desired->users_count > USERS_MAX)
		bu_load_wrong(ld, ld->user_sections[USERS_MAX], NULL,
			      "is one user too many; a profile has at most %d, more "
			      "belong into a directory service",
			      USERS_MAX);
	if (desired->access.host_ca_key && !desired->access.host_ca)
		for (size_t i = 0; i < ld->ini.count; i++)
			if (strcmp(ld->ini.sections[i].kind, "access") == 0)
				bu_load_wrong(ld, &ld->ini.sections[i], "host_ca_key",
					      "is here without its public half; say "
					      "host_ca, too");
}
