/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and groups of a profile against each other and against the accounts that every
 * system has. Called by load_checks.c. Invariant: what passes can be put into
 * /etc/passwd and /etc/group of a node as it is.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profiles/language/schema.h"
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

/* Else a member of the directory could be one of the profile's groups. */
static void
check_ids(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;
	int first = desired->access.directory_first_id;
	static const char text[] =
		"%d is of the directory, whose numbers are those from "
		"directory_first_id (%d) on";

	for (size_t i = 0; i < desired->groups_count; i++)
		if (desired->groups[i].gid >= first)
			bu_load_wrong(ld, ld->group_sections[i], "gid", text,
				      desired->groups[i].gid, first);
	for (size_t i = 0; i < desired->users_count; i++)
		if (desired->users[i].uid >= first)
			bu_load_wrong(ld, ld->user_sections[i], "uid", text,
				      desired->users[i].uid, first);
}

static void
check_servers(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const char *rest = ld->desired->access.directory;
	char *word;

	while ((word = bu_value_next_word(&rest))) {
		if (strncmp(word, "ldaps://", 8) != 0 || !word[8])
			bu_load_wrong(ld, section, "directory",
				      "'%s' is not ldaps://HOST; keys and names go "
				      "over TLS alone",
				      word);
		free(word);
	}
}

/* sshd takes '*' and '?' for any letters. */
static void
check_login(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const char *rest = ld->desired->access.directory_login;
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		if (strpbrk(word, "*?=:/@+"))
			bu_load_wrong(ld, section, "directory_login",
				      "'%s' is not the name of one group", word);
		free(word);
	}
}

static void
check_directory(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const struct bu_desired_access *access = &ld->desired->access;

	if (!access->directory) {
		if (access->directory_base || access->directory_ca ||
		    access->directory_user || access->directory_key ||
		    access->directory_login)
			bu_load_wrong(ld, section, "directory",
				      "is missing; without it the other keys of the "
				      "directory say nothing");
		return;
	}
	check_servers(ld, section);
	check_login(ld, section);
	if (!access->directory_base || !access->directory_ca)
		bu_load_wrong(ld, section, "directory",
			      "needs directory_base and directory_ca: where to look, "
			      "and which certificates to trust");
	if (!access->directory_user != !access->directory_key)
		bu_load_wrong(ld, section, "directory_user",
			      "and directory_key go together: a name and its password");
	check_ids(ld);
}

/* cloud-init's data lies on a partition that everybody at the machine may read. */
static void
check_raw(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;

	for (size_t i = 0; desired->access.directory && i < desired->pools_count; i++)
		if (desired->pools[i].root == BU_ROOT_RAW)
			bu_load_wrong(
				ld, ld->pool_sections[i], "root",
				"raw and [access] directory: the image's own sssd "
				"is all that such nodes have; put it into the "
				"image");
}

static void
check_section(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const struct bu_desired_access *access = &ld->desired->access;

	if (access->host_ca_key && !access->host_ca)
		bu_load_wrong(ld, section, "host_ca_key",
			      "is here without its public half; say host_ca, too");
	check_directory(ld, section);
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
	for (size_t i = 0; i < ld->ini.count; i++)
		if (strcmp(ld->ini.sections[i].kind, "access") == 0)
			check_section(ld, &ld->ini.sections[i]);
	check_raw(ld);
}
