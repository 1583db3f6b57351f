/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CA of a server that is known by its fingerprint alone, called by `bringup login`.
 * Invariant: the connection that is not verified carries a handshake and nothing else.
 */
#include <curl/curl.h>
#include <string.h>

#include "base/crypto.h"
#include "base/http.h"

enum { CONNECT_MS = 10000 };

/* The text of one certificate of the chain, "Cert:-----BEGIN ..."; NULL = none. */
static const char *
pem_of(const struct curl_slist *fields)
{
	static const char head[] = "Cert:";

	for (; fields; fields = fields->next)
		if (strncmp(fields->data, head, strlen(head)) == 0)
			return fields->data + strlen(head);
	return NULL;
}

/* The first one is the server's own, which is no CA. */
static char *
find(const struct curl_certinfo *chain, const char *fingerprint)
{
	for (int i = 1; chain && i < chain->num_of_certs; i++) {
		const char *pem = pem_of(chain->certinfo[i]);
		char shown[BU_DIGEST_SIZE];

		if (pem && bu_cert_fingerprint(pem, shown, NULL) == 0 &&
		    bu_equal_secret(shown, fingerprint))
			return bu_xstrdup(pem);
	}
	return NULL;
}

char *
bu_http_find_ca(const char *url, const char *fingerprint, struct bu_err *err)
{
	CURL *curl = curl_easy_init();
	char why[CURL_ERROR_SIZE] = "", *pem = NULL;
	struct curl_certinfo *chain = NULL;
	CURLcode code;

	bu_assert(curl);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	curl_easy_setopt(curl, CURLOPT_CERTINFO, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		bu_err_set(err, BU_ERR_REMOTE, 0, "%s: %s", url,
			   *why ? why : curl_easy_strerror(code));
	else if (curl_easy_getinfo(curl, CURLINFO_CERTINFO, &chain) != CURLE_OK ||
		 !(pem = find(chain, fingerprint)))
		bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"%s shows no CA with the fingerprint %s; compare it with what "
			"bringup token create says on the appliance, or give --ca FILE",
			url, fingerprint);
	curl_easy_cleanup(curl);
	return pem;
}
