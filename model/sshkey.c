/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public keys of OpenSSH: read, judged, fingerprinted. Called for the keys of a profile
 * and for the host keys that agents show. Invariant: what passes is one key, whole and
 * in the only form that it has; no error text shows what may be secret.
 */
#include "model/sshkey.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/text.h"

#define BLANKS " \t"
#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

/* Characters: no comment has a word that begins like a key and is as long. */
enum { BLOB_TEXT_MIN = 20 };

/* strings: after the type's name. judged: the one (from 0) that has min to max bytes.
 */
static const struct {
	const char *name;
	int strings, judged;
	size_t min, max;
} types[] = {
	{"ssh-ed25519", 1, 0, 32, 32},
	{"ecdsa-sha2-nistp256", 2, 1, 65, 65},
	{"ecdsa-sha2-nistp384", 2, 1, 97, 97},
	{"ecdsa-sha2-nistp521", 2, 1, 133, 133},
	{"ssh-rsa", 2, 1, 256, 1025},
	{"sk-ssh-ed25519@openssh.com", 2, 0, 32, 32},
	{"sk-ecdsa-sha2-nistp256@openssh.com", 3, 1, 65, 65},
};

size_t
bu_ssh_get(struct bu_ssh_reader *reader, const uint8_t **ret_at)
{
	const uint8_t *at = reader->at;
	size_t size;

	*ret_at = at;
	if (reader->left == SIZE_MAX || reader->left < 4) {
		reader->left = SIZE_MAX;
		return 0;
	}
	size = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
	if (size > reader->left - 4) {
		reader->left = SIZE_MAX;
		return 0;
	}
	*ret_at = at + 4;
	reader->at += 4 + size;
	reader->left -= 4 + size;
	return size;
}

int
bu_ssh_good(const struct bu_ssh_reader *reader)
{
	return reader->left != SIZE_MAX;
}

static int
has_mark(const char *text, const char *const *marks)
{
	for (; *marks; marks++)
		if (strstr(text, *marks))
			return 1;
	return 0;
}

int
bu_sshkey_is_private(const char *text)
{
	/* The second begins the text of each private key of OpenSSH. */
	static const char *const marks[] = {"PRIVATE KEY", "b3BlbnNzaC1rZXktdjE", NULL};

	return has_mark(text, marks) ||
	       (strlen(text) >= 64 && bu_text_is(text, BASE64));
}

int
bu_sshkey_is_foreign(const char *text)
{
	static const char *const marks[] = {"-----BEGIN ", "---- BEGIN ", NULL};

	return has_mark(text, marks);
}

static int
is_type(const char *word)
{
	for (size_t i = 0; i < BU_LEN(types); i++)
		if (strcmp(types[i].name, word) == 0)
			return 1;
	return 0;
}

/* Does the text up to its first comma begin a key, or what somebody takes for one? A
 * key that was taken for a comment would be missing, and nobody would be told. */
static int
begins_key(const char *text)
{
	bu_autofree char *piece = bu_xstrndup(text, strcspn(text, ","));
	char *next = piece + strspn(piece, BLANKS), *word;

	if (bu_sshkey_is_private(next) || strncmp(next, "file:", 5) == 0)
		return 1;
	for (int first = 1; (word = strsep(&next, BLANKS)); first = 0)
		if ((first && is_type(word)) ||
		    (strncmp(word, "AAAA", 4) == 0 && strlen(word) >= BLOB_TEXT_MIN &&
		     bu_text_is(word, BASE64)))
			return 1;
	return 0;
}

/* Of the first key: up to a comma behind which a key begins. A key without a comment
 * ends at any comma. */
static size_t
key_size(const char *list)
{
	size_t size = strcspn(list, ",");
	const char *comment = list + strspn(list, BLANKS);

	for (int i = 0; i < 2; i++) {
		comment += strcspn(comment, BLANKS ",");
		comment += strspn(comment, BLANKS);
	}
	if (comment >= list + size)
		return size;
	while (list[size] && !begins_key(list + size + 1))
		size += 1 + strcspn(list + size + 1, ",");
	return size;
}

