/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile tunes on a node, in the places where every distribution with systemd
 * looks: sysctl.d, modules-load.d, tmpfiles.d, fstab; and the kernel's command line.
 */
#include "provisioner/config/tuning.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profiles/language/schema.h"

#define GIB (1024ull * 1024 * 1024)
/* Of the image, where data takes the rest of the disk and no root_size is given. */
#define ROOT_BYTES (32 * GIB)
/* The header of an encrypted partition, besides what the profile asks for. */
#define LUKS_BYTES (16 * 1024 * 1024LL)

/* The next element of a list with commas, without blanks around it; owned. */
static char *
next_item(const char **rest)
{
	const char *start;
	size_t size;

	if (!*rest)
		return NULL;
	start = *rest + strspn(*rest, ", \t");
	size = strcspn(start, ",");
	*rest = start + size;
	while (size && (start[size - 1] == ' ' || start[size - 1] == '\t'))
		size--;
	return size ? bu_xstrndup(start, size) : NULL;
}

/* What a list is in a file: where, and what comes before its own lines. */
struct list_file {
	const char *path, *apply, *first;
	char *(*next)(const char **rest);
};

/* A file with a line for each item of a list; none without lines. */
static void
add_list(struct bu_config *config, const struct list_file *file, const char *list)
{
	bu_autofree char *text = NULL;
	size_t size;
	char *item;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	fputs(file->first, out);
	while (list && (item = file->next(&list))) {
		fprintf(out, "%s\n", item);
		free(item);
	}
	fclose(out);
	if (size)
		bu_config_add(config, file->path, 0644, file->apply,
			      BU_CONFIG_HEAD "%s", text);
}

/* A kernel answers for each of its addresses on each of its NICs, and asks with any of
 * them. With two rails a neighbour would learn the wrong NIC. What the profile says of
 * the same keys comes later and counts. */
static const char *
sysctl_of_rails(const struct bu_desired_pool *pool)
{
	size_t rails = 0;

	for (size_t i = 0; i < pool->networks_count; i++)
		rails += pool->networks[i]->role == BU_ROLE_FABRIC;
	return rails < 2 ? ""
			 : "net.ipv4.conf.all.arp_ignore=1\n"
			   "net.ipv4.conf.all.arp_announce=2\n";
}

/* Files of /sys, by systemd-tmpfiles: at each boot, and when somebody calls it. A CPU
 * without a governor (a virtual one) has no such file, and nothing is written. */
static void
add_tmpfiles(const struct bu_desired_node *node, struct bu_config *config)
{
	static const char governors[] =
		"w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
	static const char thp[] = "w /sys/kernel/mm/transparent_hugepage/enabled";
	bu_autofree char *first = NULL, *second = NULL;

	if (!node->governor && !node->thp)
		return;
	first = node->governor
			? bu_xasprintf("%s - - - - %s\n", governors, node->governor)
			: bu_xstrdup("");
	second = node->thp ? bu_xasprintf("%s - - - - %s\n", thp, node->thp)
			   : bu_xstrdup("");
	bu_config_add(config, "/etc/tmpfiles.d/bringup.conf", 0644, "tmpfiles",
		      BU_CONFIG_HEAD "%s%s", first, second);
}

/* "3g.40gb+2g.20gb*2" as nvidia-smi takes it: "3g.40gb,2g.20gb,2g.20gb". */
static void
print_instances(FILE *out, const char *layout)
{
	const char *separator = "";

	while (*layout) {
		size_t size = strcspn(layout, "+");
		size_t name = strcspn(layout, "*+");
		int times = name < size ? atoi(layout + name + 1) : 1;

		for (int i = 0; i < times; i++) {
			fprintf(out, "%s%.*s", separator, (int)name, layout);
			separator = ",";
		}
		layout += size + (layout[size] == '+');
	}
	fputc('\n', out);
}

