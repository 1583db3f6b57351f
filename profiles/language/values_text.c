/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of values that stay text. Called by values.c. Invariant: what passes can be
 * split at its commas and blanks by what uses it, without checking again.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/seal.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/url.h"
#include "profiles/desired.h"
#include "profiles/language/values.h"
#include "profiles/language/window.h"
#include "profiles/load/disk.h"
#include "profiles/load/gpu.h"
#include "profiles/nodeset/nodeset.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ALNUM LETTERS DIGITS
#define HEX "[0123456789abcdef]"

enum { ITEM_MAX = 255, ITEMS_MAX = 128 };

/* 1 when the text is a list with commas, blanks around items allowed, whose items all
 * pass; at least `least` of them and no item twice, or, with 0, at least one. */
static int
list_ok(const char *text, int (*item_ok)(const char *item), int least)
{
	char items[ITEMS_MAX][ITEM_MAX + 1];
	int count = 0;

	while (1) {
		size_t size;
		const char *next;

		text += strspn(text, " \t");
		size = strcspn(text, ",");
		next = text + size;
		while (size && isblank((unsigned char)text[size - 1]))
			size--;
		if (count == ITEMS_MAX || size == 0 || size > ITEM_MAX)
			return 0;
		memcpy(items[count], text, size);
		items[count][size] = '\0';
		if (!item_ok(items[count]))
			return 0;
		for (int i = 0; i < count; i++)
			if (least && strcmp(items[i], items[count]) == 0)
				return 0;
		count++;
		if (!*next)
			return count >= least;
		text = next + 1;
	}
}

static int
word_ok(const char *text)
{
	return bu_text_is(text, ALNUM "-_.:/@+");
}

static int
words_item_ok(const char *text)
{
	return bu_text_is(text, ALNUM "-_.:/@+*?=");
}

static int
words_ok(const char *text)
{
	return list_ok(text, words_item_ok, 1);
}

/* Repetitions become errors that name the item. */
static int
refs_ok(const char *text)
{
	return list_ok(text, words_item_ok, 0);
}

static int
path_ok(const char *text)
{
	return bu_path_is_absolute(text) && !strpbrk(text, " \"'\\");
}

static int
keyfile_ok(const char *text)
{
	return strncmp(text, "file:", 5) == 0 && path_ok(text + 5);
}

static int
exec_ok(const char *text)
{
	return bu_secret_is_exec(text) && bu_secret_form_ok(text);
}

static int
keyfiles_ok(const char *text)
{
	return list_ok(text, keyfile_ok, 1);
}

/* A user or password has no place in a profile. */
static int
bmc_ok(const char *text)
{
	struct bu_url url;

	return bu_url_parse(text, &url) == 0 && !url.has_user && url.port != 0;
}

static int
url_ok(const char *text)
{
	static const char *const schemes[] = {"https",     "http", "oci",
					      "git+https", "s3",   "file"};
	struct bu_url url;
	size_t i = 0;

	if (!bmc_ok(text) || bu_url_parse(text, &url) < 0)
		return 0;
	while (i < BU_LEN(schemes) && strcmp(url.scheme, schemes[i]) != 0)
		i++;
	return i < BU_LEN(schemes) && (url.host[0] || strcmp(url.scheme, "file") == 0);
}

static int
place_ok(const char *text)
{
	return exec_ok(text) || path_ok(text) ||
	       (strncmp(text, "http", 4) == 0 && url_ok(text) && !strpbrk(text, "?# "));
}

/* Of a Prometheus what the paths of its interface are added to. */
static int
counters_ok(const char *text)
{
	if (strcmp(text, "infiniband") == 0)
		return 1;
	return strncmp(text, "http", 4) == 0 && url_ok(text) && !strpbrk(text, "?# ");
}

static int
hostport_ok(const char *text)
{
	struct bu_url url;

	return bu_url_parse(text, &url) == 0 && bu_url_is_host(&url) && url.port > 0 &&
	       !strchr(url.host, ':');
}

static int
domain_ok(const char *text)
{
	size_t size;

	if (strlen(text) > 253)
		return 0;
	do {
		size = strcspn(text, ".");
		if (size == 0 || size > 63 || text[0] == '-' || text[size - 1] == '-' ||
		    strspn(text, "abcdefghijklmnopqrstuvwxyz" DIGITS "-") < size)
			return 0;
		text += size + (text[size] == '.');
	} while (text[0]);
	return 1;
}

static int
ipv4_ok(const char *text)
{
	struct in_addr in;

	return inet_pton(AF_INET, text, &in) == 1;
}

static int
host_ok(const char *text)
{
	return bu_text_is(text, DIGITS ".") ? ipv4_ok(text) : domain_ok(text);
}

