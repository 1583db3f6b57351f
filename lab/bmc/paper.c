/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of paper: on or off, in memory. A fleet of a thousand costs nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lab/bmc/machine.h"

enum { PAPER_MACS = 12 };

struct paper {
	struct bu_bmc_machine machine;
	int is_on, starts;
	int64_t shutdown_ms; /* it takes; -1 = for ever */
	int64_t off_ms;      /* when it goes off; 0 = nobody asked */
	char target[32];
};

static int
paper_is_on(struct bu_bmc_machine *machine, int *ret, struct bu_err *err)
{
	struct paper *paper = (struct paper *)machine;

	if (paper->off_ms && machine->now_ms >= paper->off_ms)
		paper->is_on = paper->off_ms = 0;
	*ret = paper->is_on;
	return 0;
}

static int
paper_start(struct bu_bmc_machine *machine, const char *target, const char *url,
	    struct bu_err *err)
{
	struct paper *paper = (struct paper *)machine;

	paper->is_on = 1;
	paper->off_ms = 0;
	paper->starts++;
	bu_text_copy(paper->target, sizeof(paper->target), target);
	return 0;
}

static int
paper_stop(struct bu_bmc_machine *machine, struct bu_err *err)
{
	((struct paper *)machine)->is_on = 0;
	return 0;
}

static int
paper_ask_off(struct bu_bmc_machine *machine, struct bu_err *err)
{
	struct paper *paper = (struct paper *)machine;

	if (paper->shutdown_ms >= 0)
		paper->off_ms = machine->now_ms + paper->shutdown_ms;
	return 0;
}

static void
paper_close(struct bu_bmc_machine *machine)
{
	free(machine);
}

static const struct bu_bmc_machine_ops paper_ops = {
	.name = "paper",
	.is_on = paper_is_on,
	.start = paper_start,
	.stop = paper_stop,
	.ask_off = paper_ask_off,
	.close = paper_close,
};

struct bu_bmc_machine *
bu_bmc_machine_paper(int number, int64_t shutdown_ms, struct bu_bmc_identity *ret)
{
	struct paper *paper = bu_xcalloc(1, sizeof(*paper));

	paper->machine.ops = &paper_ops;
	paper->shutdown_ms = shutdown_ms;
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->serial, sizeof(ret->serial), "PAPER%05d", number + 1);
	snprintf(ret->uuid, sizeof(ret->uuid), "5e000000-b70c-4000-8000-%012x",
		 (unsigned)number + 1);
	ret->mac_count = PAPER_MACS;
	for (int i = 0; i < PAPER_MACS; i++)
		snprintf(ret->macs[i], sizeof(ret->macs[i]),
			 "52:54:%02x:%02x:%02x:%02x", (unsigned)i,
			 (unsigned)number >> 16 & 0xff, (unsigned)number >> 8 & 0xff,
			 (unsigned)number & 0xff);
	return &paper->machine;
}

const char *
bu_bmc_machine_paper_target(const struct bu_bmc_machine *machine)
{
	return ((const struct paper *)machine)->target;
}

int
bu_bmc_machine_paper_starts(const struct bu_bmc_machine *machine)
{
	return ((const struct paper *)machine)->starts;
}

void
bu_bmc_machine_paper_set(struct bu_bmc_machine *machine, int is_on)
{
	((struct paper *)machine)->is_on = is_on;
}
