/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Downloads over libcurl; images/build/registry.c calls it. Invariant: a credential
 * goes to the server that the caller named, and to no other: redirects are followed
 * here, one by one, without it, and never from https to http; and what a server wants
 * to which it was only sent is told to nobody.
 */
#include "base/download.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/record.h"
#include "base/url.h"

enum {
	REDIRECTS_MAX = 5,
	CONNECT_MS = 15 * 1000,
	SLOW_BYTES = 1024, /* a second, for: */
	SLOW_S = 60,
	TRIES = 3, /* in a row that bring nothing new */
	PAUSE_MS = 1000,
};

struct transfer {
	CURL *curl;
	int fd;
	uint64_t have, max; /* bytes in the file */
	uint64_t came;
	struct bu_downloaded *answer;
	struct bu_err why; /* of our own: too long, full disk */
	int failed;
	char text[CURL_ERROR_SIZE];
};

void
bu_downloaded_fini(struct bu_downloaded *answer)
{
	free(answer->challenge);
	answer->challenge = NULL;
}

static int
restart(struct transfer *transfer)
{
	transfer->have = 0;
	return ftruncate(transfer->fd, 0) || lseek(transfer->fd, 0, SEEK_SET) < 0;
}

static size_t
on_data(char *data, size_t unit, size_t count, void *arg)
{
	struct transfer *transfer = arg;
	size_t size = unit * count;
	long status = 0;

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200 && status != 206)
		return size; /* the text of an error */
	if (status == 200 && !transfer->came && transfer->have && restart(transfer)) {
		transfer->failed = 1;
		bu_err_set(&transfer->why, BU_ERR_IO, errno, "starting again");
		return 0;
	}
	if (size > transfer->max - transfer->have) {
		transfer->failed = 1;
		bu_err_set(&transfer->why, BU_ERR_REMOTE, 0,
			   "the answer is longer than %llu bytes",
			   (unsigned long long)transfer->max);
		return 0;
	}
	if (bu_write_all(transfer->fd, data, size, &transfer->why)) {
		transfer->failed = 1;
		return 0;
	}
	transfer->have += size;
	transfer->came += size;
	return size;
}

static size_t
on_header(char *data, size_t unit, size_t count, void *arg)
{
	static const char name[] = "www-authenticate:";
	struct bu_downloaded *answer = arg;
	size_t size = unit * count, length = sizeof(name) - 1;

	if (size > length && size < 4096 && !strncasecmp(data, name, length)) {
		free(answer->challenge);
		answer->challenge = bu_xstrndup(data + length, size - length);
	}
	return size;
}

static int
is_local(const struct bu_url *url)
{
	static const char *const local[] = {"localhost", "127.0.0.1", "::1", NULL};

	return strcmp(url->scheme, "http") == 0 && bu_word_find(local, url->host) >= 0;
}

/* Of one that is not understood, nothing is shown: there may be a password in it. */
static int
check_url(const char *url, struct bu_err *err)
{
	/* What a server is asked for is its own business. */
	bu_autofree char *place = bu_xstrndup(url, strcspn(url, "?#"));
	struct bu_url parts;

	if (bu_url_parse(place, &parts) < 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "an address that is not a URL is not used");
	if (parts.has_user)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "an address with a user in it is not used");
	if (strcmp(parts.scheme, "https") == 0 || is_local(&parts))
		return 0;
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "%.200s: only https, and http of this machine, are used",
			  url);
}

static void
set_up(struct transfer *transfer, const char *url, struct curl_slist *headers)
{
	CURL *curl = transfer->curl;
	char range[32];

	curl_easy_reset(curl);
	transfer->text[0] = '\0';
	transfer->came = 0;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->text);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "bringup/" BU_VERSION);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SLOW_S);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer->answer);
	snprintf(range, sizeof(range), "%llu-", (unsigned long long)transfer->have);
	/* Not RESUME_FROM: with that a server without ranges is an error. */
	curl_easy_setopt(curl, CURLOPT_RANGE, transfer->have ? range : NULL);
}

static int
fail(const struct transfer *transfer, CURLcode code, const char *url,
     struct bu_err *err)
{
	enum bu_err_kind kind = code == CURLE_OPERATION_TIMEDOUT ? BU_ERR_TIMEOUT
				: code == CURLE_PEER_FAILED_VERIFICATION
					? BU_ERR_VERIFY
					: BU_ERR_REMOTE;

