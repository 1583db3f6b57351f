/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every section and every key that a profile may hold: one table. The loader, the error
 * texts, the JSON schema and the documentation come from it.
 */
#ifndef BU_PROFILES_LANGUAGE_SCHEMA_H
#define BU_PROFILES_LANGUAGE_SCHEMA_H

#include <stddef.h>

#include "base/err.h"
#include "model/class.h"

/* type, what it stores, what is allowed (for messages) */
#define BU_KEY_TYPES(X)                                                                \
	X(NAME, char *, "lower-case letters, digits and '-'")                          \
	X(WORD, char *, "letters, digits and -_.:/@+, no blanks")                      \
	X(TEXT, char *, "any text")                                                    \
	X(WORDS, char *, "words with commas between them")                             \
	X(CHOICE, char *, "one of the names listed")                                   \
	X(PATH, char *, "an absolute path")                                            \
	X(FILE, char *, "a path inside the profile tree")                              \
	X(SECRET, char *,                                                              \
	  "a reference 'file:/path', 'env:NAME', 'credential:NAME' or 'exec:/path'; "  \
	  "a profile never has the secret itself")                                     \
	X(EXEC, char *, "a program as 'exec:/path'")                                   \
	X(KEYFILE, char *, "a reference 'file:/path'")                                 \
	X(KEYFILES, char *, "references 'file:/path' with commas between them")        \
	X(URL, char *, "a URL like https://host/path, without a user or a password")   \
	X(PLACE, char *,                                                               \
	  "a folder like /srv/backups, a URL like https://host/path without a user "   \
	  "or a password, or a program as 'exec:/path'")                               \
	X(RECIPIENT, char *, "the recipient that bringup backup keygen prints")        \
	X(COUNTERS, char *,                                                            \
	  "the URL of a Prometheus like https://prometheus.example.org:9090, without " \
	  "a user or a password, or infiniband")                                       \
	X(BMC, char *, "a URL or an address, no blanks, no user or password")          \
	X(HOSTPORT, char *, "'address:port'")                                          \
	X(DOMAIN, char *, "a domain name like falcon.example.org")                     \
	X(HOSTS, char *, "host names or IPv4 addresses with commas between them")      \
	X(IPV4, char *, "an IPv4 address like 10.78.0.1")                              \
	X(PCI, char *, "a PCI address like 0000:18:00.0")                              \
	X(RDMAPORT, char *,                                                            \
	  "an RDMA port: a network interface like ib0, a PCI address like "            \
	  "0000:18:00.0, or a device and its port like mlx5_3/1")                      \
	X(SHA256, char *, "a SHA-256 as 64 hex digits in lower case")                  \
	X(NICS, char *, "NICs as numbers or PCI addresses, two at least, like 0, 1")   \
	X(NICMACS, char *, "network=MAC with commas between them")                     \
	X(PRIORITIES, char *, "priorities 0 to 7 with commas between them, or none")   \
	X(PKEYS, char *, "partition keys like 0x8001, with commas between them")       \
	X(PKEY, char *, "a partition key like 0x8001")                                 \
	X(ROUTES, char *, "routes like 10.0.0.0/8 via 10.78.0.1, with commas")         \
	X(SETTINGS, char *, "name=value with commas between them")                     \
	X(HUGEPAGES, char *, "pages like 1GiB*64, 2MiB*1024")                          \
	X(LABELS, char *, "labels like tier=gold, example.org/rack=r1")                \
	X(TAINTS, char *,                                                              \
	  "taints like gpu=true:NoSchedule; effects NoSchedule, PreferNoSchedule, "    \
	  "NoExecute")                                                                 \
	X(MIG, char *,                                                                 \
	  "instances like 1g.10gb*7 or 3g.40gb+2g.20gb*2, or by GPU "                  \
	  "0-3:1g.10gb*7,4-7:7g.80gb")                                                 \
	X(WINDOW, char *, "times in UTC like sat-sun 00:00-24:00, mon 22:00-02:00")    \
	X(DATA, char *,                                                                \
	  "partitions like scratch:500GiB:ext4:/scratch; ext4 or xfs; one may be "     \
	  "'rest'")                                                                    \
	X(DISK, char *,                                                                \
	  "what stays with a disk, like serial:S6X1, wwn:eui.0025, "                   \
	  "path:pci-0000:02:00.0-nvme-1, model:MZQL2*, size:400GiB-1TiB, "             \
	  "rotational:no, smallest, first, boot-pair; all of them hold; no name like " \
	  "/dev/sda, which the kernel gives anew at each start")                       \
	X(SSHKEYS, char *,                                                             \
	  "public keys like 'ssh-ed25519 AAAA... name', or files of the tree with "    \
	  "a key a line like file:keys.d/name, with commas between them")              \
	X(SUDO, char *,                                                                \
	  "all, or commands like '/usr/bin/systemctl restart slurmd' with commas "     \
	  "between them")                                                              \
	X(MAC, char *, "a MAC address like 52:54:00:77:00:01")                         \
	X(ENUM, int, "one of the names listed")                                        \
	X(INT, int, "a whole number")                                                  \
	X(REAL, double, "a number")                                                    \
	X(PERCENT, double, "a percentage like 80 %")                                   \
	X(SIZE, uint64_t, "a size like 16 GiB; units B, KiB, MiB, GiB, TiB")           \
	X(DURATION, int64_t, "a time like 90 s; units ms, s, m, h, d")                 \
	X(CIDR, struct bu_cidr, "a network like 10.78.0.0/24")                         \
	X(LIMIT, int, "a number of nodes from 1, or a percentage like 5 %")            \
	X(ADDRESSES, nothing, "IPv4 addresses like 10.78.0.[11-138]")                  \
	X(NODESET, nothing, "node names like gpu[001-128,200]")                        \
	X(ZIP, nothing, "one value, or one for each node like r[01-16]*8")             \
	X(REF, pointer, "the name of a section")                                       \
	X(REFS, nothing, "names of sections with commas between them")

