/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-lab bmc: one strict virtual BMC in front of a libvirt domain or of paper, or
 * a fleet of them on paper, until it is ended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/text.h"
#include "base/url.h"
#include "lab/bmc/fetch.h"
#include "lab/bmc/server.h"
#include "lab/commands.h"

enum { COUNT_MAX = 5000, NUMBER_MAX = 65536, FAULTS_MAX = 16, FILES_PER_BMC = 8 };

struct opts {
	const char *listen, *tree, *machine, *user, *password_file;
	const char *cert_file, *key_file;
	const char *faults[FAULTS_MAX];
	int fault_count, count, number, shutdown_s, is_plain, by_address;
};

struct fleet {
	struct bu_loop *loop;
	struct bu_bmc_tree *tree;
	char *password, *cert, *key, *other;
	struct bu_bmc *bmcs[COUNT_MAX];
	struct bu_bmc_server *servers[COUNT_MAX];
	int count;
	char first[64], last[64];
};

static const struct option options[] = {
	{"listen", required_argument, NULL, 'l'},
	{"tree", required_argument, NULL, 't'},
	{"machine", required_argument, NULL, 'm'},
	{"paper", no_argument, NULL, 'P'},
	{"shutdown", required_argument, NULL, 's'},
	{"user", required_argument, NULL, 'u'},
	{"password-file", required_argument, NULL, 'p'},
	{"tls-cert", required_argument, NULL, 'c'},
	{"tls-key", required_argument, NULL, 'k'},
	{"plain", no_argument, NULL, 'H'},
	{"fault", required_argument, NULL, 'f'},
	{"count", required_argument, NULL, 'n'},
	{"number", required_argument, NULL, 'N'},
	{"each", required_argument, NULL, 'e'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static void
usage(void)
{
	bu_autofree char *trees = bu_bmc_tree_names();

	printf("usage: bringup-lab bmc --listen ADDRESS:PORT --tree NAME\n"
	       "           [--machine URI#DOMAIN | --paper [--shutdown SECONDS|never]]\n"
	       "           [--user NAME] [--password-file FILE]\n"
	       "           [--tls-cert FILE --tls-key FILE | --plain]\n"
	       "           [--count N [--each port|address]] [--number N]\n"
	       "           [--fault NAME[=N]]...\n\n"
	       "One strict Redfish service until it is ended; with --count many, on\n"
	       "paper, each on the next port, or the next address. --number: of the\n"
	       "first machine of paper; its serial and MACs come from it. Without a\n"
	       "certificate it makes one, as a BMC does.\n\n"
	       "trees: %s\nfaults:\n",
	       trees);
#define X(id, name, arg, help) printf("  %-16s %-4s %s\n", name, arg, help);
	BU_BMC_FAULTS(X)
#undef X
}

static int
take(struct opts *opts, int c, struct bu_err *err)
{
	const char **texts[] = {
		['l'] = &opts->listen,        ['t'] = &opts->tree,
		['m'] = &opts->machine,       ['u'] = &opts->user,
		['p'] = &opts->password_file, ['c'] = &opts->cert_file,
		['k'] = &opts->key_file,
	};

	switch (c) {
	case 'P':
		return 0;
	case 'H':
		opts->is_plain = 1;
		return 0;
	case 'f':
		if (opts->fault_count == FAULTS_MAX)
			return bu_err_set(err, BU_ERR_USAGE, 0, "at most %d --fault",
					  FAULTS_MAX);
		opts->faults[opts->fault_count++] = optarg;
		return 0;
	case 'n':
		return bu_lab_parse_int("--count", optarg, 1, COUNT_MAX, &opts->count,
					err);
	case 'N':
		return bu_lab_parse_int("--number", optarg, 1, NUMBER_MAX,
					&opts->number, err);
	case 's':
		opts->shutdown_s = -1;
		return strcmp(optarg, "never") == 0
			       ? 0
			       : bu_lab_parse_int("--shutdown", optarg, 0, 86400,
						  &opts->shutdown_s, err);
	case 'e':
		opts->by_address = strcmp(optarg, "address") == 0;
		if (opts->by_address || strcmp(optarg, "port") == 0)
			return 0;
		return bu_err_set(err, BU_ERR_USAGE, 0, "--each port or address");
	default:
		if (c >= (int)BU_LEN(texts) || !texts[c])
			return bu_err_set(err, BU_ERR_USAGE, 0,
					  "see bringup-lab bmc --help");
		*texts[c] = optarg;
		return 0;
	}
}

/* 1 = help was asked for. */
static int
parse(int argc, char **argv, struct opts *opts, struct bu_err *err)
{
	int c;

	*opts = (struct opts){.count = 1, .number = 1, .shutdown_s = 3};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h')
			return 1;
		if (take(opts, c, err) != 0)
			return -1;
	}
	if (optind < argc || !opts->listen || !opts->tree)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "give --listen ADDRESS:PORT and --tree NAME; see "
				  "bringup-lab bmc --help");
	if (opts->machine && opts->count > 1)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--count is for machines of paper");
	if (!opts->cert_file != !opts->key_file || (opts->cert_file && opts->is_plain))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "give --tls-cert with --tls-key, or --plain");
	return 0;
}

