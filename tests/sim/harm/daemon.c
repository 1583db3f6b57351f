/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringupd in this process, put together as provisioner/bringupd.c does it, without its
 * sockets. Invariant: what a kill loses is what was not in the log; keys, time and
 * random numbers are the same for the same seed.
 */
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/sim/harm/harm.h"
#include "tests/support/baddisk.h"
#include "tests/support/image.h"
#include "tests/support/row.h"

enum { REQUESTS = MACHINES * 4 };

/* Of no appliance: 32 bytes that count from 1. */
static const char sign_key[] =
	"-----BEGIN PRIVATE KEY-----\n"
	"MC4CAQAwBQYDK2VwBCIEIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g\n"
	"-----END PRIVATE KEY-----\n";

static struct {
	int runs, woken;
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_trust *trust;
	struct bu_power *power;
	struct bu_api api;
} d;
static const char *const server_names[] = {"DNS:bringup", "IP:127.0.0.1", NULL};
static char *requests[REQUESTS];
static char image_key[120], images[120], keys[120];
static char *sign_pub;

/* --- what is handed in --- */

const struct bu_clock *__wrap_bu_clock_system(void);
int64_t __wrap_bu_mono_ns(void);
int64_t __wrap_bu_wall_us(void);
time_t __wrap_time(time_t *ret);
void __wrap_bu_random(void *buf, size_t size);
void __wrap_bu_random_hex(char *ret_hex, size_t bytes);
void __wrap_bu_server_wake(struct bu_server *server);
int __real_bu_sign(const char *private_pem, const void *data, size_t size,
		   char ret_sig_hex[BU_SIG_HEX_SIZE], struct bu_err *err);
int __wrap_bu_sign(const char *private_pem, const void *data, size_t size,
		   char ret_sig_hex[BU_SIG_HEX_SIZE], struct bu_err *err);
int __real_bu_verify(const char *public_pem, const void *data, size_t size,
		     const char *sig_hex, struct bu_err *err);
int __wrap_bu_verify(const char *public_pem, const void *data, size_t size,
		     const char *sig_hex, struct bu_err *err);

const struct bu_clock *
__wrap_bu_clock_system(void)
{
	return &sim.clock;
}

int64_t
__wrap_bu_mono_ns(void)
{
	return sim.clock.fake_mono_ms * 1000000;
}

int64_t
__wrap_bu_wall_us(void)
{
	return sim.clock.fake_wall_ms * 1000;
}

time_t
__wrap_time(time_t *ret)
{
	time_t now = (time_t)(sim.clock.fake_wall_ms / 1000);

	if (ret)
		*ret = now;
	return now;
}

void
__wrap_bu_random(void *buf, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)buf)[i] = (unsigned char)dice(256);
}

void
__wrap_bu_random_hex(char *ret_hex, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		snprintf(ret_hex + 2 * i, 3, "%02x", dice(256));
}

void
__wrap_bu_server_wake(struct bu_server *server)
{
	d.woken = 1;
}

/* What is signed by the appliance has a digest for a signature: the curve would be a
 * fifth of the time of a run, and has tests of its own. Another key does it really. */

static void
paper_signature(const void *data, size_t size, char ret_sig_hex[BU_SIG_HEX_SIZE])
{
	char digest[BU_DIGEST_SIZE];

	bu_sha256_hex(data, size, digest);
	snprintf(ret_sig_hex, BU_SIG_HEX_SIZE, "%s%s", digest, digest);
}

int
__wrap_bu_sign(const char *private_pem, const void *data, size_t size,
	       char ret_sig_hex[BU_SIG_HEX_SIZE], struct bu_err *err)
{
	if (strcmp(private_pem, sign_key) != 0)
		return __real_bu_sign(private_pem, data, size, ret_sig_hex, err);
	paper_signature(data, size, ret_sig_hex);
	return 0;
}

