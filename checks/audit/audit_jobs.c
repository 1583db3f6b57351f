/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about what jobs may do with RDMA: lock memory, open its devices.
 * Called by audit.c. Invariant: the limit is the one that systemd would give slurmd, by
 * systemd's own rules about which file counts.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum { DROP_INS_MAX = 64 };

/* --- the limit of slurmd --- */

/* LimitMEMLOCK= as it was last set; "" = not set. */
struct limit {
	char text[64];
	struct rlimit value;
};

/* "infinity", "8M"; 0 when it is neither. */
static int
read_size(const char *text, size_t length, rlim_t *ret)
{
	static const char units[] = "KMGTPE";
	char *end;
	const char *unit;

	if (length == 8 && strncmp(text, "infinity", 8) == 0) {
		*ret = RLIM_INFINITY;
		return 1;
	}
	*ret = strtoull(text, &end, 10);
	if (end == text || *text == '-')
		return 0;
	unit = end < text + length ? strchr(units, *end) : NULL;
	if (unit && *unit) {
		*ret <<= 10 * (unit - units + 1);
		end++;
	}
	return end == text + length;
}

/* "SOFT:HARD" or one for both. What systemd would not read changes nothing, as there.
 */
static void
set_limit(struct limit *limit, const char *text)
{
	size_t length = strcspn(text, ": \t\r");
	const char *hard = text[length] == ':' ? text + length + 1 : text;
	struct rlimit value;

	if (!*text)
		*limit = (struct limit){0};
	if (!read_size(text, length, &value.rlim_cur) ||
	    !read_size(hard, strcspn(hard, " \t\r"), &value.rlim_max))
		return;
	limit->value = value;
	snprintf(limit->text, sizeof(limit->text), "%.*s", (int)strcspn(text, " \t\r"),
		 text);
}

/* What a file says under a section's key, its last word on it. */
static void
read_limit(const struct bu_audit *a, const char *path, const char *section,
	   const char *key, struct limit *limit)
{
	bu_autofree char *text = bu_sysroot_read(a->root, 65536, NULL, "%s", path);
	char *save, *line;
	int inside = 0;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " \t");
		if (*line == '[')
			inside = strncmp(line, section, strlen(section)) == 0;
		else if (inside && strncmp(line, key, strlen(key)) == 0)
			set_limit(limit, line + strlen(key));
	}
}

struct drop_ins {
	const char *dir; /* the one that is looked through */
	size_t count;
	struct {
		char name[64];
		const char *dir;
	} list[DROP_INS_MAX];
};

static void
visit_drop_in(const char *name, void *arg)
{
	struct drop_ins *d = arg;
	size_t length = strlen(name), i = 0;

	if (length < 6 || length >= sizeof(d->list[0].name) ||
	    strcmp(name + length - 5, ".conf") != 0)
		return;
	while (i < d->count && strcmp(d->list[i].name, name) < 0)
		i++;
	if (i == d->count || strcmp(d->list[i].name, name) != 0) {
		if (d->count == DROP_INS_MAX)
			return;
		memmove(&d->list[i + 1], &d->list[i],
			(d->count++ - i) * sizeof(d->list[0]));
		snprintf(d->list[i].name, sizeof(d->list[i].name), "%s", name);
	}
	d->list[i].dir = d->dir;
}

/* By name, whatever folder they lie in; a stronger folder's takes the place of a weaker
 * one's of the same name. */
static void
read_drop_ins(const struct bu_audit *a, const char *folder, const char *section,
	      const char *key, struct limit *limit)
{
	static const char *const roots[] = {"usr/lib", "run", "etc"};
	struct drop_ins d = {0};
	char dirs[BU_LEN(roots)][128];

	for (size_t i = 0; i < BU_LEN(roots); i++) {
		snprintf(dirs[i], sizeof(dirs[i]), "%s/systemd/%s", roots[i], folder);
		d.dir = dirs[i];
		bu_sysroot_each(a->root, visit_drop_in, &d, "%s", dirs[i]);
	}
	for (size_t i = 0; i < d.count; i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/%s", d.list[i].dir, d.list[i].name);

		read_limit(a, path, section, key, limit);
	}
}

