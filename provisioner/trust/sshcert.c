/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certifies host keys. Called when an agent shows the key of its node. Invariant: the
 * CA's key is wiped wherever it was copied to, and a CA that nodes are not told of
 * signs nothing.
 */
#include "provisioner/trust/sshcert.h"

#include <string.h>

#include "base/crypto.h"
#include "model/sshkey.h"

#define ED25519 "ssh-ed25519"
#define MAGIC "openssh-key-v1" /* with its NUL */
#define BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----"
#define END "-----END OPENSSH PRIVATE KEY-----"

enum { SEED_SIZE = 32, PUBLIC_SIZE = 32, CA_FILE_MAX = 4096, HOST = 2, MAX = 16384 };

/* Of RFC 8410: what comes before the seed. */
static const uint8_t pkcs8_head[16] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
				       0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};

struct ca {
	uint8_t seed[SEED_SIZE], public[PUBLIC_SIZE];
};

struct writer {
	uint8_t bytes[MAX];
	size_t size;
};

static void
put(struct writer *writer, const void *data, size_t size)
{
	bu_assert(size <= sizeof(writer->bytes) - writer->size);
	memcpy(writer->bytes + writer->size, data, size);
	writer->size += size;
}

static void
put_number(struct writer *writer, uint64_t value, int bytes)
{
	for (int i = bytes; i-- > 0;)
		put(writer, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

static void
put_string(struct writer *writer, const void *data, size_t size)
{
	put_number(writer, size, 4);
	put(writer, data, size);
}

static int
wrong_ca(struct bu_err *err, const char *why)
{
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "the CA of host keys: %s; it is a file that ssh-keygen -t "
			  "ed25519 -N '' writes",
			  why);
}

/* The private half: check, check, type, public, seed and public, comment, padding. */
static int
read_secret(const uint8_t *at, size_t size, struct ca *ret, struct bu_err *err)
{
	struct bu_ssh_reader reader;
	const uint8_t *public, *secret;

	if (size < 8 || memcmp(at, at + 4, 4) != 0)
		return wrong_ca(err, "its private half is cut off");
	reader = (struct bu_ssh_reader){at + 8, size - 8};
	if (bu_ssh_get(&reader, &at) != strlen(ED25519) ||
	    memcmp(at, ED25519, strlen(ED25519)) != 0)
		return wrong_ca(err, "it is not an Ed25519 key");
	if (bu_ssh_get(&reader, &public) != PUBLIC_SIZE ||
	    bu_ssh_get(&reader, &secret) != SEED_SIZE + PUBLIC_SIZE)
		return wrong_ca(err, "its private half is cut off");
	memcpy(ret->seed, secret, SEED_SIZE);
	memcpy(ret->public, public, PUBLIC_SIZE);
	return 0;
}

static int
read_blob(const uint8_t *blob, size_t size, struct ca *ret, struct bu_err *err)
{
	struct bu_ssh_reader reader = {blob + sizeof(MAGIC), size - sizeof(MAGIC)};
	const uint8_t *at;

	if (size < sizeof(MAGIC) || memcmp(blob, MAGIC, sizeof(MAGIC)) != 0)
		return wrong_ca(err, "it is not a private key of OpenSSH");
	size = bu_ssh_get(&reader, &at);
	if (size != 4 || memcmp(at, "none", 4) != 0)
		return wrong_ca(err, "it has a passphrase");
	bu_ssh_get(&reader, &at); /* how the passphrase is used */
	bu_ssh_get(&reader, &at);
	if (!bu_ssh_good(&reader) || reader.left < 4)
		return wrong_ca(err, "it is cut off");
	reader.at += 4; /* number of keys: 1 */
	reader.left -= 4;
	bu_ssh_get(&reader, &at);
	size = bu_ssh_get(&reader, &at);
	return read_secret(at, size, ret, err);
}

static int
read_ca(const char *text, struct ca *ret, struct bu_err *err)
{
	const char *begin = strstr(text, BEGIN),
		   *end = begin ? strstr(begin, END) : NULL;
	char base64[CA_FILE_MAX];
	uint8_t blob[CA_FILE_MAX];
	size_t size = 0;
	int rc;

	if (!end || end - begin >= CA_FILE_MAX)
		return wrong_ca(err, "it is not a private key of OpenSSH");
	for (const char *p = begin + strlen(BEGIN); p < end; p++)
		if (*p != '\n' && *p != '\r')
			base64[size++] = *p;
	base64[size] = '\0';
	rc = bu_base64_decode(base64, blob, sizeof(blob), &size) == 0
		     ? read_blob(blob, size, ret, err)
		     : wrong_ca(err, "it is cut off");
	explicit_bzero(base64, sizeof(base64));
	explicit_bzero(blob, sizeof(blob));
	return rc;
}

/* Is the key one of those that nodes are told of? */
static int
check_public(const struct ca *ca, const char *list, struct bu_err *err)
{
	struct bu_sshkey key;
	char *line;

	while ((line = bu_sshkey_next(&list))) {
		int is_it = bu_sshkey_parse(line, &key, NULL) == 0 &&
			    strcmp(key.type, ED25519) == 0 &&
			    memcmp(key.blob + key.size - PUBLIC_SIZE, ca->public,
				   PUBLIC_SIZE) == 0;

		free(line);
		if (is_it)
			return 0;
	}
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "[access] host_ca does not name the public half of "
			  "host_ca_key; nodes would not believe what it signs");
}

