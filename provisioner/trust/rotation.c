/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a change of the CA, as files. Called by trust.c. Invariants: the file
 * `rotation` alone says which keys count, and is replaced as one; new keys are whole
 * before it names them; what it names is there until it names it no more.
 */
#include "provisioner/trust/rotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/record.h"
#include "base/secret.h"
#include "base/text.h"

enum { FILE_MAX = 65536, NAME_HEX = 4 };

/* ENDS: the new ones alone count, and are on their way to the names of the old ones. */
enum { ENDS = BU_ROTATION_ISSUES + 1 };
const char *const bu_rotation_names[] = {"none", "told", "issues", NULL};
static const char *const step_names[] = {"none", "told", "issues", "ends", NULL};
static const struct {
	const char *next, *name;
} moves[] = {{"ca.next.key", "ca.key"},
	     {"ca.next.pem", "ca.pem"},
	     {"tokens.next", "tokens.secret"}};

static char *
path_of(const char *dir, const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static int
save(const char *dir, const char *name, const char *text, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);

	return bu_file_write(path, text, strlen(text), 0600, err);
}

static int
drop(const char *dir, const char *name, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);

	if (unlink(path) != 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	return 0;
}

/* One that is gone has its name already. */
static int
copy(const char *dir, const char *from, const char *to, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, from);
	size_t size;
	char *text;
	int rc;

	if (!bu_file_exists(path))
		return 0;
	text = bu_file_read(path, FILE_MAX, &size, err);
	if (!text)
		return -1;
	rc = save(dir, to, text, err);
	bu_secret_free(text, size);
	return rc;
}

static int
drop_next(const char *dir, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(moves); i++)
		if (drop(dir, moves[i].next, err) != 0)
			return -1;
	return 0;
}

static int
finish(const char *dir, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(moves); i++)
		if (copy(dir, moves[i].next, moves[i].name, err) != 0)
			return -1;
	return drop(dir, "rotation", err) == 0 ? drop_next(dir, err) : -1;
}

static int
write_step(const char *dir, int step, int64_t now_ms, struct bu_err *err)
{
	bu_autofree char *text =
		bu_xasprintf("%s %lld\n", step_names[step], (long long)now_ms);

	return save(dir, "rotation", text, err);
}

int
bu_rotation_read(const char *dir, enum bu_rotation *ret, int64_t *ret_ms,
		 struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, "rotation");
	bu_autofree char *text = NULL;
	size_t length;
	int step;

	*ret = BU_ROTATION_NONE;
	*ret_ms = 0;
	if (!bu_file_exists(path))
		return 0;
	text = bu_file_read(path, FILE_MAX, NULL, err);
	if (!text)
		return -1;
	length = strcspn(text, " \n");
	if (text[length])
		text[length++] = '\0';
	step = bu_word_find(step_names, text);
	if (step < BU_ROTATION_TOLD)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "'%s' names no step of a change of the CA", path);
	if (step == ENDS)
		return finish(dir, err);
	*ret = (enum bu_rotation)step;
	*ret_ms = strtoll(text + length, NULL, 10);
	return 0;
}

/* Two CAs of one name are told apart by few programs. */
static int
make_next(const char *dir, struct bu_err *err)
{
	bu_autofree char *key = NULL, *ca = NULL, *name = NULL;
	char secret[65], hex[2 * NAME_HEX + 1];

	bu_random_hex(secret, 32);
	bu_random_hex(hex, NAME_HEX);
	name = bu_xasprintf("bringup CA %s", hex);
	if (bu_tls_key_create(&key, err) != 0 ||
	    bu_ca_create(name, key, &ca, err) != 0 ||
	    save(dir, "ca.next.key", key, err) != 0 ||
	    save(dir, "ca.next.pem", ca, err) != 0)
		return -1;
	return save(dir, "tokens.next", secret, err);
}

int
bu_rotation_take(const char *dir, enum bu_rotation from, enum bu_rotation to,
		 int64_t now_ms, struct bu_err *err)
{
	if (from == BU_ROTATION_NONE && to == BU_ROTATION_TOLD)
		return make_next(dir, err) == 0 ? write_step(dir, to, now_ms, err) : -1;
	if (from == BU_ROTATION_TOLD && to == BU_ROTATION_ISSUES)
		return write_step(dir, to, now_ms, err);
	if (from == BU_ROTATION_TOLD && to == BU_ROTATION_NONE)
		return drop(dir, "rotation", err) == 0 ? drop_next(dir, err) : -1;
	if (from == BU_ROTATION_ISSUES && to == BU_ROTATION_NONE)
		return write_step(dir, ENDS, now_ms, err) == 0 ? finish(dir, err) : -1;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "the change of the CA is at '%s', after which '%s' does not "
			  "come",
			  bu_rotation_names[from], bu_rotation_names[to]);
}
