/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent's checks read of /proc, /sys and /etc. Invariant: it only reads, never
 * waits (pipes and devices are opened without blocking) and never believes a size that
 * sysfs tells.
 */
#include "base/sysroot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "base/text.h"

#define BELOW(root, fmt)                                                               \
	({                                                                             \
		va_list bu_args;                                                       \
		va_start(bu_args, fmt);                                                \
		char *bu_path = below(root, fmt, bu_args);                             \
		va_end(bu_args);                                                       \
		bu_path;                                                               \
	})

static char *below(const char *root, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
static char *
below(const char *root, const char *fmt, va_list args)
{
	bu_autofree char *rest = bu_xvasprintf(fmt, args);

	return bu_xasprintf("%s/%s", root, rest);
}

static char *
read_some(const char *path, size_t max, size_t *ret_size)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t size = 0, cap = 0;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	while (size < max) {
		ssize_t got;

		text = bu_xgrow(text, &cap, size + 4097, 1);
		got = read(fd, text + size, max - size < 4096 ? max - size : 4096);
		if (got < 0 &&
		    (errno == EINTR || errno == EPIPE)) /* the kernel's log */
			continue;
		if (got < 0 && size == 0) {
			free(text);
			return NULL;
		}
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	text = bu_xgrow(text, &cap, size + 1, 1);
	text[size] = '\0';
	if (ret_size)
		*ret_size = size;
	return text;
}

/* text may be ret. */
static void
clean_copy(char *ret, size_t size, const char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strcspn(text, "\n");
	if (length >= size)
		length = size - 1;
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	memmove(ret, text, length);
	ret[length] = '\0';
	for (; *ret; ret++)
		if ((unsigned char)*ret < ' ' || (unsigned char)*ret > '~')
			*ret = '?';
}

static int
line_of(const char *path, char *ret_text, size_t size)
{
	bu_autofree char *text = read_some(path, 4096, NULL);

	ret_text[0] = '\0';
	if (text)
		clean_copy(ret_text, size, text);
	return text != NULL;
}

int
bu_sysroot_line(const char *root, char *ret_text, size_t size, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);

	return line_of(path, ret_text, size);
}

int64_t
bu_sysroot_int(const char *root, int64_t fallback, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);
	char text[64], *end;
	long long number;

	line_of(path, text, sizeof(text));
	errno = 0;
	number = strtoll(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	return errno || end == text || (*end && !isspace((unsigned char)*end))
		       ? fallback
		       : number;
}

int64_t
bu_sysroot_number(const char *root, int64_t max, int64_t fallback, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);
	char text[64];
	int64_t number = fallback;

	line_of(path, text, sizeof(text));
	return bu_text_int(text, 0, max, &number) < 0 ? fallback : number;
}

void
bu_sysroot_clean(char *text)
{
	clean_copy(text, strlen(text) + 1, text);
}

int64_t
bu_sysroot_meminfo_bytes(const char *root, const char *key)
{
	bu_autofree char *text = bu_sysroot_read(root, 64 * 1024, NULL, "proc/meminfo");
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoll(at + strlen(key), NULL, 10) * 1024 : 0;
}

int
bu_sysroot_exists(const char *root, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);

	return access(path, F_OK) == 0;
}

char *
bu_sysroot_read(const char *root, size_t max, size_t *ret_size, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);

	return read_some(path, max, ret_size);
}

void
bu_sysroot_link(const char *root, char *ret_text, size_t size, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);
	char target[PATH_MAX];
	ssize_t got = readlink(path, target, sizeof(target) - 1);

	target[got < 0 ? 0 : got] = '\0';
	clean_copy(ret_text, size, bu_path_name(target));
}

char *
bu_sysroot_real(const char *root, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);

	return realpath(path, NULL);
}

static int
by_number(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int
not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int
bu_sysroot_each(const char *root, void (*visit)(const char *name, void *arg), void *arg,
		const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, not_hidden, by_number);

	for (int i = 0; i < count; i++) {
		visit(entries[i]->d_name, arg);
		free(entries[i]);
	}
	free(entries);
	return count < 0 ? 0 : count;
}