/* 0 when the machine has no slurmd. */
static int
slurmd_limit(const struct bu_audit *a, struct limit *limit)
{
	static const char *const units[] = {"etc/systemd/system/slurmd.service",
					    "run/systemd/system/slurmd.service",
					    "usr/lib/systemd/system/slurmd.service",
					    "lib/systemd/system/slurmd.service"};
	static const char manager[] = "DefaultLimitMEMLOCK=", unit[] = "LimitMEMLOCK=";
	struct limit usual = {.text = "not set",
			      .value = {8 << 20, 8 << 20}}; /* systemd's own */
	size_t i = 0;

	while (i < BU_LEN(units) && !bu_sysroot_exists(a->root, "%s", units[i]))
		i++;
	if (i == BU_LEN(units))
		return 0;
	read_limit(a, "etc/systemd/system.conf", "[Manager]", manager, &usual);
	read_drop_ins(a, "system.conf.d", "[Manager]", manager, &usual);
	read_limit(a, units[i], "[Service]", unit, limit);
	read_drop_ins(a, "system/service.d", "[Service]", unit, limit);
	read_drop_ins(a, "system/slurmd.service.d", "[Service]", unit, limit);
	if (!*limit->text)
		*limit = usual;
	return 1;
}

/* --- what a job can do with it --- */

/* The first device of a network: limits and permissions are the same for all. */
static void
try_to_lock(struct bu_audit *a, const struct limit *limit)
{
	const char *device = NULL;
	char said[128] = "";
	int rc;

	for (size_t i = 0; i < a->port_count && !device; i++)
		device = a->ports[i].network ? a->ports[i].device : NULL;
	if (!device || !a->probes->lock)
		return;
	rc = a->probes->lock(a->root, device, &limit->value, said, sizeof(said));
	if (rc == 0)
		bu_audit_good(a, device, "%s", said);
	else if (rc > 0)
		bu_audit_bad(a, device, said, "can be registered",
			     "a user's job that slurmd starts cannot use %s: %s",
			     device, said);
	else
		bu_audit_unknown(a, device,
				 "could not try whether jobs can lock memory: %s",
				 said);
}

void
bu_audit_memlock(struct bu_audit *a)
{
	struct limit limit = {0};

	if (a->port_count == 0 || !slurmd_limit(a, &limit))
		return;
	bu_audit_judge(a,
		       limit.value.rlim_cur == RLIM_INFINITY &&
			       limit.value.rlim_max == RLIM_INFINITY,
		       "slurmd", limit.text, "infinity",
		       "jobs of slurmd may not lock the memory that RDMA needs: "
		       "LimitMEMLOCK is %s",
		       limit.text);
	try_to_lock(a, &limit);
}

struct access {
	struct bu_audit *a;
	int good;
};

static void
visit_uverbs(const char *name, void *arg)
{
	struct access *access = arg;
	struct bu_audit *a = access->a;
	bu_autofree char *path = bu_xasprintf("%s/dev/infiniband/%s", a->root, name);
	struct stat st;
	char seen[16];

	if ((strncmp(name, "uverbs", 6) != 0 && strcmp(name, "rdma_cm") != 0) ||
	    stat(path, &st) != 0)
		return;
	snprintf(seen, sizeof(seen), "%04o", (unsigned)(st.st_mode & 07777));
	if ((st.st_mode & 0006) == 0006)
		access->good++;
	else
		bu_audit_bad(a, name, seen, "0666",
			     "/dev/infiniband/%s is not open to jobs: mode %s", name,
			     seen);
}

void
bu_audit_uverbs_access(struct bu_audit *a)
{
	struct access access = {.a = a};

	if (a->port_count == 0)
		return;
	bu_sysroot_each(a->root, visit_uverbs, &access, "dev/infiniband");
	if (access.good > 0)
		bu_audit_good(a, "", "%d devices", access.good);
}