	if (transfer->failed) {
		if (err)
			*err = transfer->why;
		return bu_err_wrap(err, "%.200s", url);
	}
	return bu_err_set(err, kind, 0, "%.200s: %s", url,
			  transfer->text[0] ? transfer->text
					    : curl_easy_strerror(code));
}

/* What breaks off goes on where it did, for as long as that brings something new: a
 * proxy that cuts each answer, and has no ranges, would do so for ever. */
static CURLcode
perform(struct transfer *transfer, const char *url, struct curl_slist *headers)
{
	uint64_t most = transfer->have;

	for (int tries = 0;;) {
		CURLcode code;

		set_up(transfer, url, headers);
		code = curl_easy_perform(transfer->curl);
		if (code == CURLE_OK || transfer->failed || !transfer->came)
			return code;
		if (transfer->have > most) {
			most = transfer->have;
			tries = 0;
		} else if (++tries == TRIES) {
			return code;
		} else {
			usleep(PAUSE_MS * 1000);
		}
	}
}

/* One request; *ret_next (owned) is where it redirects to, NULL when it is done. */
static int
request(struct transfer *transfer, const char *url, struct curl_slist *headers,
	char **ret_next, struct bu_err *err)
{
	CURLcode code = perform(transfer, url, headers);
	char *next = NULL;
	long status = 0;

	*ret_next = NULL;
	if (code != CURLE_OK)
		return fail(transfer, code, url, err);
	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	transfer->answer->status = status;
	if (status == 200 || status == 206 || (status == 416 && transfer->have))
		return 0;
	if (status >= 300 && status < 400 &&
	    !curl_easy_getinfo(transfer->curl, CURLINFO_REDIRECT_URL, &next) && next) {
		*ret_next = bu_xstrdup(next);
		return 0;
	}
	return bu_err_set(err,
			  status == 401 || status == 403 ? BU_ERR_DENIED
			  : status == 404                ? BU_ERR_NOTFOUND
							 : BU_ERR_REMOTE,
			  0, "%.200s: the server answered with status %ld", url,
			  status);
}

static struct curl_slist *
make_headers(const struct bu_download *what, int first)
{
	struct curl_slist *headers = NULL;
	bu_autofree char *accept =
		what->accept ? bu_xasprintf("Accept: %s", what->accept) : NULL;
	bu_autofree char *auth =
		what->authorization && first
			? bu_xasprintf("Authorization: %s", what->authorization)
			: NULL;

	if (accept)
		headers = curl_slist_append(headers, accept);
	if (auth)
		headers = curl_slist_append(headers, auth);
	return headers;
}

static int
follow(struct transfer *transfer, const struct bu_download *what, struct bu_err *err)
{
	bu_autofree char *url = bu_xstrdup(what->url);

	for (int hop = 0; hop <= REDIRECTS_MAX; hop++) {
		struct curl_slist *headers;
		char *next;
		int rc = check_url(url, err);

		if (rc)
			return -1;
		headers = make_headers(what, hop == 0);
		rc = request(transfer, url, headers, &next, err);
		curl_slist_free_all(headers);
		if (hop) /* nobody logs in where a server only sent us */
			bu_downloaded_fini(transfer->answer);
		if (rc || !next)
			return rc;
		if (!strncmp(url, "https://", 8) && strncmp(next, "https://", 8) != 0) {
			free(next);
			return bu_err_set(err, BU_ERR_DENIED, 0,
					  "%.200s: it redirects from https to http",
					  url);
		}
		free(url);
		url = next;
	}
	return bu_err_set(err, BU_ERR_REMOTE, 0, "%.200s: more than %d redirects",
			  what->url, REDIRECTS_MAX);
}

int
bu_download(const struct bu_download *what, int fd, struct bu_downloaded *ret,
	    struct bu_err *err)
{
	struct transfer transfer = {.fd = fd, .max = what->max_bytes, .answer = ret};
	off_t have = lseek(fd, 0, SEEK_END);
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (have < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "file of %.200s", what->url);
	transfer.have = (uint64_t)have;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	transfer.curl = curl_easy_init();
	bu_assert(transfer.curl != NULL);
	rc = follow(&transfer, what, err);
	curl_easy_cleanup(transfer.curl);
	return rc;
}
