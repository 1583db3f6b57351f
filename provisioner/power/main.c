/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-power: holds the blocking libraries, so that bringupd never blocks.
 *
 * Without arguments it is the router (router.c): each request goes to a child of its
 * own per connection ("--driver NAME --connection URI"); a stuck hypervisor delays no
 * other. "--console TARGET" writes what a domain says to
 * standard output (libvirt_console.c). A child has a loop and serves its requests side
 * by side (perform.h), as far as its driver does not block.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/confine.h"
#include "base/json.h"
#include "base/log.h"
#include "base/networks.h"
#include "base/worker.h"
#include "provisioner/power/console.h"
#include "provisioner/power/perform.h"
#include "provisioner/power/router.h"

/* Of the command line; each child gets them, too. NULL = not given. */
struct options {
	const char *state;    /* folder */
	const char *secrets;  /* folders that secrets are beneath */
	const char *networks; /* where BMCs may be */
};

struct upstream {
	struct bu_loop *loop;
	struct bu_router *router;
};

static void
answer(json_int_t id, const json_t *reply, const struct bu_err *err)
{
	bu_autojson json_t *out = reply ? json_deep_copy(reply) : json_object();

	json_object_set_new(out, "id", json_integer(id));
	if (err)
		json_object_set_new(out, "error", bu_json_from_err(err));
	/* bringupd is gone when this fails: so are we. */
	if (bu_frame_write(BU_WORKER_FD, out, NULL) != 0)
		exit(0);
}

static void
on_routed(json_int_t id, const json_t *reply, const struct bu_err *err, void *arg)
{
	(void)arg;
	answer(id, reply, err);
}

static const struct {
	const char *name;
	size_t offset;
} option_rows[] = {
	{"--state", offsetof(struct options, state)},
	{"--secrets", offsetof(struct options, secrets)},
	{"--bmc-networks", offsetof(struct options, networks)},
};

static const char **
option(struct options *options, size_t row)
{
	return (const char **)(void *)((char *)options + option_rows[row].offset);
}

static void
add_options(const struct options *options, const char **argv)
{
	struct options copy = *options;

	for (size_t i = 0; i < BU_LEN(option_rows); i++)
		if (*option(&copy, i)) {
			*argv++ = option_rows[i].name;
			*argv++ = *option(&copy, i);
		}
}

/* Takes them from the end of the command line. */
static void
take_options(struct options *options, int *argc, char **argv)
{
	size_t row = 0;

	while (*argc >= 3 && row < BU_LEN(option_rows)) {
		for (row = 0; row < BU_LEN(option_rows); row++)
			if (strcmp(argv[*argc - 2], option_rows[row].name) == 0)
				break;
		if (row < BU_LEN(option_rows)) {
			*option(options, row) = argv[*argc - 1];
			*argc -= 2;
		}
	}
}

static void
on_request(int fd, int what, void *arg)
{
	struct upstream *upstream = arg;
	struct bu_err err = {0};
	bu_autojson json_t *request = bu_frame_read(fd, &err);

	if (!request) {
		bu_loop_stop(upstream->loop);
		return;
	}
	bu_router_route(upstream->router, request);
}

/* What ends us closes the pipe, sends TERM and waits a second: time to end the
 * sessions at BMCs. TERM is heard to the end, for the pipe's end comes first. */
static void
on_term(int signo, void *arg)
{
	(void)signo;
	bu_loop_stop(arg);
}

static int
run_router(const struct options *options)
{
	const char *more[2 * BU_LEN(option_rows) + 1] = {NULL};
	struct upstream upstream = {.loop = bu_loop_create(NULL)};
	struct bu_sigwatch *term =
		bu_sigwatch_create(upstream.loop, SIGTERM, on_term, upstream.loop);
	struct bu_watch *watch = bu_watch_create(upstream.loop, BU_WORKER_FD,
						 BU_READABLE, on_request, &upstream);

	add_options(options, more);
	upstream.router = bu_router_create(upstream.loop, more, on_routed, NULL);
	bu_loop_run(upstream.loop);
	bu_watch_destroy(watch);
	bu_router_destroy(upstream.router);
	bu_sigwatch_destroy(term);
	bu_loop_destroy(upstream.loop);
	return 0;
}