static void
put_key(struct writer *writer, const uint8_t public[PUBLIC_SIZE])
{
	struct writer *key = bu_xcalloc(1, sizeof(*key));

	put_string(key, ED25519, strlen(ED25519));
	put_string(key, public, PUBLIC_SIZE);
	put_string(writer, key->bytes, key->size);
	free(key);
}

/* Everything but the nonce before it and the signature behind it. */
static void
put_body(struct writer *writer, const struct bu_sshcert *cert, const struct ca *ca,
	 const struct bu_sshkey *key)
{
	struct writer *names = bu_xcalloc(1, sizeof(*names));

	for (size_t i = 0; cert->names[i]; i++)
		put_string(names, cert->names[i], strlen(cert->names[i]));
	put_string(writer, key->blob + key->size - PUBLIC_SIZE, PUBLIC_SIZE);
	put_number(writer, 0, 8); /* serial */
	put_number(writer, HOST, 4);
	put_string(writer, cert->id, strlen(cert->id));
	put_string(writer, names->bytes, names->size);
	put_number(writer, 0, 8);          /* valid from */
	put_number(writer, UINT64_MAX, 8); /* for ever */
	put_string(writer, "", 0);         /* critical options */
	put_string(writer, "", 0);         /* extensions */
	put_string(writer, "", 0);         /* reserved */
	put_key(writer, ca->public);
	free(names);
}

static int
put_signature(struct writer *writer, const struct ca *ca, struct bu_err *err)
{
	uint8_t der[sizeof(pkcs8_head) + SEED_SIZE], sig[64];
	char hex[BU_SIG_HEX_SIZE];
	bu_autofree char *base64 = NULL, *pem = NULL;
	struct writer *blob;
	int rc;

	memcpy(der, pkcs8_head, sizeof(pkcs8_head));
	memcpy(der + sizeof(pkcs8_head), ca->seed, SEED_SIZE);
	base64 = bu_base64_encode(der, sizeof(der));
	pem = bu_xasprintf("-----BEGIN PRIVATE KEY-----\n%s\n"
			   "-----END PRIVATE KEY-----\n",
			   base64);
	rc = bu_sign(pem, writer->bytes, writer->size, hex, err);
	explicit_bzero(der, sizeof(der));
	explicit_bzero(base64, strlen(base64));
	explicit_bzero(pem, strlen(pem));
	if (rc != 0)
		return -1;
	bu_assert(bu_hex_decode(hex, sig, sizeof(sig)) == 0);
	blob = bu_xcalloc(1, sizeof(*blob));
	put_string(blob, ED25519, strlen(ED25519));
	put_string(blob, sig, sizeof(sig));
	put_string(writer, blob->bytes, blob->size);
	free(blob);
	return 0;
}

/* The same input gives the same nonce, which nobody else can foresee. */
static void
put_nonce(struct writer *writer, const struct ca *ca, const struct writer *body)
{
	char hex[BU_DIGEST_SIZE];

	bu_hmac_hex(ca->seed, sizeof(ca->seed), body->bytes, body->size, hex);
	put_string(writer, hex, 32);
}

static char *
make(const struct bu_sshcert *cert, const struct ca *ca, const struct bu_sshkey *key,
     struct bu_err *err)
{
	static const char type[] = "ssh-ed25519-cert-v01@openssh.com";
	struct writer *body = bu_xcalloc(1, sizeof(*body));
	struct writer *all = bu_xcalloc(1, sizeof(*all));
	bu_autofree char *base64 = NULL;
	char *line = NULL;

	put_body(body, cert, ca, key);
	put_string(all, type, strlen(type));
	put_nonce(all, ca, body);
	put(all, body->bytes, body->size);
	if (put_signature(all, ca, err) == 0) {
		base64 = bu_base64_encode(all->bytes, all->size);
		line = bu_xasprintf("%s %s %s", type, base64, cert->id);
	}
	free(body);
	free(all);
	return line;
}

char *
bu_sshcert_make(const struct bu_sshcert *cert, struct bu_err *err)
{
	struct bu_sshkey key;
	struct ca ca = {{0}, {0}};
	char *line = NULL;

	if (bu_sshkey_parse(cert->host_key, &key, err) != 0) {
		bu_err_wrap(err, "the host key");
		return NULL;
	}
	if (strcmp(key.type, ED25519) != 0)
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "the host key is of the type %s; " ED25519 " is wanted",
			   key.type);
	else if (read_ca(cert->ca_key, &ca, err) == 0 &&
		 check_public(&ca, cert->ca_public, err) == 0)
		line = make(cert, &ca, &key, err);
	explicit_bzero(&ca, sizeof(ca));
	return line;
}