char *
bu_sshkey_next(const char **list)
{
	const char *start = *list;
	size_t size;
	int by_lines;

	if (!start)
		return NULL;
	by_lines = strchr(start, '\n') != NULL;
	size = by_lines ? strcspn(start, "\n") : key_size(start);
	*list = start[size] && (!by_lines || start[size + 1]) ? start + size + 1 : NULL;
	while (size && strchr(BLANKS, *start)) {
		start++;
		size--;
	}
	while (size && strchr(BLANKS, start[size - 1]))
		size--;
	return bu_xstrndup(start, size);
}

/* 1 when a key begins at a later word: what is before it are options. */
static int
has_options(const char *line)
{
	bu_autofree char *copy = bu_xstrdup(line);
	char *next = copy, *word = strsep(&next, BLANKS);

	if (is_type(word))
		return 0;
	while ((word = strsep(&next, BLANKS)))
		if (is_type(word) && next && strncmp(next, "AAAA", 4) == 0)
			return 1;
	return 0;
}

static int
check_type(const struct bu_sshkey *key, size_t *ret_type, struct bu_err *err)
{
	bu_autofree char *names = NULL;

	for (*ret_type = 0; *ret_type < BU_LEN(types); ++*ret_type)
		if (strcmp(types[*ret_type].name, key->type) == 0)
			return 0;
	for (size_t i = 0; i < BU_LEN(types); i++)
		bu_text_add(&names, ", ", "%s", types[i].name);
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "'%s' is not a type of key that sshd takes; allowed are %s",
			  key->type, names);
}

static int
check_blob(const struct bu_sshkey *key, size_t type, struct bu_err *err)
{
	struct bu_ssh_reader reader = {key->blob, key->size};
	const uint8_t *at;
	size_t size = bu_ssh_get(&reader, &at), judged = 0;

	if (size != strlen(key->type) || memcmp(at, key->type, size) != 0)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"is not a key of the type %s that it begins with; paste "
			"the whole line of the .pub file",
			key->type);
	for (int i = 0; i < types[type].strings; i++) {
		size = bu_ssh_get(&reader, &at);
		if (i == types[type].judged)
			judged = size;
	}
	if (!bu_ssh_good(&reader) || reader.left)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "is cut off or has something behind the key; paste "
				  "the whole line of the .pub file");
	if (judged < types[type].min || judged > types[type].max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "is a key %s of %zu bytes; allowed are %zu to %zu",
				  key->type, judged, types[type].min, types[type].max);
	return 0;
}

int
bu_sshkey_parse(const char *line, struct bu_sshkey *ret, struct bu_err *err)
{
	size_t type_size = strcspn(line, " \t"), size, type;
	const char *text = line + type_size + strspn(line + type_size, " \t");
	bu_autofree char *base64 = bu_xstrndup(text, strcspn(text, " \t"));

	if (bu_sshkey_is_private(line) && strncmp(line, "AAAA", 4) != 0 &&
	    strncmp(base64, "AAAA", 4) != 0)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"is a private key; paste the line of its .pub file, "
			"and make a new key: everyone with read access to the tree "
			"has this one");
	*ret = (struct bu_sshkey){.size = 0};
	if (has_options(line))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "has options before the type of the key; take them "
				  "out, a profile has keys without options");
	if (!*base64 || type_size >= sizeof(ret->type))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "is not a public key; paste the line of a .pub file, "
				  "like 'ssh-ed25519 AAAA... name'");
	memcpy(ret->type, line, type_size);
	if (check_type(ret, &type, err) != 0)
		return -1;
	size = strlen(base64);
	if (bu_base64_decode(base64, ret->blob, sizeof(ret->blob), &ret->size) != 0)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"is cut off or changed: its %zu characters after %s "
			"are not base64; paste the whole line of the .pub file",
			size, ret->type);
	return check_blob(ret, type, err);
}

void
bu_sshkey_fingerprint(const struct bu_sshkey *key, char ret[BU_SSHKEY_FINGERPRINT_SIZE])
{
	uint8_t hash[BU_SHA256_SIZE];
	bu_autofree char *text = NULL;

	bu_sha256(key->blob, key->size, hash);
	text = bu_base64_encode(hash, sizeof(hash));
	text[strcspn(text, "=")] = '\0';
	snprintf(ret, BU_SSHKEY_FINGERPRINT_SIZE, "SHA256:%.43s", text);
}
