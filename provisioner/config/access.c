/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile's users on a node. Called by render.c. Invariant: nobody but the users of
 * the profile gets past sshd, root neither, and nobody by a password; what the profile
 * does not say any more goes with its file.
 */
#include "provisioner/config/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sshkey.h"
#include "profiles/language/schema.h"

#define KEYS_DIR "/etc/ssh/bringup_keys"
#define KNOWN_HOSTS "/etc/ssh/bringup_known_hosts"
#define DIRECTORY_CA "/etc/sssd/bringup-ca.pem"
#define USER_CA "/etc/ssh/bringup_user_ca.pub"

/* A line for each key, behind `before`; owned. */
static char *
lines(const char *list, const char *before)
{
	char *text = NULL, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	while ((line = bu_sshkey_next(&list))) {
		fprintf(out, "%s%s\n", before, line);
		free(line);
	}
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
	int found = (desired->users_count && desired->access.user_ca) ||
		    desired->access.directory_login;

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

/* Where both are said, sshd lets in whom both name: so groups alone are said where
 * groups of the directory are among them. No group of the profile has members there. */
static void
print_allowed(FILE *out, const struct bu_desired *desired)
{
	const char *login = desired->access.directory_login;
	char *word;

	for (size_t i = 0; i < desired->users_count; i++) {
		const struct bu_desired_user *user = &desired->users[i];

		if (!login)
			fprintf(out, "AllowUsers %s\n", user->name);
		else
			fprintf(out, "AllowGroups %s\n",
				user->group ? user->group->name : user->name);
	}
	if (login)
		fputs("AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys %u\n"
		      "AuthorizedKeysCommandUser nobody\n",
		      out);
	while (login && (word = bu_value_next_word(&login))) {
		fprintf(out, "AllowGroups %s\n", word);
		free(word);
	}
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
	print_allowed(out, desired);
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

/* Who is in the profile is nobody else, whatever the directory says. */
static void
print_own_names(FILE *out, const struct bu_desired *desired)
{
	fputs("filter_users = root", out);
	for (size_t i = 0; i < desired->users_count; i++)
		fprintf(out, ", %s", desired->users[i].name);
	fputs("\nfilter_groups = root", out);
	for (size_t i = 0; i < desired->groups_count; i++)
		fprintf(out, ", %s", desired->groups[i].name);
	for (size_t i = 0; i < desired->users_count; i++)
		if (!desired->users[i].group)
			fprintf(out, ", %s", desired->users[i].name);
	fputc('\n', out);
}

/* sssd reads no file but one of root's that nobody else may read. */
static void
add_directory(const struct bu_config_input *input, struct bu_config *config)
{
	const struct bu_desired_access *access = &input->desired->access;
	int sudo = strcmp(access->directory_sudo, "yes") == 0;
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	fprintf(out,
		BU_CONFIG_HEAD "[sssd]\ndomains = bringup\nservices = nss, pam%s%s\n\n"
			       "[nss]\n",
		access->directory_login ? ", ssh" : "", sudo ? ", sudo" : "");
	print_own_names(out, input->desired);
	fprintf(out,
		"\n[domain/bringup]\nid_provider = ldap\nauth_provider = none\n"
		"access_provider = permit\nchpass_provider = none\n"
		"sudo_provider = %s\nldap_uri = %s\nldap_search_base = %s\n"
		"ldap_tls_reqcert = demand\nldap_tls_cacert = " DIRECTORY_CA "\n"
		"min_id = %d\nfallback_homedir = /home/%%u\n",
		sudo ? "ldap" : "none", access->directory, access->directory_base,
		access->directory_first_id);
	if (input->directory_key)
		fprintf(out,
			"ldap_default_bind_dn = %s\n"
			"ldap_default_authtok_type = password\n"
			"ldap_default_authtok = %s\n",
			access->directory_user, input->directory_key);
	fclose(out);
	bu_config_add(config, DIRECTORY_CA, 0644, "access", "%s",
		      input->directory_ca ? input->directory_ca : "");
	bu_config_add(config, "/etc/sssd/conf.d/bringup.conf", 0600, "access", "%s",
		      text);
}

void
bu_config_access(const struct bu_config_input *input, struct bu_config *config)
{
	const struct bu_desired *desired = input->desired;

	add_groups(desired, config);
	add_users(desired, config);
	add_sudo(desired, config);
	add_sshd(desired, config);
	if (desired->access.directory)
		add_directory(input, config);
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
