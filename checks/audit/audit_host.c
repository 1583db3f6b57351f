/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about the host: CPU settings, huge pages, its name,
 * the way to GPU memory. Called by audit.c. Invariant: a machine without the
 * hardware or the software that a row is about has no such row.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "checks/audit/audit_impl.h"

int
bu_audit_gpus(const struct bu_audit *a)
{
	int count = 0;

	for (size_t i = 0; i < a->pci_count; i++)
		count += a->pci[i].is_gpu;
	return count;
}

static const json_t *
host(const struct bu_audit *a)
{
	return json_object_get(a->ctx->expect, "host");
}

/* --- the way from NIC to GPU memory --- */

void
bu_audit_gpu_direct(struct bu_audit *a)
{
	static const char *const modules[] = {"nvidia_peermem", "nv_peer_mem"};
	bu_autofree char *version = bu_sysroot_read(a->root, 4096, NULL, "%s",
						    "proc/driver/nvidia/version");
	char release[80];
	int major = 0, minor = 0;

	/* Without a GPU and its driver, or a real NIC, there is no way to look for. */
	if (!version || bu_audit_gpus(a) == 0 ||
	    (size_t)bu_audit_gpus(a) == a->pci_count)
		return;
	for (size_t i = 0; i < BU_LEN(modules); i++) {
		if (bu_sysroot_exists(a->root, "sys/module/%s", modules[i])) {
			bu_audit_good(a, "", "%s", modules[i]);
			return;
		}
	}
	bu_sysroot_line(a->root, release, sizeof(release), "proc/sys/kernel/osrelease");
	sscanf(release, "%d.%d", &major, &minor);
	if (strstr(version, "Open Kernel Module") &&
	    (major > 5 || (major == 5 && minor >= 12)))
		bu_audit_good(a, "", "dmabuf");
	else
		bu_audit_bad(a, "", "neither", "nvidia_peermem or dmabuf",
			     "NICs cannot reach GPU memory: nvidia_peermem is not "
			     "loaded, and this driver and kernel have no dmabuf");
}

/* --- CPU --- */

struct governors {
	struct bu_audit *a;
	const char *want;
	int good, bad;
	char first[64];
};

static void
visit_cpu(const char *name, void *arg)
{
	struct governors *g = arg;
	char governor[32];

	if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]) ||
	    !bu_sysroot_line(g->a->root, governor, sizeof(governor),
			     "sys/devices/system/cpu/%s/cpufreq/scaling_governor",
			     name))
		return;
	if (strcmp(governor, g->want) == 0)
		g->good++;
	else if (g->bad++ == 0)
		snprintf(g->first, sizeof(g->first), "%.31s: %s", name, governor);
}

void
bu_audit_cpu_governor(struct bu_audit *a)
{
	struct governors g = {.a = a,
			      .want = bu_json_str(host(a), "governor", "performance")};

	bu_sysroot_each(a->root, visit_cpu, &g, "sys/devices/system/cpu");
	if (g.bad > 0)
		bu_audit_bad(a, "", g.first, g.want,
			     "%d of %d CPUs do not run with governor %s (%s)", g.bad,
			     g.bad + g.good, g.want, g.first);
	else if (g.good > 0)
		bu_audit_good(a, "", "%s", g.want);
}

struct idle {
	struct bu_audit *a;
	int64_t most_us;
	char name[32];
};

static void
visit_idle(const char *state, void *arg)
{
	static const char dir[] = "sys/devices/system/cpu/cpu0/cpuidle";
	struct idle *idle = arg;
	const char *root = idle->a->root;
	int64_t us = bu_sysroot_int(root, 0, "%s/%s/latency", dir, state);

	if (bu_sysroot_int(root, 0, "%s/%s/disable", dir, state) != 0 ||
	    us <= idle->most_us)
		return;
	idle->most_us = us;
	bu_sysroot_line(root, idle->name, sizeof(idle->name), "%s/%s/name", dir, state);
}

void
bu_audit_cpu_cstates(struct bu_audit *a)
{
	int64_t want = bu_json_int(host(a), "cstate_us", -1);
	struct idle idle = {.a = a, .most_us = 0};
	char seen[80], expected[40];

	if (want < 0 || !bu_sysroot_each(a->root, visit_idle, &idle,
					 "sys/devices/system/cpu/cpu0/cpuidle"))
		return;
	snprintf(seen, sizeof(seen), "%s, %lld us", *idle.name ? idle.name : "none",
		 (long long)idle.most_us);
	snprintf(expected, sizeof(expected), "at most %lld us", (long long)want);
	bu_audit_judge(a, idle.most_us <= want, "", seen, expected,
		       "CPUs sleep as deep as %s, expected %s to wake up", seen,
		       expected);
}

