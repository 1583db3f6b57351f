/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile's users on a node. Called by render.c. Invariant: nobody but the users of
 * the profile gets past sshd, root neither, and nobody by a password; what the profile
 * does not say any more goes with its file.
 */
#include "provisioner/config/access.h"

#include <stdio.h>
#include <string.h>

#include "profiles/language/schema.h"

#define KEYS_DIR "/etc/ssh/bringup_keys"
#define KNOWN_HOSTS "/etc/ssh/bringup_known_hosts"
#define USER_CA "/etc/ssh/bringup_user_ca.pub"

/* The lines of a list with commas, each behind `before`; owned. */
static char *
lines(const char *list, const char *before)
{
	bu_autofree char *copy = bu_xstrdup(list);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	for (char *next = copy, *line; (line = strsep(&next, ","));)
		fprintf(out, "%s%s\n", before, line);
	fclose(out);
	return text;
}

static int
is_member(const struct bu_desired_user *user, const char *group)
{
	const char *rest = user->groups;
	int found = 0;
	char *word;

	while (rest && !found && (word = bu_value_next_word(&rest))) {
		found = strcmp(word, group) == 0;
		free(word);
	}
	return found;
}

static void
add_groups(const struct bu_desired *desired, struct bu_config *config)
{
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	for (size_t i = 0; i < desired->groups_count; i++) {
		const char *comma = "";

		fprintf(out, "%s:x:%d:", desired->groups[i].name,
			desired->groups[i].gid);
		for (size_t j = 0; j < desired->users_count; j++) {
			if (!is_member(&desired->users[j], desired->groups[i].name))
				continue;
			fprintf(out, "%s%s", comma, desired->users[j].name);
			comma = ",";
		}
		fputc('\n', out);
	}
	for (size_t i = 0; i < desired->users_count; i++)
		if (!desired->users[i].group)
			fprintf(out, "%s:x:%d:\n", desired->users[i].name,
				desired->users[i].uid);
	fclose(out);
	if (size)
		bu_config_add(config, "/etc/bringup/group", 0644, "access", "%s", text);
}

static void
add_users(const struct bu_desired *desired, struct bu_config *config)
{
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	for (size_t i = 0; i < desired->users_count; i++) {
		const struct bu_desired_user *user = &desired->users[i];

		fprintf(out, "%s:x:%d:%d::%s%s:%s\n", user->name, user->uid,
			user->group ? user->group->gid : user->uid,
			user->home ? user->home : "/home/",
			user->home ? "" : user->name, user->shell);
	}
	fclose(out);
	if (size)
		bu_config_add(config, "/etc/bringup/passwd", 0644, "access", "%s",
			      text);
}

/* 0 when no key of anybody logs in. */
static int
add_keys(const struct bu_desired *desired, struct bu_config *config)
{
	int found = desired->users_count && desired->access.user_ca;

	for (size_t i = 0; i < desired->users_count; i++) {
		const struct bu_desired_user *user = &desired->users[i];
		bu_autofree char *path = NULL, *text = NULL;

		if (!user->keys)
			continue;
		found = 1;
		path = bu_xasprintf(KEYS_DIR "/%s", user->name);
		text = lines(user->keys, "");
		bu_config_add(config, path, 0644, "", BU_CONFIG_HEAD "%s", text);
	}
	return found;
}

/* Our files come first in their folder, and the first word counts. What sshd is told
 * here it has been told before its own file is read. */
static void
add_sshd(const struct bu_desired *desired, struct bu_config *config)
{
	const struct bu_desired_access *access = &desired->access;
	bu_autofree char *ca = NULL, *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!add_keys(desired, config))
		return;
	if (access->user_ca) {
		ca = lines(access->user_ca, "");
		bu_config_add(config, USER_CA, 0644, "access", "%s", ca);
	}
	out = open_memstream(&text, &size);
	bu_assert(out); /* only for want of memory */
	fputs(BU_CONFIG_HEAD "PermitRootLogin no\nPasswordAuthentication no\n"
			     "KbdInteractiveAuthentication no\n"
			     "AuthorizedKeysFile " KEYS_DIR "/%u\n"
			     "HostKey /etc/ssh/ssh_host_ed25519_key\n",
	      out);
	if (access->host_ca_key)
		fputs("HostCertificate " BU_CONFIG_HOST_CERT "\n", out);
	if (access->user_ca)
		fputs("TrustedUserCAKeys " USER_CA "\n", out);
	for (size_t i = 0; i < desired->users_count; i++)
		fprintf(out, "AllowUsers %s\n", desired->users[i].name);
	fclose(out);
	bu_config_add(config, "/etc/ssh/sshd_config.d/10-bringup.conf", 0644, "access",
		      "%s", text);
}

static void
print_rule(FILE *out, const char *group, const char *name, const char *sudo)
{
	if (!sudo)
		return;
	fprintf(out, "%s%s ALL=(root) NOPASSWD: %s\n", group, name,
		strcmp(sudo, "all") == 0 ? "ALL" : sudo);
}

static void
add_sudo(const struct bu_desired *desired, struct bu_config *config)
{
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	for (size_t i = 0; i < desired->groups_count; i++)
		print_rule(out, "%", desired->groups[i].name, desired->groups[i].sudo);
	for (size_t i = 0; i < desired->users_count; i++)
		print_rule(out, "", desired->users[i].name, desired->users[i].sudo);
	fclose(out);
	if (size)
		bu_config_add(config, "/etc/sudoers.d/bringup", 0440, "",
			      BU_CONFIG_HEAD "%s", text);
}

void
bu_config_access(const struct bu_desired *desired, struct bu_config *config)
{
	add_groups(desired, config);
	add_users(desired, config);
	add_sudo(desired, config);
	add_sshd(desired, config);
	if (desired->access.host_ca) {
		bu_autofree char *text =
			lines(desired->access.host_ca, "@cert-authority * ");

		bu_config_add(config, KNOWN_HOSTS, 0644, "", BU_CONFIG_HEAD "%s", text);
		bu_config_add(config, "/etc/ssh/ssh_config.d/10-bringup.conf", 0644, "",
			      BU_CONFIG_HEAD "GlobalKnownHostsFile "
					     "/etc/ssh/ssh_known_hosts " KNOWN_HOSTS
					     "\n");
	}
}