enum bu_key_type {
#define X(id, stores, allowed) BU_KEY_##id,
	BU_KEY_TYPES(X)
#undef X
};

enum {
	BU_SCHEMA_MAX = 256, /* sections and keys together */
	BU_SCHEMA_KINDS_MAX = 16,
};

/* Which revision a node has a key from while an order of it is carried out. */
enum bu_key_use {
	BU_KEY_UNSAID,  /* a row of the table says one of the others */
	BU_KEY_CONTENT, /* what is made of a node: of its order, to its end */
	BU_KEY_REACH, /* how its machine is reached and known: always of the applied one
		       */
};

struct bu_key {
	const char *section, *key;
	enum bu_key_type type;
	const char *arg; /* CHOICE, ENUM: "a|b"; REF, REFS: the kind of section */
	double min, max; /* of numbers, sizes (bytes), durations (ms) */
	const char
		*need; /* "required", or the default as it would be written, or NULL */
	size_t offset; /* of the field in struct bu_desired_<section> */
	enum bu_class change; /* what changing it does to a node in service */
	enum bu_key_use use;
	const char *help;
};
#define BU_KEY_NO_FIELD ((size_t)-1) /* the loader itself reads this key */

struct bu_section_kind {
	const char *kind;
	const char *named; /* what its name is; NULL = it has none */
	const char *help;
};

/* What the settings of a kind of section come from when it does not give them: a key of
 * the same name in the section that it is based on (node: pool, pool: hardware). */
struct bu_inherit {
	const struct bu_key *key, *from; /* both have a field */
	size_t size;                     /* of the value, bytes */
};
enum { BU_INHERIT_MAX = 32 };
/* Fills ret, at most BU_INHERIT_MAX; the number of pairs. */
size_t bu_schema_inherits(const char *kind, const char *from,
			  struct bu_inherit ret[BU_INHERIT_MAX]);
const struct bu_section_kind *bu_schema_kinds(size_t *ret_count);
const struct bu_key *bu_schema_keys(size_t *ret_count);
const struct bu_section_kind *bu_schema_kind(const char *kind);
const struct bu_key *bu_schema_key(const char *kind, const char *key);
/* The only kind of cluster that knows this key; NULL = each does. */
const char *bu_key_driver(const struct bu_key *key);
int bu_key_required(const struct bu_key *key);
/* NULL when there is none. */
const char *bu_key_default(const struct bu_key *key);

/* " (did you mean 'x'?)" for the candidate nearest to the word, or ""; owned. NULL
 * candidates are passed over. */
char *bu_did_you_mean(const char *word, const char *const *candidates, size_t count);
/* The same for kinds of sections and for the keys of a kind. */
char *bu_schema_suggest(const char *kind, const char *key);

/* Checks the text and, when ret is not NULL, stores the value as BU_KEY_TYPES says;
 * text fields get an owned copy, the old one is freed. References only have their form
 * checked. err->text is "what is wrong; what is allowed". */
bu_must int bu_value_parse(const struct bu_key *key, const char *text, void *ret,
			   struct bu_err *err);
/* What is allowed for a value of this key, as the error texts say it; owned. */
char *bu_key_allowed(const struct bu_key *key);
/* 1 when the type stores an owned char *. */
int bu_key_is_text(const struct bu_key *key);
/* "5 %" or "3" of a pool: at least 1, at most total. text has been checked. */
int bu_value_limit(const char *text, size_t total);
/* The next word of a comma-separated list, owned; NULL at the end. */
char *bu_value_next_word(const char **text);

#endif