void
bu_audit_numa_balancing(struct bu_audit *a)
{
	int64_t on = bu_sysroot_int(a->root, -1, "proc/sys/kernel/numa_balancing");

	if (on < 0 || a->pci_count == 0 || bu_audit_numa_nodes(a) < 2)
		return;
	if (on == 0)
		bu_audit_good(a, "", "off");
	else
		bu_audit_bad(a, "", "on", "off", "automatic NUMA balancing is on");
}

void
bu_audit_smt(struct bu_audit *a)
{
	const json_t *want = json_object_get(host(a), "smt");
	int64_t active =
		bu_sysroot_int(a->root, -1, "sys/devices/system/cpu/smt/active");

	if (!json_is_boolean(want) || active < 0)
		return;
	if (active == json_is_true(want))
		bu_audit_good(a, "", active ? "on" : "off");
	else
		bu_audit_bad(a, "", active ? "on" : "off", active ? "off" : "on",
			     "hyper-threading is %s, expected %s",
			     active ? "on" : "off", active ? "off" : "on");
}

void
bu_audit_hugepages(struct bu_audit *a)
{
	json_t *want = json_object_get(host(a), "hugepages");
	const char *size;
	json_t *pages;

	json_object_foreach (want, size, pages) {
		json_int_t least = json_integer_value(pages);
		int64_t have = bu_sysroot_int(
			a->root, 0,
			"sys/kernel/mm/hugepages/hugepages-%.31s/nr_hugepages", size);
		char seen[32], expected[32];

		if (!bu_path_is_name(size))
			continue;
		snprintf(seen, sizeof(seen), "%lld", (long long)have);
		snprintf(expected, sizeof(expected), "%lld", (long long)least);
		bu_audit_judge(a, have >= least, size, seen, expected,
			       "%s huge pages of %s, expected %s", seen, size,
			       expected);
	}
}

/* The agent leaves a mark of what it saw the TPM open, or sealed to it. */
static void
check_sealed(struct bu_audit *a, const char *name)
{
	int sealed = bu_sysroot_exists(a->root, "run/bringup/volumes/%s", name);

	if (bu_sysroot_exists(a->root, "etc/bringup/volumes.tpm"))
		bu_audit_judge(a, sealed, name, sealed ? "sealed" : "not sealed",
			       "sealed",
			       "data volume %s is not sealed to the TPM: a start "
			       "without the appliance would leave it closed",
			       name);
}

/* "GUID NAME FILESYSTEM PLACE" a line; the agent opens them. */
void
bu_audit_data_volumes(struct bu_audit *a)
{
	bu_autofree char *wanted =
		bu_sysroot_read(a->root, 65536, NULL, "%s", "etc/bringup/volumes");
	char *rest = wanted, *line, why[256];

	bu_sysroot_line(a->root, why, sizeof(why), "run/bringup/volumes.closed");
	while ((line = strsep(&rest, "\n"))) {
		char name[40], place[256];
		bu_autofree char *device = NULL;
		struct bu_sysroot_mount found;
		int open;

		if (*line == '#' ||
		    sscanf(line, "%*s %39s %*s %255[^\n]", name, place) != 2)
			continue;
		device = bu_xasprintf("/dev/mapper/bringup-%s", name);
		open = bu_sysroot_mounted(a->root, place, &found) == 0 &&
		       strcmp(found.source, device) == 0;
		bu_audit_judge(a, open, name, open ? "open" : "closed", "open",
			       "data volume %s is not open on %s%s%s", name, place,
			       *why ? ": " : "", why);
		if (open)
			check_sealed(a, name);
	}
}

/* The image's script (recipes/access) leaves what it could not set up. */
void
bu_audit_access(struct bu_audit *a)
{
	static const char *const files[] = {"etc/bringup/passwd", "etc/bringup/group",
					    "etc/ssh/sshd_config.d/10-bringup.conf",
					    "etc/sssd/conf.d/bringup.conf"};
	int wanted = 0;
	char why[240];

	for (size_t i = 0; i < BU_LEN(files); i++)
		wanted |= bu_sysroot_exists(a->root, "%s", files[i]);
	if (bu_sysroot_line(a->root, why, sizeof(why), "run/bringup/access.failed"))
		bu_audit_bad(a, "", why, "accounts and sshd of the profile", "%s", why);
	else if (wanted)
		bu_audit_good(a, "", "set up");
}

void
bu_audit_identity(struct bu_audit *a)
{
	char name[80];

	bu_sysroot_line(a->root, name, sizeof(name), "proc/sys/kernel/hostname");
	if (*name && strcmp(name, "(none)") != 0 && strcmp(name, "localhost") != 0)
		bu_audit_good(a, "", "%s", name);
	else
		bu_audit_bad(a, "", *name ? name : "none", "a name",
			     "the machine's host name is %s", *name ? name : "not set");
}
