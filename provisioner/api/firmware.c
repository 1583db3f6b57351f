/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener for firmware that boots by HTTPS. It has a CA and a key of its own, of
 * RSA and with TLS 1.2 allowed: much firmware knows nothing newer, and nothing else of
 * bringup is weakened by it. Called by bringupd.c. Invariant: the CA is made once and
 * never replaced, because a person enrols it in each machine.
 */
#include "provisioner/api/firmware.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/log.h"

/* What the file holds, made when it is not there; owned. made: NULL = it must be. */
static char *
keep(const char *dir, const char *name, char *made, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *text = made;

	if (made && bu_file_write(path, made, strlen(made), 0600, err) != 0)
		return NULL;
	return made ? bu_steal(&text) : bu_file_read(path, 65536, NULL, err);
}

static int
is_missing(const char *dir, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	return !bu_file_exists(path);
}

static char *
keep_key(const char *dir, const char *name, struct bu_err *err)
{
	char *made = NULL;

	if (is_missing(dir, name) && bu_rsa_key_create(&made, err) != 0)
		return NULL;
	return keep(dir, name, made, err);
}

/* The certificate comes last: without its key it is lost, and no other one is made. */
static int
open_ca(const char *dir, char **ret_key, char **ret_cert, struct bu_err *err)
{
	char *made = NULL;
	int first = is_missing(dir, BU_FIRMWARE_CA);

	*ret_key = first ? keep_key(dir, "boot-ca.key", err)
			 : keep(dir, "boot-ca.key", NULL, err);
	if (!*ret_key ||
	    (first && bu_ca_create("bringup boot CA", *ret_key, &made, err) != 0))
		return -1;
	*ret_cert = keep(dir, BU_FIRMWARE_CA, made, err);
	return *ret_cert ? 0 : -1;
}

int
bu_firmware_listen(struct bu_server *server, const char *keys, const char *address,
		   struct bu_err *err)
{
	bu_autofree char *ca_key = NULL, *ca = NULL, *cert = NULL, *key = NULL;
	bu_autofree char *ip =
		bu_xasprintf("IP:%.*s", (int)strcspn(address, ":"), address);
	const char *names[] = {ip, NULL};
	struct bu_server_tls tls = {.ca = NULL};
	int fd;

	if (open_ca(keys, &ca_key, &ca, err) != 0)
		return bu_err_wrap(err, "keys in '%s'", keys);
	key = keep_key(keys, "boot.key", err);
	if (!key || bu_ca_issue_server(&(struct bu_ca){ca, ca_key}, key, names, &cert,
				       err) != 0)
		return bu_err_wrap(err, "keys in '%s'", keys);
	fd = bu_listen_tcp(address, err);
	if (fd < 0)
		return -1;
	tls.cert = cert;
	tls.key = key;
	bu_info("boot",
		"firmware boots by https://%s when %s/" BU_FIRMWARE_CA
		" is enrolled in it",
		address, keys);
	return bu_server_listen(server, BU_LISTEN_BOOT, fd, &tls, err);
}
