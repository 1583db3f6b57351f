/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the table in schema_keys.c: who logs in, and where further users come from.
 */
#ifndef BU_PROFILES_LANGUAGE_SCHEMA_ACCESS_H
#define BU_PROFILES_LANGUAGE_SCHEMA_ACCESS_H

/* clang-format off */
#define BU_ACCESS_KEYS                                                                 \
{"access", "user_ca", BU_KEY_SSHKEYS, NULL, 0, 0, NULL, FIELD(access, user_ca),        \
	CONTENT(RECONFIGURE),                                                          \
	"public keys of CAs: whom they certify as a user of the profile logs in"},     \
{"access", "host_ca", BU_KEY_SSHKEYS, NULL, 0, 0, NULL, FIELD(access, host_ca),        \
	CONTENT(RECONFIGURE),                                                          \
	"public keys of CAs: nodes believe the host keys that they certify"},          \
{"access", "host_ca_key", BU_KEY_SECRET, NULL, 0, 0, NULL, FIELD(access, host_ca_key), \
	CONTENT(RECONFIGURE),                                                          \
	"private key (Ed25519, no passphrase) that certifies the nodes' host keys; its " \
	"public half is in host_ca"},                                                  \
{"access", "directory", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(access, directory),      \
	CONTENT(RECONFIGURE),                                                          \
	"servers of further users, like ldaps://ldap1.example.org; the image needs sssd"}, \
{"access", "directory_base", BU_KEY_TEXT, NULL, 0, 0, NULL,                            \
	FIELD(access, directory_base),                                                 \
	CONTENT(RECONFIGURE), "where its users and groups are, like dc=example,dc=org"}, \
{"access", "directory_ca", BU_KEY_KEYFILE, NULL, 0, 0, NULL,                           \
	FIELD(access, directory_ca),                                                   \
	CONTENT(RECONFIGURE),                                                          \
	"certificates (PEM), on the appliance, that its servers prove themselves by"}, \
{"access", "directory_user", BU_KEY_TEXT, NULL, 0, 0, NULL,                            \
	FIELD(access, directory_user),                                                 \
	CONTENT(RECONFIGURE), "as whom nodes ask, like cn=nodes,dc=example,dc=org"},   \
{"access", "directory_key", BU_KEY_SECRET, NULL, 0, 0, NULL,                           \
	FIELD(access, directory_key),                                                  \
	CONTENT(RECONFIGURE), "its password"},                                         \
{"access", "directory_login", BU_KEY_WORDS, NULL, 0, 0, NULL,                          \
	FIELD(access, directory_login),                                                \
	CONTENT(RECONFIGURE),                                                          \
	"groups of the directory whose members log in, with their keys from there; "   \
	"without it, none"},                                                           \
{"access", "directory_sudo", BU_KEY_CHOICE, "yes|no", 0, 0, "no",                      \
	FIELD(access, directory_sudo),                                                 \
	CONTENT(RECONFIGURE), "yes: the directory's sudo rules count, too"},           \
{"access", "directory_first_id", BU_KEY_INT, NULL, 1000, 2e9, "10000",                 \
	FIELD(access, directory_first_id),                                             \
	CONTENT(RECONFIGURE),                                                          \
	"smallest number of its users and groups; those of the profile are below"},
/* clang-format on */

#endif