/* --- the child of one connection --- */

static void
on_performed(const json_t *reply, const struct bu_err *err, void *arg)
{
	json_int_t *id = arg;

	answer(*id, reply, err);
	free(id);
}

struct child_side {
	struct bu_loop *loop;
	struct bu_performer *performer;
};

static void
on_child_request(int fd, int what, void *arg)
{
	struct child_side *side = arg;
	struct bu_err err = {0};
	bu_autojson json_t *request = bu_frame_read(fd, &err);
	json_int_t *id;

	(void)what;
	if (!request) {
		bu_loop_stop(side->loop);
		return;
	}
	if (strcmp(bu_json_str(request, "op", ""), BU_ROUTER_PING) == 0) {
		answer(bu_json_int(request, "id", 0), NULL, NULL);
		return;
	}
	id = bu_xmalloc(sizeof(*id));
	*id = bu_json_int(request, "id", 0);
	bu_perform(side->performer, request, on_performed, id);
}

static void
use_state(struct bu_performer *performer, const char *state)
{
	bu_autofree char *journal = state ? bu_xasprintf("%s/bmc", state) : NULL;
	bu_autofree char *consoles = state ? bu_xasprintf("%s/console", state) : NULL;

	if (!state)
		return;
	bu_performer_journal(performer, journal);
	bu_performer_keep_consoles(performer, consoles);
}

/* The router is gone when this ends: what is under way goes with the process. */
static int
run_child(const char *name, const char *connection, const char *state)
{
	const struct bu_power_driver *driver = bu_power_driver(name);
	struct child_side side = {.loop = bu_loop_create(NULL)};
	struct bu_consoles *consoles;
	struct bu_sigwatch *term;
	struct bu_watch *watch;
	struct bu_err err = {0};
	void *self = driver ? driver->open(side.loop, connection, &err) : NULL;

	if (!self) {
		bu_error("power", "%s", driver ? err.text : "no such driver");
		return 1;
	}
	side.performer = bu_performer_create(side.loop, driver, self);
	use_state(side.performer, state);
	watch = bu_watch_create(side.loop, BU_WORKER_FD, BU_READABLE, on_child_request,
				&side);
	term = bu_sigwatch_create(side.loop, SIGTERM, on_term, side.loop);
	bu_loop_run(side.loop);
	bu_watch_destroy(watch);
	/* Their sessions end while those of the driver do: the time is short. */
	consoles = bu_performer_end_consoles(side.performer);
	bu_performer_destroy(side.performer);
	driver->close(self);
	bu_consoles_destroy(consoles);
	bu_sigwatch_destroy(term);
	bu_loop_destroy(side.loop);
	return 0;
}

/* Secrets are read in here, and these limits are kept in here, whatever is asked for.
 */
static int
keep_to(const struct options *options, struct bu_err *err)
{
	if (bu_networks_begin(options->networks ? options->networks
						: BU_BMC_NETWORKS_DEFAULT,
			      err) != 0)
		return -1;
	if (!options->secrets)
		return 0;
	return bu_confine_begin(
		&(struct bu_confine_opts){.secrets_dir = options->secrets,
					  .state = options->state},
		err);
}

int
main(int argc, char **argv)
{
	struct options options = {0};
	struct bu_err err = {0};

	take_options(&options, &argc, argv);
	bu_log_init("bringup-power", BU_LOG_INFO);
	if (keep_to(&options, &err) != 0) {
		bu_error("power", "%s", err.text);
		return 1;
	}
	if (argc == 1)
		return run_router(&options);
	if (argc == 3 && strcmp(argv[1], "--console") == 0)
		return bu_libvirt_console(argv[2]) == 0 ? 0 : 1;
	if (argc == 5 && strcmp(argv[1], "--driver") == 0 &&
	    strcmp(argv[3], "--connection") == 0)
		return run_child(argv[2], argv[4], options.state);
	fprintf(stderr, "bringup-power is started by bringupd; it has no options\n");
	return 1;
}
