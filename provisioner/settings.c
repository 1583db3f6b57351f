/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the daemon's own configuration with iniparser: one short, flat file. */
#include "provisioner/settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <iniparser.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/networks.h"
#include "base/text.h"
#include "profiles/language/schema.h"
#include "provisioner/boot/dnsmasq.h"

enum { LIMIT_MAX_S = 7 * 24 * 3600 };

static const struct {
	const char *key; /* as iniparser names it */
	const char *fallback;
	size_t offset;
} rows[] = {
#define X(field, fallback, help)                                                       \
	{"bringupd:" #field, fallback, offsetof(struct bu_settings, field)},
	BU_SETTINGS(X)
#undef X
};

/* [webhook ops] */
static const char hook_section[] = "webhook ";
static const struct {
	const char *key;
	size_t offset;
} hook_keys[] = {
#define X(field, help) {#field, offsetof(struct bu_webhook_opts, field)},
	BU_WEBHOOK_KEYS(X)
#undef X
};

static char **
slot(struct bu_settings *settings, size_t row)
{
	return (char **)(void *)((char *)settings + rows[row].offset);
}

static int
is_key(const char *key)
{
	const char *name = strchr(key, ':') + 1;
	enum bu_state state;

	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return 1;
	for (size_t i = 0; strncmp(key, hook_section, strlen(hook_section)) == 0 &&
			   i < BU_LEN(hook_keys);
	     i++)
		if (strcmp(hook_keys[i].key, name) == 0)
			return 1;
	return strncmp(key, "limits:", 7) == 0 &&
	       bu_state_from_name(key + 7, &state, NULL) == 0;
}

/* Names of sections or keys that the word may have meant; owned. */
static char *
hint_of(const char *key)
{
	const char *names[BU_LEN(rows) + BU_LEN(hook_keys) + BU_STATE_COUNT] = {NULL};
	const char *colon = strchr(key, ':');
	int is_hook = strncmp(key, hook_section, strlen(hook_section)) == 0;
	int is_limit = strncmp(key, "limits:", 7) == 0;
	size_t count = 0;

	if (!is_hook && !is_limit && strncmp(key, "bringupd:", 9) != 0) {
		bu_autofree char *section = bu_xstrndup(key, (size_t)(colon - key));
		static const char *const sections[] = {"bringupd", "limits", "webhook"};

		return bu_did_you_mean(section, sections, BU_LEN(sections));
	}
	for (size_t i = 0; !is_hook && !is_limit && i < BU_LEN(rows); i++)
		names[count++] = rows[i].key + strlen("bringupd:");
	for (size_t i = 0; is_hook && i < BU_LEN(hook_keys); i++)
		names[count++] = hook_keys[i].key;
	for (int state = 0; is_limit && state < BU_STATE_COUNT; state++)
		names[count++] = bu_state_name((enum bu_state)state);
	return bu_did_you_mean(colon + 1, names, count);
}

/* All keys of the file, those before the first section and in unknown ones, too. */
static int
check_keys(const dictionary *ini, struct bu_err *err)
{
	for (int i = 0; i < ini->size; i++) {
		const char *key = ini->key[i];
		const char *colon = key ? strchr(key, ':') : NULL;
		bu_autofree char *hint = NULL;

		if (!colon || is_key(key))
			continue;
		hint = hint_of(key);
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "[%.*s] %s: is an unknown key%s; bringupd.conf(5) "
				  "lists those that there are",
				  (int)(colon - key), key, colon + 1, hint);
	}
	return 0;
}

static int
read_limits(const dictionary *ini, struct bu_settings *ret, struct bu_err *err)
{
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		const struct bu_state_info *info = bu_state_info((enum bu_state)state);
		bu_autofree char *key = bu_xasprintf("limits:%s", info->name);
		const char *text = iniparser_getstring(ini, key, NULL);
		int64_t value;

		if (!text)
			continue;
		if (info->settled || bu_text_int(text, 1, LIMIT_MAX_S, &value) < 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s = %s: 1 to %d seconds, of a state that "
					  "has a deadline",
					  key, text, LIMIT_MAX_S);
		ret->limit_s[state] = (int)value;
	}
	return 0;
}

static char **
hook_slot(struct bu_webhook_opts *hook, size_t row)
{
	return (char **)(void *)((char *)hook + hook_keys[row].offset);
}

