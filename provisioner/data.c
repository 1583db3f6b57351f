/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of data that a site may have its own of. Called by bringupd.c. Invariant: one
 * of the site's that cannot be read is never passed over in silence.
 */
#include "provisioner/data.h"

#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

/* The site's own in /etc/bringup, else ours; owned. */
static char *
data_file(const char *name)
{
	bu_autofree char *own = bu_xasprintf("/etc/bringup/%s", name);
	bu_autofree char *shipped = bu_xasprintf("data/%s", name);

	return access(own, R_OK) == 0 ? bu_steal(&own) : bu_data_path(shipped);
}

void
bu_data_load_gate(struct bu_gate *gate)
{
	bu_autofree char *rates = data_file("rates.json"),
			 *gpus = data_file("gpus.json"),
			 *events = data_file("events.json");
	struct bu_err err;

	if (bu_gate_load_data(gate, rates, gpus, &err) != 0 ||
	    bu_gate_load_events(gate, events, &err) != 0)
		bu_warn("gate", "%s; only the profile's word counts", err.text);
}

/* A site's own table goes before the one that is shipped; one that cannot be read must
 * not be passed over in silence. */
int
bu_data_load_compat(struct bu_compat **ret, struct bu_err *err)
{
	bu_autofree char *shipped = bu_data_path("data/compat.json");
	const char *path = "/etc/bringup/compat.json";

	if (access(path, F_OK) != 0)
		path = shipped;
	if (access(path, F_OK) != 0) {
		bu_warn("main", "%s is missing: no versions are checked", path);
		return 0;
	}
	*ret = bu_compat_load(path, err);
	return *ret ? 0 : -1;
}