/* "N LAYOUT" a line, for each GPU that the profile divides; the others are whole. */
static void
print_gpus(FILE *out, const struct bu_desired_node *node)
{
	int gpus = node->hardware->gpus;
	const char *rest = node->mig;
	char *item;

	while ((item = next_item(&rest))) {
		bu_autofree char *part = item;
		const char *colon = strchr(part, ':');
		int first = 0, last = gpus - 1;

		if (colon && sscanf(part, "%d-%d", &first, &last) < 2)
			last = first;
		for (int gpu = first; gpu <= last; gpu++) {
			fprintf(out, "%d ", gpu);
			print_instances(out, colon ? colon + 1 : part);
		}
	}
}

static void
add_gpus(const struct bu_desired_node *node, struct bu_config *config)
{
	bu_autofree char *text = NULL;
	size_t size;
	FILE *out;

	if (!node->hardware->gpus)
		return;
	out = open_memstream(&text, &size);
	bu_assert(out); /* only for want of memory */
	print_gpus(out, node);
	fclose(out);
	bu_config_add(config, "/etc/bringup/gpu", 0644, "gpu",
		      BU_CONFIG_HEAD
		      "# GPU and its instances; a GPU that is not here is whole.\n%s",
		      text);
	/* For NVIDIA's device plugin, whose pod mounts the file. */
	if (node->gpu_slices)
		bu_config_add(config, "/etc/bringup/device-plugin.yaml", 0644, "gpu",
			      BU_CONFIG_HEAD
			      "version: v1\nsharing:\n  timeSlicing:\n"
			      "    resources:\n      - name: nvidia.com/gpu\n"
			      "        replicas: %d\n",
			      node->gpu_slices);
}

/* "scratch:500GiB:ext4:/scratch" */
struct data {
	char name[32], fs[8];
	uint64_t size_bytes; /* 0 = the rest */
	const char *path;
	char guid[37];
};

static int
read_data(const struct bu_desired *desired, const struct bu_desired_node *node,
	  const char *item, struct data *ret)
{
	const struct bu_key key = {.type = BU_KEY_SIZE, .max = 1e18};
	char size[32];
	int end = 0;

	if (sscanf(item, "%31[^:]:%31[^:]:%7[^:]:%n", ret->name, size, ret->fs, &end) !=
		    3 ||
	    !end)
		return -1;
	ret->size_bytes = 0;
	if (strcmp(size, "rest") != 0 &&
	    bu_value_parse(&key, size, &ret->size_bytes, NULL) < 0)
		return -1;
	ret->path = item + end;
	bu_config_uuid(ret->guid, "%s/%s/data/%s", desired->site.name, node->name,
		       ret->name);
	return 0;
}

/* What is encrypted the agent opens and mounts, with the keys that it gets for it. For
 * the rest systemd makes the file system when there is none, once, checks and mounts
 * it. */
static void
print_data(const struct bu_config_input *input, FILE *volumes, FILE *fstab)
{
	int encrypts = bu_desired_encrypts(input->node);
	const char *rest = input->node->pool->data;
	char *item;

	while ((item = next_item(&rest))) {
		struct data data;
		int is_one = read_data(input->desired, input->node, item, &data) == 0;

		if (is_one && encrypts)
			fprintf(volumes, "%s %s %s %s\n", data.guid, data.name, data.fs,
				data.path);
		else if (is_one)
			fprintf(fstab,
				"PARTUUID=%s %s %s defaults,nofail,x-systemd.makefs "
				"0 2\n",
				data.guid, data.path, data.fs);
		free(item);
	}
}

/* File systems of servers. */
static void
print_mounts(const struct bu_desired_pool *pool, FILE *fstab)
{
	for (size_t i = 0; i < pool->mounts_count; i++) {
		const struct bu_desired_mount *mount = pool->mounts[i];

		fprintf(fstab,
			"%s %s %s %s%s_netdev,nofail,x-systemd.mount-timeout=90s "
			"0 0\n",
			mount->source, mount->path, mount->fs,
			mount->options ? mount->options : "",
			mount->options ? "," : "");
	}
}

/* What is broken must not keep the node from booting: its checks see what is missing
 * (data-mount, data-volume, scratch, mount). */