static int
read_webhook(const dictionary *ini, const char *section, struct bu_webhook_opts *hook,
	     struct bu_err *err)
{
	hook->name = bu_xstrdup(section + strlen(hook_section));
	for (size_t i = 0; i < BU_LEN(hook_keys); i++) {
		bu_autofree char *key =
			bu_xasprintf("%s:%s", section, hook_keys[i].key);

		*hook_slot(hook, i) = bu_xstrdup(iniparser_getstring(ini, key, ""));
	}
	return bu_webhook_check(hook, err);
}

static int
read_webhooks(const dictionary *ini, struct bu_settings *ret, struct bu_err *err)
{
	for (int i = 0; i < iniparser_getnsec(ini); i++) {
		const char *section = iniparser_getsecname(ini, i);

		if (strncmp(section, hook_section, strlen(hook_section)) != 0)
			continue;
		if (ret->webhooks_count == BU_WEBHOOKS_MAX)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "[%s]: more than %d webhooks", section,
					  BU_WEBHOOKS_MAX);
		if (read_webhook(ini, section, &ret->webhooks[ret->webhooks_count++],
				 err) != 0)
			return -1;
	}
	return 0;
}

static int
is_yes_or_no(const char *text)
{
	return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
}

/* Nodes are told the two addresses as they stand here; the page has no login.
 */
static int
check_listeners(const struct bu_settings *s, struct bu_err *err)
{
	const char *const told[] = {s->boot_listen, s->agent_listen, s->boot_tls_listen,
				    s->people_listen};

	for (size_t i = 0; i < BU_LEN(told); i++)
		if (strncmp(told[i], "0.0.0.0:", 8) == 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%s' is not an address that nodes or people "
					  "can use; give the one that they reach",
					  told[i]);
	if (s->page_listen[0] && strncmp(s->page_listen, "127.", 4) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "page_listen = %s: the page has no login, so only "
				  "127.0.0.1 is allowed",
				  s->page_listen);
	return 0;
}

struct bu_oidc_opts
bu_settings_oidc(const struct bu_settings *settings,
		 const struct bu_callers_group *groups)
{
	return (struct bu_oidc_opts){.issuer = settings->oidc_issuer,
				     .client = settings->oidc_client,
				     .ca = settings->oidc_ca,
				     .scopes = settings->oidc_scopes,
				     .groups_claim = settings->oidc_groups_claim,
				     .name_claim = settings->oidc_name_claim,
				     .groups = groups};
}

static int
check_oidc(const struct bu_settings *s, struct bu_err *err)
{
	const struct bu_oidc_opts opts = bu_settings_oidc(s, NULL);

	if (*s->oidc_issuer && !*s->people_listen)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "oidc_issuer also needs people_listen, over which "
				  "people come with its tokens");
	return bu_oidc_check(&opts, err);
}

/* Certificates that nobody would ask for, or lists of no CA. */
static int
check_people(const struct bu_settings *s, struct bu_err *err)
{
	if (s->people_ca[0] && !s->people_listen[0])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "people_ca also needs people_listen");
	if (s->people_crl[0] && !s->people_ca[0])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "people_crl also needs people_ca, whose list it is");
	if ((s->people_ca[0] && s->people_ca[0] != '/') ||
	    (s->people_crl[0] && s->people_crl[0] != '/'))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "people_ca and people_crl are absolute paths");
	return 0;
}

/* What would only be found when it is used. */
static int
check_values(const struct bu_settings *s, struct bu_err *err)
{
	const char *const paths[] = {s->state, s->socket, s->images, s->ramdisk};
	enum bu_dhcp dhcp;

	for (size_t i = 0; i < BU_LEN(paths); i++)
		if (paths[i][0] != '/')
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%s' is not an absolute path", paths[i]);
	if (!is_yes_or_no(s->serve_dns) || !is_yes_or_no(s->serve_time))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "serve_dns and serve_time are yes or no");
	if (bu_dhcp_from_name(s->dhcp, &dhcp, err) != 0)
		return -1;
	if (s->boot_interface[0] && (!s->boot_address[0] || !s->boot_listen[0] ||
				     (dhcp == BU_DHCP_FULL && !s->dhcp_range[0])))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "boot_interface also needs boot_address, "
				  "boot_listen and, with dhcp = full, dhcp_range");
	if (check_people(s, err) != 0 || check_oidc(s, err) != 0)
		return -1;
	return check_listeners(s, err);
}

