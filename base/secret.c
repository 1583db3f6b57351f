/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves references to secrets. Called right before a secret is used. Invariant: no
 * error text holds a byte of a secret, not even of a program's complaint.
 */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/worker.h"

/* Accounts of services, as Debian numbers them. */
enum { SYSTEM_UID_MAX = 999 };

#define EXEC "exec:"
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static int
path_ok(const char *text)
{
	return bu_path_is_file(text) && !strpbrk(text, " \"'\\");
}

static int
env_ok(const char *text)
{
	return bu_text_is(text, NAME_CHARS) && !(*text >= '0' && *text <= '9');
}

/* Owner and mode of what a secret comes from. forbidden: bits that it must not have. */
static int
check_owner(int fd, const char *reference, mode_t forbidden, struct bu_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "secret %s", reference);
	if (!S_ISREG(st.st_mode))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "secret %s: is not a plain file", reference);
	if (st.st_uid > SYSTEM_UID_MAX && st.st_uid != geteuid())
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"secret %s: belongs to user %u; give it to root or to the "
			"user that runs this",
			reference, (unsigned int)st.st_uid);
	if (st.st_mode & forbidden)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "secret %s: mode %04o lets others %s it; chmod %s",
				  reference, (unsigned int)(st.st_mode & 07777),
				  forbidden & 0044 ? "read" : "change",
				  forbidden & 0044 ? "0600" : "0755");
	return 0;
}

/* Opens a file that the profile names, beneath the directories that it may name. */
static int
open_checked(const char *path, const char *reference, mode_t forbidden,
	     struct bu_err *err)
{
	int fd = bu_confine_open(BU_CONFINE_SECRETS, path, O_RDONLY | O_NONBLOCK, err);

	if (fd < 0)
		return bu_err_wrap(err, "secret %s", reference);
	if (check_owner(fd, reference, forbidden, err) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static char *
read_from(int fd, const char *reference, size_t *ret_size, struct bu_err *err)
{
	char *text;
	size_t size = 0;
	ssize_t got;

	text = bu_xmalloc(BU_SECRET_MAX + 2);
	while (size <= BU_SECRET_MAX) {
		got = read(fd, text + size, BU_SECRET_MAX + 1 - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	if (size == 0 || size > BU_SECRET_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0, "secret %s: %s", reference,
			   size ? "is larger than 64 KiB" : "is empty");
		bu_secret_free(text, size);
		return NULL;
	}
	text[size] = '\0';
	*ret_size = size;
	return text;
}

static char *
resolve_file(const char *rest, const char *reference, size_t *ret_size,
	     struct bu_err *err)
{
	bu_autoclose int fd = open_checked(rest, reference, 0077, err);

	return fd < 0 ? NULL : read_from(fd, reference, ret_size, err);
}

static char *
resolve_env(const char *rest, const char *reference, size_t *ret_size,
	    struct bu_err *err)
{
	const char *value = getenv(rest);

	if (!value || !*value) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "secret %s: is not set", reference);
		return NULL;
	}
	*ret_size = strlen(value);
	return bu_xstrdup(value);
}

static char *
resolve_credential(const char *rest, const char *reference, size_t *ret_size,
		   struct bu_err *err)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	bu_autofree char *path = NULL;
	bu_autoclose int fd = -1;

	if (!dir || *dir != '/') {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "secret %s: there is no $CREDENTIALS_DIRECTORY; the "
			   "service needs LoadCredential=%s:...",
			   reference, rest);
		return NULL;
	}
	path = bu_xasprintf("%s/%s", dir, rest);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_DENIED,
			   errno, "secret %s", reference);
		return NULL;
	}
	if (check_owner(fd, reference, 0077, err) < 0)
		return NULL;
	return read_from(fd, reference, ret_size, err);
}

int
bu_secret_is_exec(const char *reference)
{
	return strncmp(reference, EXEC, strlen(EXEC)) == 0;
}

char *
bu_secret_program(const char *reference, struct bu_err *err)
{
	const char *path = reference + strlen(EXEC);
	int fd = open_checked(path, reference, 0022, err);

	if (fd < 0)
		return NULL;
	close(fd);
	return bu_xstrdup(path);
}

char *
bu_secret_of_output(const char *reference, const char *out, size_t out_size,
		    size_t *ret_size, struct bu_err *err)
{
	size_t size = out_size;
	char *secret;

	if (size && out[size - 1] == '\n')
		size--;
	if (size == 0 || size > BU_SECRET_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0, "secret %s: %s", reference,
			   size ? "is larger than 64 KiB"
				: "the program printed nothing");
		return NULL;
	}
	secret = bu_xmalloc(size + 1);
	memcpy(secret, out, size);
	secret[size] = '\0';
	*ret_size = size;
	return secret;
}

struct run {
	struct bu_loop *loop;
	const char *reference;
	char *secret;
	size_t size;
	struct bu_err err;
};

static void
on_ended(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct run *run = arg;

	/* Its own words may hold the secret. */
	if (err)
		bu_err_set(&run->err, err->kind, err->sys_errno,
			   "secret %s: the program failed", run->reference);
	else
		run->secret =
			bu_secret_of_output(run->reference, result->out,
					    result->out_size, &run->size, &run->err);
	bu_loop_stop(run->loop);
}

static char *
resolve_exec(const char *rest, const char *reference, size_t *ret_size,
	     struct bu_err *err)
{
	bu_autofree char *program = bu_secret_program(reference, err);
	const char *const argv[] = {rest, NULL};
	struct run run = {.reference = reference};

	if (!program)
		return NULL;
	run.loop = bu_loop_create(NULL);
	if (bu_job_start(run.loop,
			 &(struct bu_job_opts){.argv = argv,
					       .deadline_ms = BU_SECRET_EXEC_MS,
					       .output_max = BU_SECRET_MAX + 2,
					       .secret = 1},
			 on_ended, &run, &run.err))
		bu_loop_run(run.loop);
	bu_loop_destroy(run.loop);
	if (run.secret)
		*ret_size = run.size;
	else if (err)
		*err = run.err;
	return run.secret;
}

static const struct scheme {
	const char *prefix;
	int (*form_ok)(const char *rest);
	char *(*resolve)(const char *rest, const char *reference, size_t *ret_size,
			 struct bu_err *err);
} schemes[] = {
	{"file:", path_ok, resolve_file},
	{"env:", env_ok, resolve_env},
	{"credential:", bu_path_is_name, resolve_credential},
	{EXEC, path_ok, resolve_exec},
};

static const struct scheme *
scheme_of(const char *reference)
{
	for (size_t i = 0; i < BU_LEN(schemes); i++)
		if (strncmp(reference, schemes[i].prefix, strlen(schemes[i].prefix)) ==
		    0)
			return &schemes[i];
	return NULL;
}

int
bu_secret_form_ok(const char *reference)
{
	const struct scheme *scheme = scheme_of(reference);

	return scheme && scheme->form_ok(reference + strlen(scheme->prefix));
}

char *
bu_secret_resolve(const char *reference, size_t *ret_size, struct bu_err *err)
{
	const struct scheme *scheme = scheme_of(reference);

	if (!scheme || !bu_secret_form_ok(reference)) {
		/* It may be the secret itself, put there by mistake. */
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "a secret's reference is wrong; allowed is file:/path, "
			   "env:NAME, credential:NAME, exec:/path");
		return NULL;
	}
	return scheme->resolve(reference + strlen(scheme->prefix), reference, ret_size,
			       err);
}

void
bu_secret_free(char *secret, size_t size)
{
	if (!secret)
		return;
	explicit_bzero(secret, size);
	free(secret);
}
