/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the command line: one table of all of them. A command names those that it
 * takes; parsing, the checks of values and `bringup help CMD` loop over the table.
 */
#ifndef BU_CLI_OPTIONS_H
#define BU_CLI_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum bu_format { BU_FORMAT_TABLE, BU_FORMAT_JSON, BU_FORMAT_HOSTLIST };
/* How one of these is written: a table that is not cut, JSON as YAML, names a line
 * each. */
enum bu_style { BU_STYLE_NONE, BU_STYLE_WIDE, BU_STYLE_YAML, BU_STYLE_NAME };

enum {
	BU_TIMEOUT_DEFAULT_S = 3600,
	BU_EVENTS_DEFAULT = 50,
	BU_LINES_DEFAULT = 50,
};

/* id, long name ("" = none), letter, kind, member of bu_options, argument, least, most,
 * help */
#define BU_OPTIONS(X)                                                                  \
	X(OUTPUT, "", 'o', FORMAT, format, "table|wide|json|yaml|hostlist|name", 0, 0, \
	  "how to print")                                                              \
	X(JSON, "json", 0, JSON, format, "", 0, 0, "print JSON")                       \
	X(OUT, "out", 0, TEXT, out, "FILE", 0, 0, "write the plan to FILE")            \
	X(DETAILED, "detailed-exitcode", 0, FLAG, detailed, "", 0, 0,                  \
	  "exit 2 when there is something to do; drift alone is not")                  \
	X(YES, "yes", 0, FLAG, yes, "", 0, 0, "do not ask")                            \
	X(NEXT, "next", 0, FLAG, next, "", 0, 0,                                       \
	  "go on without the nodes that are not up yet")                               \
	X(ABORT, "abort", 0, FLAG, abort, "", 0, 0,                                    \
	  "end it; machines that are on stay on")                                      \
	X(GRANT, "grant", 0, LIST, grants, "CLASS[:NODESET]", 0, 0,                    \
	  "allow reset, reimage or wipe, of these nodes or of all; may be repeated")   \
	X(WAIT, "wait", 0, FLAG, wait, "", 0, 0,                                       \
	  "follow it to its end; 0 only when all of its nodes are ready")              \
	X(TIMEOUT, "timeout", 0, INT, timeout_s, "SECONDS", 1, 30 * 24 * 3600,         \
	  "longest wait (3600)")                                                       \
	X(WATCH, "watch", 0, FLAG, watch, "", 0, 0, "again with each change")          \
	X(FOLLOW, "follow", 0, FLAG, follow, "", 0, 0, "keep printing new entries")    \
	X(LIMIT, "limit", 0, INT, limit, "N", 1, 1000, "the last N of them (50)")      \
	X(NODE, "node", 0, TEXT, node, "NODESET", 0, 0, "only of these nodes")         \
	X(ONLY, "limit", 0, TEXT, only, "NODESET", 0, 0, "steps of these nodes alone") \
	X(RESTART, "restart-orders", 0, TEXT, restart, "NODESET", 0, 0,                \
	  "withdraw these nodes' orders under way and begin them anew by this "        \
	  "revision")                                                                  \
	X(GIT, "git", 0, TEXT, git, "URL", 0, 0,                                       \
	  "take the profile tree from this repository")                                \
	X(REF, "ref", 0, TEXT, ref, "REF", 0, 0,                                       \
	  "its branch, tag or commit id (HEAD)")                                       \
	X(PATH, "path", 0, TEXT, path, "DIR", 0, 0,                                    \
	  "the folder in it that holds the tree (all of it)")                          \
	X(REASON, "reason", 0, TEXT, reason, "TEXT", 0, 0,                             \
	  "why; it is kept in the log")                                                \
	X(FORCE, "force", 0, FLAG, force, "", 0, 0,                                    \
	  "also of a node in service; needs --reason")                                 \
	X(DRY_RUN, "dry-run", 0, FLAG, dry_run, "", 0, 0,                              \
	  "only say what would happen, change nothing")                                \
	X(ANSIBLE, "ansible", 0, FLAG, ansible, "", 0, 0,                              \
	  "print an inventory for Ansible")                                            \
	X(SCHEMA, "schema", 0, FLAG, schema, "", 0, 0,                                 \
	  "print the JSON Schema of an export")                                        \
	X(HOSTS, "hosts", 0, FLAG, hosts, "", 0, 0,                                    \
	  "print all names of the site in the format of /etc/hosts")                   \
	X(DNS, "dns", 0, TEXT, dns, "ZONE", 0, 0,                                      \
	  "print a zone file: the site's domain or a reverse zone")                    \
	X(NTP, "ntp", 0, FLAG, ntp, "", 0, 0,                                          \
	  "print what chrony needs to serve the site's time")                          \
	X(LINES, "lines", 0, INT, lines, "N", 1, 1000, "the last N lines (50)")        \
	X(RAW, "raw", 0, FLAG, raw, "", 0, 0,                                          \
	  "byte for byte: the machine may drive this terminal")                        \
	X(UNKNOWN, "unknown", 0, FLAG, unknown, "", 0, 0,                              \
	  "machines that booted but are not in the profile, with the row for the "     \
	  "inventory")                                                                 \
	X(ORIGIN, "origin", 0, TEXT, origin, "DIR", 0, 0,                              \
	  "what the profile in DIR says, and in which line")                           \
	X(TO, "to", 0, TEXT, to, "PLACE", 0, 0,                                        \
	  "a folder or new file, http(s)://..., or exec:/path, instead of the "        \
	  "profile's place")                                                           \
	X(WITH_KEYS, "with-keys", 0, FLAG, with_keys, "", 0, 0,                        \
	  "with the appliance's keys, so that nothing else is needed to restore")      \
	X(FROM, "from", 0, TEXT, from, "REPO", 0, 0,                                   \
	  "the profile: a folder, or the URL of a git repository")                     \
	X(STATE, "state", 0, TEXT, state, "DIR", 0, 0,                                 \
	  "the state directory to make; missing or empty (/var/lib/bringup)")          \
	X(SITE_KEY, "site-key", 0, TEXT, site_key, "FILE", 0, 0,                       \
	  "the key of a site that runs: a printed one, or a backup with keys; "        \
	  "without it a new key is made")                                              \
	X(IDENTITY, "identity", 0, TEXT, identity, "KEY", 0, 0,                        \
	  "the secret file of bringup backup keygen, which opens that backup")         \
	X(SHEET, "sheet", 0, TEXT, sheet, "FILE", 0, 0,                                \
	  "write the site key to this new file, to be printed for the safe")           \
	X(ANCHOR, "anchor", 0, TEXT, anchor, "FILE", 0, 0,                             \
	  "the log must have the row that this anchor names")                          \
	X(CA, "ca", 0, TEXT, ca, "FILE", 0, 0,                                         \
	  "keys/ca.pem of the appliance, brought here by hand")                        \
	X(FINGERPRINT, "fingerprint", 0, TEXT, fingerprint, "SHA256", 0, 0,            \
	  "of the appliance's CA, as bringup token create says it")                    \
	X(CERT, "cert", 0, TEXT, cert, "FILE", 0, 0,                                   \
	  "your client certificate (PEM), in place of a token")                        \
	X(KEY_FILE, "key", 0, TEXT, key, "FILE", 0, 0,                                 \
	  "its key (PEM), which is readable by you alone")                             \
	X(TOKEN_STDIN, "token-stdin", 0, FLAG, token_stdin, "", 0, 0,                  \
	  "read the token from standard input")                                        \
	X(OIDC, "oidc", 0, FLAG, oidc, "", 0, 0,                                       \
	  "log in at the site's identity provider, in a browser")                      \
	X(ISSUER_CA, "issuer-ca", 0, TEXT, issuer_ca, "FILE", 0, 0,                    \
	  "the CAs of the identity provider (those of the system)")                    \
	X(ROLE, "role", 0, TEXT, role, "ROLE", 0, 0,                                   \
	  "viewer, operator, grant, admin or auditor")                                 \
	X(FOR, "for", 0, TEXT, lasts, "TIME", 0, 0,                                    \
	  "how long it is good: 30d, 12h, 90m (30d)")                                  \
	X(CONTEXT, "context", 0, TEXT, context, "NAME", 0, 0,                          \
	  "the appliance that bringup login keeps by this name")                       \
	X(SOCKET, "socket", 0, TEXT, socket, "PATH", 0, 0, "bringupd's socket")

