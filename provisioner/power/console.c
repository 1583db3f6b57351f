/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that read consoles, and what becomes of their output. Called by
 * perform_console.c. Invariants: a BMC has at most one console of ours, and one that
 * others hold is left to them; a program that ends is begun again no earlier than
 * FIRST_MS, then ever later up to LAST_MS; refused credentials are tried twice; nothing
 * of a password outlives the beginning of its program. A program that is not wanted any
 * more has time to end its session at the BMC, and nothing waits for it.
 */
#include "provisioner/power/console.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/url.h"
#include "provisioner/power/console_end.h"
#include "provisioner/power/console_file.h"
#include "provisioner/power/ipmi_text.h"

enum {
	FIRST_MS = 5000,
	LAST_MS = 10 * 60 * 1000,
	STEADY_MS = 60000, /* who lasted so long begins anew */
	SWEEP_MS = 10000,
	REFUSED_MAX = 2,
	WORDS_MAX = 200,
	READ_MAX = 16384,
	READS_MAX = 16,
};

struct console {
	struct console *next;
	struct bu_consoles *consoles;
	char *node, *bmc, *host; /* host: two consoles of one BMC are not opened */
	struct bu_console_file *file;
	int64_t until_ms; /* it is not wanted any more */
	int64_t due_ms, pause_ms, opened_ms;
	pid_t pid; /* 0 = closed */
	int in_fd; /* held open and never written: at its end ipmitool ends */
	int logs_out;
	struct bu_watch *out, *errs;
	int out_fd, errs_fd;
	char words[WORDS_MAX]; /* why it is not open */
	char said[WORDS_MAX];  /* the last line of its standard error */
	char line[WORDS_MAX];  /* the one that is not whole yet */
	size_t length;
	int denied; /* this time */
	char digest[BU_DIGEST_SIZE];
	int refused; /* so often in a row, with the credentials of the digest */
};

struct bu_consoles {
	struct bu_loop *loop;
	char *dir;
	struct console *list;
	struct bu_console_ends *ends;
	struct bu_timer *sweep;
};

static int64_t
wall_ms(const struct console *console)
{
	return bu_wall_ms(bu_loop_clock(console->consoles->loop));
}

/* --- one program --- */

static void
let_go(struct console *console)
{
	bu_watch_destroy(console->out);
	bu_watch_destroy(console->errs);
	console->out = console->errs = NULL;
	if (!console->pid)
		return;
	close(console->in_fd);
	bu_console_ends_add(console->consoles->ends,
			    &(struct bu_console_end){.host = console->host,
						     .pid = console->pid,
						     .out_fd = console->out_fd,
						     .errs_fd = console->errs_fd,
						     .logs_out = console->logs_out});
	console->pid = 0;
}

static void
wait_longer(struct console *console)
{
	int64_t now_ms = bu_loop_now_ms(console->consoles->loop);

	if (console->opened_ms && now_ms - console->opened_ms > STEADY_MS)
		console->pause_ms = console->refused = 0;
	console->pause_ms = console->pause_ms ? console->pause_ms * 2 : FIRST_MS;
	if (console->pause_ms > LAST_MS)
		console->pause_ms = LAST_MS;
	console->due_ms = now_ms + console->pause_ms;
	console->opened_ms = 0;
}

/* The last line that it said is for whoever asks why. */
static void
end_line(struct console *console)
{
	enum bu_err_kind kind = BU_ERR_NONE;

	if (console->length == 0)
		return;
	console->line[console->length] = '\0';
	console->length = 0;
	bu_text_copy(console->said, sizeof(console->said), console->line);
	if (bu_ipmi_refusal(console->line, "", &kind) && kind == BU_ERR_DENIED)
		console->denied = 1;
}

/* As read(). */
static ssize_t
hear(struct console *console)
{
	char bytes[READ_MAX];
	ssize_t got = read(console->errs_fd, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < got; i++)
		if (bytes[i] == '\n' || bytes[i] == '\r')
			end_line(console);
		else if (console->length < sizeof(console->line) - 1)
			console->line[console->length++] = bytes[i];
	return got;
}

static void
closed(struct console *console)
{
	bu_autofree char *line = NULL;

	/* Why it ends may lie there yet. */
	for (int i = 0; i < READS_MAX && hear(console) > 0; i++)
		continue;
	end_line(console);
	let_go(console);
	wait_longer(console);
	console->refused += console->denied;
	bu_text_copy(console->words, sizeof(console->words),
		     console->denied    ? "the BMC refuses its credentials"
		     : console->said[0] ? console->said
					: "it was closed");
	line = bu_xasprintf("console closed: %s", console->words);
	bu_console_file_mark(console->file, wall_ms(console), line);
}