/* --- sockets --- */

/* The listener of BMC `number`; writes where it is. */
static int
listen_on(const struct opts *opts, int number, char ret_text[64], struct bu_err *err)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	int one = 1, fd, port;
	char host[INET_ADDRSTRLEN];

	if (bu_url_socket(opts->listen, &at) < 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--listen '%s': give ADDRESS:PORT, for example "
				  "127.0.0.1:8443",
				  opts->listen);
	port = ntohs(at.sin_port);
	if (opts->by_address)
		at.sin_addr.s_addr =
			htonl(ntohl(at.sin_addr.s_addr) + (uint32_t)number);
	else if (port)
		at.sin_port = htons((uint16_t)(port + number));
	inet_ntop(AF_INET, &at.sin_addr, host, sizeof(host));
	if (!opts->by_address && port + number > 65535)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "there are not so many ports after %d", port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(fd, 64) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "listen on %s:%d", host,
			   ntohs(at.sin_port));
		close(fd);
		return -1;
	}
	snprintf(ret_text, 64, "%s://%s:%d", opts->is_plain ? "http" : "https", host,
		 ntohs(at.sin_port));
	return fd;
}

/* --- the fleet --- */

/* A certificate as a BMC makes its own: nobody else has signed it. */
static char *
make_certificate(const struct opts *opts, const char *key, struct bu_err *err)
{
	bu_autofree char *host = bu_xstrndup(opts->listen, strcspn(opts->listen, ":"));
	bu_autofree char *name = bu_xasprintf("IP:%s", host);
	const char *const names[] = {name, "DNS:bmc", NULL};
	bu_autofree char *ca_key = NULL, *ca_cert = NULL;
	char *cert = NULL;

	if (bu_tls_key_create(&ca_key, err) != 0 ||
	    bu_ca_create("virtual BMC", ca_key, &ca_cert, err) != 0 ||
	    bu_ca_issue_server(&(struct bu_ca){ca_cert, ca_key}, key, names, &cert,
			       err) != 0)
		return NULL;
	return cert;
}

static int
read_secrets(struct fleet *fleet, const struct opts *opts, struct bu_err *err)
{
	if (opts->password_file) {
		fleet->password = bu_file_read(opts->password_file, 4096, NULL, err);
		if (!fleet->password)
			return -1;
		bu_text_trim(fleet->password);
	}
	if (opts->is_plain)
		return 0;
	if (opts->cert_file) {
		fleet->cert = bu_file_read(opts->cert_file, 0, NULL, err);
		fleet->key =
			fleet->cert ? bu_file_read(opts->key_file, 0, NULL, err) : NULL;
	} else if (bu_tls_key_create(&fleet->key, err) == 0)
		fleet->cert = make_certificate(opts, fleet->key, err);
	fleet->other = fleet->cert && fleet->key
			       ? make_certificate(opts, fleet->key, err)
			       : NULL;
	return fleet->other ? 0 : -1;
}

