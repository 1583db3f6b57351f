/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads over libcurl; bringup-backup calls it. Invariant: a server that did not say
 * that it took all of the file has not taken it.
 */
#include "base/upload.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/url.h"

enum { CONNECT_MS = 15 * 1000, SLOW_BYTES = 1024 /* a second, for: */, SLOW_S = 60 };

static size_t
drop(char *data, size_t unit, size_t count, void *arg)
{
	return unit * count;
}

static int
check_url(const char *url, struct bu_err *err)
{
	struct bu_url parts;

	if (bu_url_parse(url, &parts) == 0 && !parts.has_user)
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "an address that is not a URL, or has a user in it, is not "
			  "used");
}

static void
set_up(CURL *curl, const char *url, FILE *file, curl_off_t size)
{
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_READDATA, file);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, size);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "bringup/" BU_VERSION);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SLOW_S);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

static int
judge(CURL *curl, CURLcode code, const char *url, struct bu_err *err)
{
	long status = 0;

	if (code != CURLE_OK)
		return bu_err_set(err,
				  code == CURLE_OPERATION_TIMEDOUT ? BU_ERR_TIMEOUT
				  : code == CURLE_PEER_FAILED_VERIFICATION
					  ? BU_ERR_VERIFY
					  : BU_ERR_REMOTE,
				  0, "%.200s: %s", url, curl_easy_strerror(code));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200 || status == 201 || status == 204)
		return 0;
	return bu_err_set(
		err, status == 401 || status == 403 ? BU_ERR_DENIED : BU_ERR_REMOTE, 0,
		"%.200s: the server answered with status %ld", url, status);
}

static int
put(const char *url, FILE *file, struct bu_err *err)
{
	struct stat st;
	CURL *curl;
	int rc;

	if (fstat(fileno(file), &st) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "size of what is uploaded");
	curl_global_init(CURL_GLOBAL_DEFAULT);
	curl = curl_easy_init();
	bu_assert(curl != NULL);
	set_up(curl, url, file, st.st_size);
	rc = judge(curl, curl_easy_perform(curl), url, err);
	curl_easy_cleanup(curl);
	return rc;
}

int
bu_upload(const char *url, const char *path, struct bu_err *err)
{
	FILE *file;
	int rc;

	if (check_url(url, err) != 0)
		return -1;
	file = fopen(path, "re");
	if (!file)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", path);
	rc = put(url, file, err);
	fclose(file);
	return rc;
}