int
__wrap_bu_verify(const char *public_pem, const void *data, size_t size,
		 const char *sig_hex, struct bu_err *err)
{
	char sig[BU_SIG_HEX_SIZE];

	if (!sign_pub || strcmp(public_pem, sign_pub) != 0)
		return __real_bu_verify(public_pem, data, size, sig_hex, err);
	paper_signature(data, size, sig);
	if (strcmp(sig, sig_hex) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0, "not of this key over this data");
}

/* --- once for all runs of a program --- */

static void
write_key(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", keys, name);

	bu_assert(bu_file_write(path, text, strlen(text), 0600, NULL) == 0);
}

/* What machines load from the network, which the daemon misses where it is not. */
static void
write_ramdisk(void)
{
	static const char *const names[] = {"vmlinuz", "agent.img"};

	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", sim.dir, names[i]);

		bu_assert(bu_file_write(path, "x", 1, 0600, NULL) == 0);
	}
}

static void
make_requests(void)
{
	for (int i = 0; i < REQUESTS; i++) {
		bu_autofree char *key = NULL;

		bu_assert(bu_tls_key_create(&key, NULL) == 0 &&
			  bu_csr_create(key, "node", &requests[i], NULL) == 0);
	}
}

char *
machine_request(const struct machine *machine)
{
	return bu_xstrdup(requests[machine->index * 4 + machine->boots % 4]);
}

void
daemon_begin(void)
{
	static const char *const names[] = {"debian12", "debian13"};
	char digest[BU_DIGEST_SIZE];

	sign_pub = bu_sign_key_public(sign_key, NULL);
	bad_disk_install();
	snprintf(sim.dir, sizeof(sim.dir), "%s/bringup-harm-XXXXXX",
		 bu_file_exists("/dev/shm") ? "/dev/shm" : "/tmp");
	bu_assert(mkdtemp(sim.dir));
	snprintf(keys, sizeof(keys), "%s/keys", sim.dir);
	snprintf(images, sizeof(images), "%s/images", sim.dir);
	snprintf(image_key, sizeof(image_key), "%s/keys/image.pub", sim.dir);
	bu_assert(bu_mkdir_p(keys, 0700, NULL) == 0);
	bu_assert(bu_mkdir_p(images, 0700, NULL) == 0);
	write_ramdisk();
	write_key("sign.key", sign_key);
	write_key("sign.pub", sign_pub);
	write_key("image.pub", sign_pub);
	write_key("token.secret", "00112233445566778899aabbccddeeff00112233445566778899"
				  "aabbccddeeff");
	for (size_t i = 0; i < BU_LEN(names); i++)
		bu_assert(
			paper_image(images, names[i],
				    i ? "2026-02-01T00:00:00Z" : "2026-01-01T00:00:00Z",
				    sign_key, digest, NULL) == 0);
	setenv("HARM_MUNGE", "a secret of paper", 1);
	/* The first one makes the keys; they are the same for all runs. */
	bu_clock_fake(&sim.clock, WALL_MS);
	sim.dice = 1;
	bu_trust_destroy(bu_trust_open(keys, server_names, NULL));
	make_requests();
}

void
daemon_end(void)
{
	for (int i = 0; i < REQUESTS; i++)
		free(requests[i]);
	free(sign_pub);
	sign_pub = NULL;
	bu_assert(bu_remove_tree(sim.dir, NULL) == 0);
}

/* --- a process --- */

static void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	bu_rollouts_kick(d.api.rollouts);
	bu_gate_kick(d.api.gate);
	d.woken = 1;
}

static void
on_secret(void *arg)
{
	d.woken = 1;
}

char *
log_path(const char *end)
{
	return bu_xasprintf("%s/run-%d/journal.db%s", sim.dir, (int)sim.script.seed,
			    end);
}