static void
on_out(int fd, int what, void *arg)
{
	struct console *console = arg;
	char bytes[READ_MAX];
	ssize_t got = read(fd, bytes, sizeof(bytes));

	(void)what;
	if (got > 0)
		bu_console_file_write(console->file, bytes, (size_t)got);
	else if (got == 0)
		closed(console);
}

static void
on_errs(int fd, int what, void *arg)
{
	struct console *console = arg;

	(void)fd;
	(void)what;
	if (hear(console) == 0)
		bu_watch_set(console->errs, 0);
}

static int
make_pipes(int in[2], int out[2], int errs[2], struct bu_err *err)
{
	int *const pipes[] = {in, out, errs};

	for (size_t i = 0; i < BU_LEN(pipes); i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0) {
			while (i-- > 0) {
				close(pipes[i][0]);
				close(pipes[i][1]);
			}
			return bu_err_set(err, BU_ERR_IO, errno, "pipe");
		}
	return 0;
}

static int
spawn(struct console *console, const char *const *argv, const char *const *env,
      struct bu_err *err)
{
	int in[2], out[2], errs[2];

	if (make_pipes(in, out, errs, err) != 0)
		return -1;
	console->pid = bu_spawn(&(struct bu_spawn){.argv = argv,
						   .env = env,
						   .stdin_fd = in[0],
						   .stdout_fd = out[1],
						   .stderr_fd = errs[1],
						   .extra_fd = -1},
				NULL, err);
	close(in[0]);
	close(out[1]);
	close(errs[1]);
	if (console->pid <= 0) {
		console->pid = 0;
		close(in[1]);
		close(out[0]);
		close(errs[0]);
		return -1;
	}
	console->in_fd = in[1];
	console->out_fd = out[0];
	console->errs_fd = errs[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(errs[0], F_SETFL, O_NONBLOCK);
	console->out = bu_watch_create(console->consoles->loop, out[0], BU_READABLE,
				       on_out, console);
	console->errs = bu_watch_create(console->consoles->loop, errs[0], BU_READABLE,
					on_errs, console);
	return 0;
}

static int
open_libvirt(struct console *console, const struct bu_power_target *target,
	     struct bu_err *err)
{
	const char *argv[] = {"/proc/self/exe", "--console", target->bmc, NULL};

