/* SPDX-License-Identifier: Apache-2.0 */
/* The secret of a joining node's client is of one attempt, and of that node. */
#include "provisioner/node/issued.h"

#include <string.h>

#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;

static void
at_step(struct bu_node *node, const char *step, int attempt)
{
	snprintf(node->step.id, sizeof(node->step.id), "%s", step);
	node->step.attempt = attempt;
}

static void
keep(const struct bu_node *node, const char *secret)
{
	bu_issued_keep(rig.fleet, node, secret, strlen(secret));
}

static void
has(const struct bu_node *node, const char *want)
{
	size_t size = 0;
	const char *secret = bu_issued_secret(rig.fleet, node, &size);

	ck_assert_pstr_eq(secret, want);
	ck_assert_uint_eq(size, want ? strlen(want) : 0);
}

START_TEST(a_secret_is_of_one_attempt_of_one_node)
{
	struct bu_node *a, *b;

	rig_begin(&rig, 2);
	a = rig_node(&rig, 1);
	b = rig_node(&rig, 2);
	at_step(a, "node001.7.join", 1);
	at_step(b, "node002.7.join", 1);
	has(a, NULL);
	keep(a, "first");
	keep(b, "other");
	has(a, "first");
	has(b, "other");
	keep(a, "second"); /* the cluster knows the first one no more */
	has(a, "second");
	at_step(a, "node001.7.join", 2);
	has(a, NULL);
	at_step(a, "node001.9.join", 1);
	has(a, NULL);
	at_step(a, "node001.7.join", 1);
	has(a, "second");
	bu_issued_forget(rig.fleet, a->name);
	bu_issued_forget(rig.fleet, a->name);
	has(a, NULL);
	has(b, "other");
	bu_issued_clear(rig.fleet);
	has(b, NULL);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("issued", a_secret_is_of_one_attempt_of_one_node)