enum bu_option_id {
#define X(id, name, letter, kind, member, arg, min, max, help) BU_OPTION_##id,
	BU_OPTIONS(X)
#undef X
		BU_OPTION_COUNT
};
/* What a command row holds: BU_OPTION_BIT(WAIT) | ... */
#define BU_OPTION_BIT(id) (UINT64_C(1) << BU_OPTION_##id)

enum { BU_WORDS_MAX = 16 };
/* Of an option that may be repeated. */
struct bu_explain {
	const char *items[BU_WORDS_MAX];
	int count;
};

struct bu_options {
	int format; /* enum bu_format */
	enum bu_style style;
	const char *out;
	int detailed;
	int yes;
	int next, abort; /* of start */
	struct bu_explain grants;
	int wait;
	int timeout_s;
	int watch;
	int follow;
	int limit;
	const char *node;
	const char *only;    /* nodeset of --limit; NULL = all */
	const char *restart; /* nodeset; NULL = nobody's orders */
	const char *git, *ref, *path;
	const char *reason;
	int dry_run;
	int force;
	int hosts;       /* of export: names as /etc/hosts has them */
	const char *dns; /* its zone file */
	int ntp;         /* its time server */
	int ansible;
	int schema;
	int unknown;
	int lines;
	int raw;
	const char *origin;
	const char *to; /* place of a backup; NULL = the profile's */
	int with_keys;
	const char *from, *state, *site_key, *identity, *sheet; /* of init */
	const char *anchor;
	const char *ca, *fingerprint, *role, *lasts; /* lasts: of --for */
	const char *cert, *key;
	int token_stdin, oidc;
	const char *issuer_ca;
	const char *context; /* NULL = the environment says */
	const char *socket;  /* NULL = the environment says */
	int help;            /* -h, --help */
	char **args;         /* what is no option; borrowed from argv */
	int args_count;
};

/* argv[0] is passed over. taken: bits of the options that the command has.
 * BU_ERR_USAGE; argv is reordered. */
bu_must int bu_options_parse(uint64_t taken, int argc, char **argv,
			     struct bu_options *ret, struct bu_err *err);
/* The next option that is taken, from *at (0 at first) on, as "--grant
 * CLASS[:NODESET]"; owned. NULL = there is no other. */
char *bu_options_next(uint64_t taken, size_t *at, const char **ret_help);
/* One line for each option that is taken. */
void bu_options_help(uint64_t taken, FILE *out);

#endif