	return spawn(console, argv, NULL, err);
}

static int
open_ipmi(struct console *console, const struct bu_power_target *target,
	  const struct bu_power_console *way, struct bu_err *err)
{
	bu_autofree char *password = bu_xasprintf(
		"IPMI_PASSWORD=%s", target->password ? target->password : "");
	const char *const env[] = {password, NULL};
	/* Why it is refused it says only with -v. */
	const char *argv[20] = {"ipmitool", "-v",
				"-I",       "lanplus",
				"-H",       way->host,
				"-p",       way->port,
				"-U",       target->user ? target->user : "",
				"-E"};
	size_t count = 11;
	int rc;

	if (way->suite[0]) {
		argv[count++] = "-C";
		argv[count++] = way->suite;
	}
	argv[count++] = "sol";
	argv[count] = "activate";
	rc = spawn(console, argv, env, err);
	explicit_bzero(password, strlen(password));
	return rc;
}

/* --- all of them --- */

static struct console *
find(const struct bu_consoles *consoles, const char *node)
{
	struct console *console = consoles->list;

	while (console && strcmp(console->node, node) != 0)
		console = console->next;
	return console;
}

static void
console_free(struct console *console)
{
	let_go(console);
	bu_console_file_close(console->file);
	free(console->node);
	free(console->bmc);
	free(console->host);
	free(console);
}

/* Those that are not wanted any more. */
static void
on_sweep(void *arg)
{
	struct bu_consoles *consoles = arg;
	struct console **link = &consoles->list, *console;
	int64_t now_ms = bu_loop_now_ms(consoles->loop);

	while ((console = *link)) {
		if (now_ms <= console->until_ms) {
			link = &console->next;
			continue;
		}
		*link = console->next;
		console_free(console);
	}
	bu_timer_set(consoles->sweep, SWEEP_MS);
}

/* A serial port is the BMC's, whichever of its systems is asked for. A domain is a
 * target of its own. */
static char *
host_of(const char *bmc)
{
	struct bu_url url;

	if (strchr(bmc, '#') || bu_url_parse(bmc, &url) != 0 || !url.host[0])
		return bu_xstrdup(bmc);
	return bu_xstrdup(url.host);
}

static struct console *
add(struct bu_consoles *consoles, const char *node, const char *bmc)
{
	struct console *console = bu_xcalloc(1, sizeof(*console));
	struct bu_err err;

	console->consoles = consoles;
	console->node = bu_xstrdup(node);
	console->bmc = bu_xstrdup(bmc);
	console->host = host_of(bmc);
	console->file = bu_console_file_open(consoles->dir, node, &err);
	if (!console->file) {
		bu_error("console", "%s", err.text);
		console_free(console);
		return NULL;
	}
	console->next = consoles->list;
	consoles->list = console;
	return console;
}

static void
drop(struct bu_consoles *consoles, struct console *console)
{
	struct console **link = &consoles->list;

	while (*link != console)
		link = &(*link)->next;
	*link = console->next;
	console_free(console);
}

static const struct console *
taken_by(const struct bu_consoles *consoles, const char *node, const char *bmc)
{
	bu_autofree char *host = host_of(bmc);
	const struct console *at = consoles->list;

	while (at && (strcmp(at->node, node) == 0 || strcmp(at->host, host) != 0))
		at = at->next;
	return at;
}

enum bu_console_state
bu_consoles_keep(struct bu_consoles *consoles, const char *node, const char *bmc,
		 int64_t keep_ms, const char **ret_words)
{
	struct console *console = find(consoles, node);
	const struct console *other = taken_by(consoles, node, bmc);
	int64_t now_ms = bu_loop_now_ms(consoles->loop);

	*ret_words = "";
	if (console && strcmp(console->bmc, bmc) != 0) {
		drop(consoles, console);
		console = NULL;
	}
	if (!console && other) {
		*ret_words = other->node;
		return BU_CONSOLE_TAKEN;
	}
	if (!console)
		console = add(consoles, node, bmc);
	if (!console) {
		*ret_words = "its file cannot be written";
		return BU_CONSOLE_WAITS;
	}
	console->until_ms = now_ms + keep_ms;
	*ret_words = console->words;
	if (console->pid)
		return BU_CONSOLE_OPEN;
	if (bu_console_ends_has(consoles->ends, console->host)) {
		*ret_words = "its previous session is closing";
		return BU_CONSOLE_WAITS;
	}
	return now_ms >= console->due_ms ? BU_CONSOLE_DUE : BU_CONSOLE_WAITS;
}

void
bu_consoles_put_off(struct bu_consoles *consoles, const char *node, const char *words)
{
	struct console *console = find(consoles, node);

	if (!console || console->pid)
		return;
	bu_text_copy(console->words, sizeof(console->words), words);
	wait_longer(console);
}

void
bu_consoles_open(struct bu_consoles *consoles, const char *node,
		 const struct bu_power_target *target,
		 const struct bu_power_console *way, const char *digest)
{
	struct console *console = find(consoles, node);
	struct bu_err err = {0};

	/* It may be another BMC's by now. */
	if (!console || console->pid || strcmp(console->bmc, target->bmc) != 0)
		return;
	if (strcmp(console->digest, digest) != 0)
		console->refused = 0;
	bu_text_copy(console->digest, sizeof(console->digest), digest);
	if (console->refused >= REFUSED_MAX) {
		bu_consoles_put_off(consoles, node,
				    "its credentials were refused twice; they are not "
				    "tried again until they change");
		return;
	}
	console->said[0] = '\0';
	console->denied = 0;
	console->logs_out = way->way == BU_CONSOLE_IPMI;
	if ((way->way == BU_CONSOLE_IPMI ? open_ipmi(console, target, way, &err)
					 : open_libvirt(console, target, &err)) != 0) {
		bu_consoles_put_off(consoles, node, err.text);
		return;
	}
	console->words[0] = '\0';
	console->opened_ms = bu_loop_now_ms(consoles->loop);
	bu_console_file_mark(console->file, wall_ms(console), "console opened");
}

void
bu_consoles_mark(struct bu_consoles *consoles, const char *bmc, const char *words)
{
	for (struct console *at = consoles->list; at; at = at->next) {
		if (strcmp(at->bmc, bmc) != 0)
			continue;
		bu_console_file_mark(at->file, wall_ms(at), words);
		/* It would only be sooner that they are refused again. */
		if (!at->refused)
			at->pause_ms = at->due_ms = 0;
	}
}

struct bu_consoles *
bu_consoles_create(struct bu_loop *loop, const char *dir)
{
	struct bu_consoles *consoles = bu_xcalloc(1, sizeof(*consoles));

	consoles->loop = loop;
	consoles->dir = bu_xstrdup(dir);
	consoles->sweep = bu_timer_create(loop, on_sweep, consoles);
	consoles->ends = bu_console_ends_create(loop);
	bu_timer_set(consoles->sweep, SWEEP_MS);
	return consoles;
}

void
bu_consoles_end(struct bu_consoles *consoles)
{
	while (consoles && consoles->list)
		drop(consoles, consoles->list);
}

void
bu_consoles_destroy(struct bu_consoles *consoles)
{
	if (!consoles)
		return;
	bu_consoles_end(consoles);
	bu_console_ends_destroy(consoles->ends);
	bu_timer_destroy(consoles->sweep);
	free(consoles->dir);
	free(consoles);
}
