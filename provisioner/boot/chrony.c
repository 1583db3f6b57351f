/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration of the chronyd child; called by bringupd.c with each revision. */
#include "provisioner/boot/chrony.h"

#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "provisioner/boot/child.h"
#include "provisioner/boot/program.h"

struct bu_chrony {
	char *dir, *address, *path;
	char *conf; /* as written; NULL = it does not run */
	struct bu_child *child;
};

struct bu_chrony *
bu_chrony_create(struct bu_loop *loop, const struct bu_chrony_opts *opts)
{
	struct bu_chrony *chrony = bu_xcalloc(1, sizeof(*chrony));

	chrony->dir = bu_xstrdup(opts->dir);
	chrony->address = bu_xstrdup(opts->address);
	chrony->path = bu_xasprintf("%s/chrony.conf", opts->dir);
	chrony->child = bu_child_create(
		loop,
		&(struct bu_child_opts){.name = "chronyd", .conf_path = chrony->path});
	return chrony;
}

void
bu_chrony_destroy(struct bu_chrony *chrony)
{
	if (!chrony)
		return;
	bu_child_destroy(chrony->child);
	free(chrony->dir);
	free(chrony->address);
	free(chrony->path);
	free(chrony->conf);
	free(chrony);
}

int
bu_chrony_set(struct bu_chrony *chrony, const char *conf, struct bu_err *err)
{
	bu_autofree char *text = NULL;
	int changed = 0;

	if (!conf) {
		bu_child_stop(chrony->child);
		free(chrony->conf);
		chrony->conf = NULL;
		return 0;
	}
	/* No socket for commands, no file of its state: it has none. bringup-boot says
	 * where its pid file is. */
	text = bu_xasprintf("# Written by bringup; changes are lost.\n%s"
			    "bindaddress %s\ncmdport 0\nbindcmdaddress /\n",
			    conf, chrony->address);
	if (access(bu_boot_program("chronyd")->path, X_OK) != 0) {
		if (!chrony->conf)
			bu_warn("chronyd",
				"it is not installed: nodes get no time from the "
				"appliance; install chrony or give [site] ntp");
		free(chrony->conf);
		chrony->conf = bu_steal(&text);
		return 0;
	}
	if (bu_child_folder("chronyd", chrony->dir, err) != 0 ||
	    bu_child_put(chrony->path, 0644, &chrony->conf, &text, &changed, err) != 0)
		return -1;
	if (changed)
		bu_child_restart(chrony->child);
	return 0;
}