static void
add_file_systems(const struct bu_config_input *input, struct bu_config *config)
{
	bu_autofree char *volumes = NULL, *fstab = NULL;
	size_t volumes_size, fstab_size;
	FILE *to_volumes = open_memstream(&volumes, &volumes_size);
	FILE *to_fstab = open_memstream(&fstab, &fstab_size);

	bu_assert(to_volumes && to_fstab); /* only for want of memory */
	print_data(input, to_volumes, to_fstab);
	print_mounts(input->node->pool, to_fstab);
	fclose(to_volumes);
	fclose(to_fstab);
	if (volumes_size)
		bu_config_add(config, "/etc/bringup/volumes", 0644, "",
			      BU_CONFIG_HEAD "%s", volumes);
	if (bu_desired_seals(input->node))
		bu_config_add(config, "/etc/bringup/volumes.tpm", 0644, "",
			      BU_CONFIG_HEAD);
	if (fstab_size)
		bu_config_add(config, "/etc/fstab", 0644, "", BU_CONFIG_HEAD "%s",
			      fstab);
}

/* The array of the other disks: who it is, the installer knows (of the machine), and
 * where it goes, the profile. */
static void
add_scratch(const struct bu_desired_node *node, struct bu_config *config)
{
	const struct bu_desired_disks *disks = node->hardware->disks;

	if (bu_desired_scratch(node))
		bu_config_add(config, "/etc/bringup/scratch", 0644, "",
			      BU_CONFIG_HEAD "%s%s %s\n",
			      bu_desired_forgets_scratch(node) ? "volatile-" : "",
			      disks->scratch_fs, disks->scratch_mount);
}

size_t
bu_config_data(const struct bu_desired *desired, const struct bu_desired_node *node,
	       struct bu_work_data ret[BU_WORK_DATA_MAX], int64_t *ret_root_bytes)
{
	const char *rest = node->pool->data;
	size_t count = 0;
	int takes_rest = 0;
	char *item;

	while ((item = next_item(&rest))) {
		struct data data;

		if (count < BU_WORK_DATA_MAX &&
		    read_data(desired, node, item, &data) == 0) {
			struct bu_work_data *its = &ret[count++];

			bu_text_copy(its->name, sizeof(its->name), data.name);
			bu_text_copy(its->guid, sizeof(its->guid), data.guid);
			its->size_bytes = (int64_t)data.size_bytes;
			takes_rest |= data.size_bytes == 0;
			if (data.size_bytes && bu_desired_encrypts(node))
				its->size_bytes += LUKS_BYTES;
		}
		free(item);
	}
	*ret_root_bytes = (int64_t)node->pool->root_size_bytes;
	if (!*ret_root_bytes && takes_rest)
		*ret_root_bytes = ROOT_BYTES;
	return count;
}

/* "2MiB*1024" as the kernel takes it. */
static void
print_hugepages(FILE *out, const char *hugepages)
{
	char *item;

	while ((item = next_item(&hugepages))) {
		int size, used = 0;
		char unit;
		long count;

		if (sscanf(item, "%d%ciB*%n%ld", &size, &unit, &used, &count) == 3)
			fprintf(out, " hugepagesz=%d%c hugepages=%ld", size, unit,
				count);
		free(item);
	}
}

char *
bu_config_kargs(const struct bu_desired_node *node)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	fprintf(out, "%s", node->kargs ? node->kargs : "");
	print_hugepages(out, node->hugepages);
	/* The initial ramdisk reads it (images/build/recipes/boot.init). */
	if (node->hardware->disk_wait_ms)
		fprintf(out, " bringup.disk_wait=%d",
			(int)((node->hardware->disk_wait_ms + 999) / 1000));
	fclose(out);
	if (text[0] == ' ')
		memmove(text, text + 1, size);
	return text;
}

void
bu_config_tuning(const struct bu_config_input *input, struct bu_config *config)
{
	const struct bu_desired_node *node = input->node;
	const struct list_file sysctl = {"/etc/sysctl.d/90-bringup.conf", "sysctl",
					 sysctl_of_rails(node->pool), next_item};
	const struct list_file modules = {"/etc/modules-load.d/bringup.conf", "modules",
					  "", bu_value_next_word};

	add_list(config, &sysctl, node->sysctl);
	add_list(config, &modules, node->modules);
	add_tmpfiles(node, config);
	add_gpus(node, config);
	add_file_systems(input, config);
	add_scratch(node, config);
	config->kargs = bu_config_kargs(node);
}