/* A start on a disk that cannot even be opened is tried again, as systemd does it. */
static int
open_state(void)
{
	bu_autofree char *dir =
		bu_xasprintf("%s/run-%d", sim.dir, (int)sim.script.seed);
	bu_autofree char *path = log_path("");
	struct bu_err err = {0};
	int rc;

	bu_assert(bu_mkdir_p(dir, 0700, NULL) == 0);
	d.trust = bu_trust_open(keys, server_names, &err);
	d.store = d.trust ? bu_store_open_sqlite(d.loop, path, &err) : NULL;
	if (!d.store && sim.disk_bad_ms) {
		say("bringupd: %s", err.text);
		bu_trust_destroy(d.trust);
		return -1;
	}
	if (!d.store)
		fprintf(stderr, "harm: %s\n", err.text);
	bu_assert(d.store);
	d.api.fleet = bu_fleet_create(d.loop, d.store);
	d.api.fleet->public_pem = bu_trust_public_key(d.trust);
	rc = bu_fleet_load(d.api.fleet, &err);
	if (rc != 0)
		fprintf(stderr, "harm: %s\n", err.text);
	bu_assert(rc == 0);
	oracle_compare(d.api.fleet);
	oracle_follow(d.api.fleet);
	return 0;
}

static void
first_epoch(void)
{
	struct bu_event event;

	if (bu_store_lead(d.store).epoch)
		return;
	row_init(&event, BU_EVENT_EPOCH, "",
		 json_pack("{s:I}", "epoch",
			   (json_int_t)(sim.clock.fake_wall_ms / 1000)));
	bu_reconcile_note(d.api.rec, &event, 1);
}

static void
start_engine(void)
{
	static const int limit_s[BU_STATE_COUNT] = {
		[BU_STATE_INSPECTING] = 90, [BU_STATE_IMAGING] = 120,
		[BU_STATE_BOOTING] = 90,    [BU_STATE_VALIDATING] = 200,
		[BU_STATE_JOINING] = 90,
	};
	struct bu_reconcile_opts opts = {.fleet = d.api.fleet, .trust = d.trust};

	d.power = bu_power_create(d.loop, "bringup-power", NULL, NULL);
	opts.power = d.power;
	memcpy(opts.limit_s, limit_s, sizeof(limit_s));
	d.api.rec = bu_reconcile_create(&opts);
	d.api.rollouts = bu_rollouts_create(d.api.fleet, d.api.rec);
	d.api.gate = bu_gate_create(d.api.fleet, d.api.rec, d.trust);
	d.api.work.secrets = bu_secrets_create(d.loop, on_secret, NULL);
	/* There is no such folder: agents stay as they are. */
	d.api.work.upgrades = bu_agent_upgrades_create(&(struct bu_agent_upgrades_opts){
		d.api.fleet, d.api.rec, "/no/such/bundle", image_key, "0"});
}

void
daemon_start(void)
{
	memset(&d, 0, sizeof(d));
	d.loop = bu_loop_create(&sim.clock);
	if (open_state() != 0) {
		bu_loop_destroy(d.loop);
		sim.restart_ms = now_ms() + SECONDS(5);
		return;
	}
	start_engine();
	d.api.trust = d.trust;
	d.api.work.fleet = d.api.fleet;
	d.api.work.trust = d.trust;
	d.api.work.images_dir = images;
	d.api.work.image_key = image_key;
	d.api.ramdisk_dir = sim.dir;
	d.api.web_dir = sim.dir;
	d.api.work.boot_address = "10.77.0.1";
	d.api.work.http_url = "http://10.77.0.1:8080";
	d.api.agent_url = "https://10.77.0.1:8443";
	bu_fleet_watch(d.api.fleet, on_change, NULL);
	first_epoch();
	bu_reconcile_start(d.api.rec);
	bu_rollouts_kick(d.api.rollouts);
	d.runs = 1;
}

