/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: a key set and, behind a NUL, a token. No token that a stranger makes is of
 * the key set of this site; what any key set says takes no wrong turn. */
#include <stdint.h>
#include <string.h>

#include "base/jwt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char site_keys[] =
	"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"k\",\"x\":"
	"\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}";

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bu_jwt_wanted wanted = {"https://id", "bringup", 1700000000};
	static struct bu_jwks *keys;
	bu_autofree char *text = bu_xstrndup((const char *)data, size);
	size_t length = strlen(text);
	bu_autofree char *token = length < size
					  ? bu_xstrndup((const char *)data + length + 1,
							size - length - 1)
					  : bu_xstrdup("");
	struct bu_jwks *set = bu_jwks_read(text, length, NULL);
	json_t *claims;

	if (!keys)
		keys = bu_jwks_read(site_keys, strlen(site_keys), NULL);
	bu_assert(keys);
	claims = bu_jwt_open(token, &wanted, keys, NULL);
	bu_assert(!claims);
	json_decref(bu_jwt_open(token, &wanted, set, NULL));
	bu_assert(bu_jwt_ends_s(token) >= 0);
	bu_jwks_destroy(set);
	return 0;
}