static int
hosts_ok(const char *text)
{
	return list_ok(text, host_ok, 1);
}

static int
pci_ok(const char *text)
{
	int used = 0;

	sscanf(text, "%*4" HEX ":%*2" HEX ":%*2" HEX ".%*1" HEX "%n", &used);
	return used == (int)strlen("0000:18:00.0") && !text[used];
}

/* "ib0", "0000:18:00.0", "mlx5_3/1": as the agent finds it in sysfs. */
static int
rdmaport_ok(const char *text)
{
	int used = 0;

	sscanf(text, "%*32[-_." ALNUM "]%n/%*3[" DIGITS "]%n", &used, &used);
	return pci_ok(text) || (used && !text[used]);
}

static int
nic_ok(const char *text)
{
	return pci_ok(text) || (bu_text_is(text, DIGITS) && strlen(text) <= 2);
}

static int
sha256_ok(const char *text)
{
	return bu_text_is(text, DIGITS "abcdef") && strlen(text) == 64;
}

static int
nics_ok(const char *text)
{
	return list_ok(text, nic_ok, 2);
}

static int
nicmac_ok(const char *text)
{
	const char *equals = strchr(text, '=');
	char mac[18];

	return equals && equals > text &&
	       strspn(text, ALNUM "-_.") == (size_t)(equals - text) &&
	       bu_mac_normalize(equals + 1, mac) == 0;
}

static int
nicmacs_ok(const char *text)
{
	return list_ok(text, nicmac_ok, 1);
}

static int
priority_ok(const char *text)
{
	return *text >= '0' && *text <= '7' && !text[1];
}

static int
priorities_ok(const char *text)
{
	return strcmp(text, "none") == 0 || list_ok(text, priority_ok, 1);
}

/* "0x8001"; the partition 0 is none. */
static int
pkey_ok(const char *text)
{
	return strncmp(text, "0x", 2) == 0 && strlen(text) <= 6 &&
	       bu_text_is(text + 2, DIGITS "abcdefABCDEF") &&
	       (strtol(text, NULL, 16) & 0x7fff);
}

static int
pkeys_ok(const char *text)
{
	return list_ok(text, pkey_ok, 1);
}

static int
route_ok(const char *text)
{
	const struct bu_key key = {.type = BU_KEY_CIDR, .min = 1, .max = 32};
	const char *via = strstr(text, " via ");
	bu_autofree char *net = NULL;

	if (!via)
		return 0;
	net = bu_xstrndup(text, (size_t)(via - text));
	return (strcmp(net, "0.0.0.0/0") == 0 ||
		bu_value_cidr(&key, net, NULL, NULL) == 0) &&
	       ipv4_ok(via + 5);
}

static int
routes_ok(const char *text)
{
	return list_ok(text, route_ok, 1);
}

static int
setting_ok(const char *text)
{
	size_t name = strspn(text, ALNUM "-_./");

	return name > 0 && text[name] == '=' &&
	       bu_text_is(text + name + 1, ALNUM "-_./: ");
}

static int
settings_ok(const char *text)
{
	return list_ok(text, setting_ok, 1);
}

static int
hugepage_ok(const char *text)
{
	static const char *const sizes[] = {"2MiB*", "1GiB*", "16MiB*", "512MiB*"};

	for (size_t i = 0; i < BU_LEN(sizes); i++) {
		size_t size = strlen(sizes[i]);

		if (strncmp(text, sizes[i], size) == 0)
			return bu_text_is(text + size, DIGITS) && text[size] != '0' &&
			       strlen(text + size) <= 7;
	}
	return 0;
}

static int
hugepages_ok(const char *text)
{
	return list_ok(text, hugepage_ok, 1);
}

/* A name or value of Kubernetes: at most 63 characters, ends alphanumeric. */
static int
label_part_ok(const char *text, size_t size)
{
	return size > 0 && size <= 63 && isalnum((unsigned char)text[0]) &&
	       isalnum((unsigned char)text[size - 1]) &&
	       strspn(text, ALNUM "-_.") >= size;
}

static int
label_key_ok(const char *text, size_t size)
{
	const char *slash = memchr(text, '/', size);
	bu_autofree char *prefix = NULL;

	if (!slash)
		return label_part_ok(text, size);
	prefix = bu_xstrndup(text, (size_t)(slash - text));
	return domain_ok(prefix) &&
	       label_part_ok(slash + 1, size - (size_t)(slash + 1 - text));
}

static int
label_ok(const char *text)
{
	size_t key = strcspn(text, "=");

	return text[key] && label_key_ok(text, key) &&
	       (!text[key + 1] ||
		label_part_ok(text + key + 1, strlen(text + key + 1)));
}

static int
labels_ok(const char *text)
{
	return list_ok(text, label_ok, 1);
}