int
bu_settings_load(const char *path, struct bu_settings *ret, struct bu_err *err)
{
	dictionary *ini;
	int rc;

	if (access(path, R_OK) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "read '%s'", path);
	ini = iniparser_load(path);
	if (!ini)
		return bu_err_set(err, BU_ERR_INVAL, 0, "'%s' is not an INI file",
				  path);
	memset(ret, 0, sizeof(*ret));
	rc = check_keys(ini, err);
	if (rc == 0)
		rc = read_limits(ini, ret, err);
	if (rc == 0)
		rc = read_webhooks(ini, ret, err);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		*slot(ret, i) = bu_xstrdup(
			iniparser_getstring(ini, rows[i].key, rows[i].fallback));
	iniparser_freedict(ini);
	if (rc == 0)
		rc = check_values(ret, err);
	if (rc == 0)
		return 0;
	bu_settings_fini(ret);
	return bu_err_wrap(err, "%s", path);
}

int
bu_settings_confine(const struct bu_settings *settings, struct bu_err *err)
{
	bu_autofree char *images =
		bu_xasprintf("%s%s%s", settings->images,
			     settings->image_dirs[0] ? "," : "", settings->image_dirs);

	if (bu_networks_begin(settings->bmc_networks, err) != 0)
		return -1;
	return bu_confine_begin(&(struct bu_confine_opts){settings->secrets_dir, images,
							  settings->state},
				err);
}

void
bu_settings_groups(const struct bu_settings *settings,
		   struct bu_callers_group ret[BU_PERSON_COUNT])
{
	const char *const names[BU_PERSON_COUNT] = {
		[BU_PERSON_VIEWER] = settings->group_viewer,
		[BU_PERSON_OPERATOR] = settings->group_operator,
		[BU_PERSON_GRANT] = settings->group_grant,
		[BU_PERSON_ADMIN] = settings->group_admin,
		[BU_PERSON_AUDITOR] = settings->group_auditor,
	};

	for (int i = 0; i < BU_PERSON_COUNT; i++) {
		const struct group *group = *names[i] ? getgrnam(names[i]) : NULL;

		ret[i].name = names[i];
		ret[i].gid = group ? (int64_t)group->gr_gid : -1;
	}
}

struct names {
	char **list;
	size_t count, cap;
};

static void
add_name(struct names *names, char *name)
{
	names->list =
		bu_xgrow(names->list, &names->cap, names->count + 2, sizeof(char *));
	names->list[names->count++] = name;
	names->list[names->count] = NULL;
}

/* The address of "ADDRESS:PORT". */
static void
add_listener(struct names *names, const char *listen)
{
	if (*listen)
		add_name(names,
			 bu_xasprintf("IP:%.*s", (int)strcspn(listen, ":"), listen));
}

char **
bu_settings_server_names(const struct bu_settings *settings)
{
	bu_autofree char *own = bu_xstrdup(settings->names);
	struct names names = {0};
	struct in_addr in;
	char *rest = own, *name;

	add_name(&names, bu_xstrdup("DNS:bringup"));
	add_name(&names, bu_xstrdup("IP:127.0.0.1"));
	add_listener(&names, settings->agent_listen);
	if (strcmp(settings->people_listen, settings->agent_listen) != 0)
		add_listener(&names, settings->people_listen);
	while (*settings->people_listen && (name = strsep(&rest, ", \t")))
		if (*name)
			add_name(&names, bu_xasprintf("%s:%s",
						      inet_pton(AF_INET, name, &in) == 1
							      ? "IP"
							      : "DNS",
						      name));
	return names.list;
}

struct bu_trust *
bu_settings_trust(const struct bu_settings *settings, const char *keys,
		  struct bu_err *err)
{
	char **names = bu_settings_server_names(settings);
	struct bu_trust *trust = bu_trust_open(keys, (const char *const *)names, err);

	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
	return trust;
}

struct bu_power_opts
bu_settings_power(const struct bu_settings *settings)
{
	return (struct bu_power_opts){.state = settings->state,
				      .secrets_dir = settings->secrets_dir,
				      .bmc_networks = settings->bmc_networks};
}

void
bu_settings_fini(struct bu_settings *settings)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		free(*slot(settings, i));
	for (size_t i = 0; i < settings->webhooks_count; i++) {
		free(settings->webhooks[i].name);
		for (size_t j = 0; j < BU_LEN(hook_keys); j++)
			free(*hook_slot(&settings->webhooks[i], j));
	}
	memset(settings, 0, sizeof(*settings));
}