static int
add(struct fleet *fleet, const struct opts *opts, int number, struct bu_err *err)
{
	struct bu_bmc_identity identity;
	int64_t shutdown_ms = opts->shutdown_s < 0 ? -1 : opts->shutdown_s * 1000LL;
	struct bu_bmc_machine *machine =
		opts->machine ? bu_bmc_machine_domain(opts->machine, &identity, err)
			      : bu_bmc_machine_paper(opts->number - 1 + number,
						     shutdown_ms, &identity);
	struct bu_bmc_listen listen = {.cert_pem = fleet->cert,
				       .key_pem = fleet->key,
				       .other_pem = fleet->other};
	struct bu_bmc *bmc;

	if (!machine)
		return -1;
	bmc = bu_bmc_create(&(struct bu_bmc_opts){
		.tree = fleet->tree,
		.machine = machine,
		.identity = &identity,
		.user = opts->user,
		.password = fleet->password,
		.fetch = bu_lab_fetch_look,
		.now_ms = bu_loop_now_ms(fleet->loop),
		.wall_ms = bu_wall_ms(bu_clock_system()),
	});
	fleet->bmcs[fleet->count++] = bmc;
	for (int i = 0; i < opts->fault_count; i++)
		if (bu_bmc_fault(bmc, opts->faults[i], err) != 0)
			return -1;
	listen.fd = listen_on(opts, number, fleet->last, err);
	if (!number)
		memcpy(fleet->first, fleet->last, sizeof(fleet->first));
	if (listen.fd < 0)
		return -1;
	fleet->servers[number] = bu_bmc_server_create(fleet->loop, bmc, &listen, err);
	return fleet->servers[number] ? 0 : -1;
}

static void
destroy(struct fleet *fleet)
{
	for (int i = 0; i < fleet->count; i++) {
		bu_bmc_server_destroy(fleet->servers[i]);
		bu_bmc_destroy(fleet->bmcs[i]);
	}
	bu_loop_destroy(fleet->loop);
	bu_bmc_tree_free(fleet->tree);
	free(fleet->password);
	free(fleet->cert);
	free(fleet->key);
	free(fleet->other);
	free(fleet);
}

static void
on_end(int signo, void *arg)
{
	bu_loop_stop(arg);
}

static int
make(struct fleet *fleet, const struct opts *opts, struct bu_err *err)
{
	bu_raise_open_files((unsigned long)opts->count * FILES_PER_BMC + 64);
	fleet->loop = bu_loop_create(NULL);
	fleet->tree = bu_bmc_tree_load(opts->tree, err);
	if (!fleet->tree || read_secrets(fleet, opts, err) != 0)
		return -1;
	for (int i = 0; i < opts->count; i++)
		if (add(fleet, opts, i, err) != 0)
			return -1;
	return 0;
}

static void
run(struct fleet *fleet, const struct opts *opts)
{
	char fingerprint[BU_DIGEST_SIZE] = "";
	struct bu_sigwatch *term =
		bu_sigwatch_create(fleet->loop, SIGTERM, on_end, fleet->loop);
	struct bu_sigwatch *intr =
		bu_sigwatch_create(fleet->loop, SIGINT, on_end, fleet->loop);

	signal(SIGPIPE, SIG_IGN);
	if (fleet->cert)
		bu_ignore(bu_cert_fingerprint(fleet->cert, fingerprint, NULL));
	if (fleet->count == 1)
		printf("%s tree %s user %s%s%s\n", fleet->first, opts->tree,
		       opts->user ? opts->user : bu_bmc_tree_user(fleet->tree),
		       fingerprint[0] ? " fingerprint " : "", fingerprint);
	else
		printf("%s to %s: %d BMCs tree %s\n", fleet->first, fleet->last,
		       fleet->count, opts->tree);
	fflush(stdout);
	bu_loop_run(fleet->loop);
	bu_sigwatch_destroy(term);
	bu_sigwatch_destroy(intr);
}

int
bu_lab_bmc(int argc, char **argv)
{
	struct fleet *fleet = bu_xcalloc(1, sizeof(*fleet));
	struct bu_err err = {0};
	struct opts opts;
	int rc = parse(argc, argv, &opts, &err);

	if (rc == 0)
		rc = make(fleet, &opts, &err);
	else if (rc == 1)
		usage();
	if (rc == 0)
		run(fleet, &opts);
	if (fleet->loop)
		destroy(fleet);
	else
		free(fleet);
	return rc < 0 ? bu_lab_fail("bmc", &err) : 0;
}