/* SCSI has it as it came from the disk: 4 bytes, then the text. */
static void
read_vpd_serial(const char *root, const char *disk, char *ret, size_t size)
{
	size_t got = 0;
	bu_autofree char *page =
		bu_sysroot_read(root, 4096, &got, "sys/block/%s/device/vpd_pg80", disk);

	if (!page || got <= 4)
		return;
	bu_text_copy(ret, size, page + 4);
	bu_sysroot_clean(ret);
}

void
bu_sysroot_serial(const char *root, char *ret_text, size_t size, const char *disk)
{
	/* virtio, then NVMe */
	if (!bu_sysroot_line(root, ret_text, size, "sys/block/%s/serial", disk) ||
	    !*ret_text)
		bu_sysroot_line(root, ret_text, size, "sys/block/%s/device/serial",
				disk);
	if (!*ret_text)
		read_vpd_serial(root, disk, ret_text, size);
}

void
bu_sysroot_wwn(const char *root, char *ret_text, size_t size, const char *disk)
{
	/* NVMe, then SCSI */
	bu_sysroot_line(root, ret_text, size, "sys/block/%s/wwid", disk);
	if (!*ret_text)
		bu_sysroot_line(root, ret_text, size, "sys/block/%s/device/wwid", disk);
}

int
bu_sysroot_is_pci(const char *name)
{
	unsigned int domain, bus, slot, function;
	int used = 0;

	return sscanf(name, "%x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function,
		      &used) == 4 &&
	       name[used] == '\0' && used < 16;
}

void
bu_sysroot_cpus(const char *root, cpu_set_t *ret, const char *fmt, ...)
{
	bu_autofree char *path = BELOW(root, fmt);
	char list[512], *end;

	CPU_ZERO(ret);
	line_of(path, list, sizeof(list));
	for (const char *at = list; *at; at = *end == ',' ? end + 1 : "") {
		long first = strtol(at, &end, 10), last = first;

		if (end == at)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long cpu = first; cpu >= 0 && cpu <= last && cpu < CPU_SETSIZE;
		     cpu++)
			CPU_SET((size_t)cpu, ret);
	}
}

struct nodes {
	const char *root;
	int count;
};

static void
visit_node(const char *name, void *arg)
{
	struct nodes *nodes = arg;
	cpu_set_t cpus;
	int number;

	if (sscanf(name, "node%d", &number) != 1)
		return;
	bu_sysroot_cpus(nodes->root, &cpus, "sys/devices/system/node/%s/cpulist", name);
	nodes->count += CPU_COUNT(&cpus) > 0;
}

int
bu_sysroot_cpu_nodes(const char *root)
{
	struct nodes nodes = {root, 0};

	bu_sysroot_each(root, visit_node, &nodes, "sys/devices/system/node");
	return nodes.count;
}

/* The kernel writes a blank in a name as "\040". */
static void
unescape(char *text)
{
	char *to = text;
	unsigned int code;

	while (*text) {
		int is_code = *text == '\\' && strlen(text) >= 4 &&
			      sscanf(text + 1, "%3o", &code) == 1;

		*to++ = is_code ? (char)code : *text;
		text += is_code ? 4 : 1;
	}
	*to = '\0';
}

int
bu_sysroot_mounted(const char *root, const char *place, struct bu_sysroot_mount *ret)
{
	bu_autofree char *table = bu_sysroot_read(root, 1 << 20, NULL, "proc/mounts");
	char *rest = table, *line, source[256], path[256], fs[32];
	size_t size = strlen(place);

	*ret = (struct bu_sysroot_mount){0};
	size -= size > 1 && place[size - 1] == '/';
	while (rest && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%255s %255s %31s", source, path, fs) != 3)
			continue;
		unescape(path);
		if (strlen(path) != size || strncmp(path, place, size) != 0)
			continue;
		if (strcmp(fs, "autofs") == 0) {
			*ret = (struct bu_sysroot_mount){.automount = 1};
			continue;
		}
		BU_TEXT_COPY(ret->source, source);
		BU_TEXT_COPY(ret->fs, fs);
	}
	return table ? 0 : -1;
}