static int
taint_ok(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t key = strcspn(text, "=:");

	if (!colon || !label_key_ok(text, key))
		return 0;
	if (text[key] == '=' &&
	    !label_part_ok(text + key + 1, (size_t)(colon - text) - key - 1))
		return 0;
	return text + key <= colon && (strcmp(colon, ":NoSchedule") == 0 ||
				       strcmp(colon, ":PreferNoSchedule") == 0 ||
				       strcmp(colon, ":NoExecute") == 0);
}

static int
taints_ok(const char *text)
{
	return list_ok(text, taint_ok, 1);
}

/* "scratch:500GiB:ext4:/scratch" */
static int
partition_ok(const char *text)
{
	const struct bu_key key = {
		.type = BU_KEY_SIZE, .min = 1 << 20, .max = 1024.0 * 1024 * (1 << 30)};
	char name[32], size[32], fs[8];
	int end = 0;

	if (sscanf(text, "%31[a-z0-9-]:%31[0-9A-Za-z.]:%7[a-z0-9]:%n", name, size, fs,
		   &end) != 3 ||
	    !end)
		return 0;
	return (strcmp(size, "rest") == 0 ||
		bu_value_number(&key, size, NULL, NULL) == 0) &&
	       (strcmp(fs, "ext4") == 0 || strcmp(fs, "xfs") == 0) &&
	       path_ok(text + end);
}

/* Only the last partition may take the rest. */
static int
data_ok(const char *text)
{
	const char *rest = strstr(text, ":rest:");

	return list_ok(text, partition_ok, 1) && (!rest || !strchr(rest, ','));
}

/* What has a meaning of its own in sudo's rules is not allowed, '*' above all: it
 * matches blanks and options, too. */
static int
command_ok(const char *text)
{
	size_t path = strcspn(text, " ");
	bu_autofree char *program = bu_xstrndup(text, path);

	return path_ok(program) && bu_text_is(text, ALNUM "/_.-+@ ");
}

static int
sudo_ok(const char *text)
{
	return strcmp(text, "all") == 0 || list_ok(text, command_ok, 1);
}

static int
ref_ok(const char *text)
{
	return bu_text_is(text, ALNUM "-_.");
}

static int (*const forms[])(const char *text) = {
	[BU_KEY_NAME] = bu_node_name_ok,
	[BU_KEY_WORD] = word_ok,
	[BU_KEY_WORDS] = words_ok,
	[BU_KEY_PATH] = path_ok,
	[BU_KEY_FILE] = bu_path_is_relative,
	[BU_KEY_SECRET] = bu_secret_form_ok,
	[BU_KEY_EXEC] = exec_ok,
	[BU_KEY_KEYFILE] = keyfile_ok,
	[BU_KEY_KEYFILES] = keyfiles_ok,
	[BU_KEY_URL] = url_ok,
	[BU_KEY_PLACE] = place_ok,
	[BU_KEY_RECIPIENT] = bu_seal_recipient_ok,
	[BU_KEY_COUNTERS] = counters_ok,
	[BU_KEY_BMC] = bmc_ok,
	[BU_KEY_HOSTPORT] = hostport_ok,
	[BU_KEY_DOMAIN] = domain_ok,
	[BU_KEY_HOSTS] = hosts_ok,
	[BU_KEY_IPV4] = ipv4_ok,
	[BU_KEY_PCI] = pci_ok,
	[BU_KEY_RDMAPORT] = rdmaport_ok,
	[BU_KEY_SHA256] = sha256_ok,
	[BU_KEY_NICS] = nics_ok,
	[BU_KEY_NICMACS] = nicmacs_ok,
	[BU_KEY_PRIORITIES] = priorities_ok,
	[BU_KEY_PKEYS] = pkeys_ok,
	[BU_KEY_PKEY] = pkey_ok,
	[BU_KEY_ROUTES] = routes_ok,
	[BU_KEY_SETTINGS] = settings_ok,
	[BU_KEY_HUGEPAGES] = hugepages_ok,
	[BU_KEY_LABELS] = labels_ok,
	[BU_KEY_TAINTS] = taints_ok,
	[BU_KEY_MIG] = bu_gpu_mig_form_ok,
	[BU_KEY_WINDOW] = bu_window_form_ok,
	[BU_KEY_DATA] = data_ok,
	[BU_KEY_DISK] = bu_disk_form_ok,
	[BU_KEY_SUDO] = sudo_ok,
	[BU_KEY_REF] = ref_ok,
	[BU_KEY_REFS] = refs_ok,
};

int
bu_value_form_ok(enum bu_key_type type, const char *text)
{
	if ((size_t)type >= BU_LEN(forms) || !forms[type])
		return 1;
	return forms[type](text);
}