/* What was not committed when a process is killed is not there. */
void
log_keep(char *texts[LOG_FILES], size_t sizes[LOG_FILES])
{
	static const char *const ends[LOG_FILES] = {"", "-wal"};

	for (int i = 0; i < LOG_FILES; i++) {
		bu_autofree char *path = log_path(ends[i]);

		texts[i] = bu_file_read(path, 0, &sizes[i], NULL);
	}
}

void
log_put_back(char *const texts[LOG_FILES], const size_t sizes[LOG_FILES])
{
	static const char *const ends[LOG_FILES] = {"", "-wal"};

	for (int i = 0; i < LOG_FILES; i++) {
		bu_autofree char *path = log_path(ends[i]);

		if (texts[i])
			bu_assert(bu_file_write(path, texts[i], sizes[i], 0600, NULL) ==
				  0);
		else
			unlink(path);
	}
}

void
daemon_stop(int kill)
{
	char *texts[LOG_FILES];
	size_t sizes[LOG_FILES];
	int behind;

	if (!d.runs)
		return;
	d.runs = 0;
	/* Rows that nobody knows to be in the log may be in it. */
	behind = sim.disk_bad_ms || bu_store_down(d.store);
	if (kill)
		log_keep(texts, sizes);
	bu_reconcile_stop(d.api.rec);
	bu_secrets_destroy(d.api.work.secrets);
	bu_api_forget_plans(&d.api);
	bu_api_forget_sessions(&d.api);
	bu_api_forget_scans(&d.api);
	bu_agent_upgrades_destroy(d.api.work.upgrades);
	bu_gate_destroy(d.api.gate);
	bu_rollouts_destroy(d.api.rollouts);
	bu_power_destroy(d.power);
	bu_store_destroy(d.store);
	oracle_unfollow();
	if (!kill && !behind)
		oracle_remember(d.api.fleet);
	bu_reconcile_destroy(d.api.rec);
	bu_fleet_destroy(d.api.fleet);
	bu_trust_destroy(d.trust);
	bu_loop_destroy(d.loop);
	if (kill)
		log_put_back(texts, sizes);
	for (int i = 0; kill && i < LOG_FILES; i++)
		free(texts[i]);
	/* What a person wanted of a BMC goes with the child. */
	memset(sim.wishes, 0, sizeof(sim.wishes));
	wire_reset();
}

void
daemon_fill_disk(unsigned int how, int64_t until_ms)
{
	bad_disk_install();
	if (how || sim.disk_bad_ms)
		say("appliance: its disk %s", how == 1   ? "is full"
					      : how == 2 ? "is mounted read-only"
					      : how == 3 ? "syncs no more"
					      : how == 4 ? "has failed to sync"
							 : "takes rows again");
	sim.disk_bad_ms = how ? until_ms : 0;
	bad_disk.full = how == 1;
	bad_disk.read_only = how == 2;
	bad_disk.syncs = how == 3 ? -1 : how == 4 ? 3 : 0;
	bad_disk.syncs_ok = how == 4;
}

int
daemon_is_down(void)
{
	return d.runs && bu_store_down(d.store);
}

void
daemon_turn(void)
{
	if (sim.disk_bad_ms && sim.disk_bad_ms <= now_ms())
		daemon_fill_disk(0, 0);
	for (int i = 0; d.runs && i < 3; i++) {
		bu_clock_advance(&sim.clock, i ? 1 : 0);
		bu_loop_step(d.loop, 0);
	}
}

int
daemon_runs(void)
{
	return d.runs;
}

struct bu_api *
daemon_api(void)
{
	return &d.api;
}

struct bu_fleet *
daemon_world(void)
{
	return d.api.fleet;
}

int
daemon_woken(void)
{
	int woken = d.woken;

	d.woken = 0;
	return woken;
}

const struct bu_node *
daemon_node_of(const struct machine *machine)
{
	char id[BU_MACHINE_ID_SIZE];

	if (!d.runs)
		return NULL;
	machine_id(machine, id);
	return bu_fleet_node_of(d.api.fleet, id);
}
