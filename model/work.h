/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work items: what the daemon asks an agent to do, complete, so that the agent needs to
 * ask nothing more. One struct and one table for each kind; the daemon writes with it,
 * the agent reads with it. Every item holds "kind", "id" and "attempt": repeating one
 * of the same id and attempt is harmless.
 *
 * Texts that are pointers belong to the daemon's own values, or to the JSON item at the
 * agent.
 */
#ifndef BU_MODEL_WORK_H
#define BU_MODEL_WORK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "model/result.h"

enum {
	BU_WORK_FILES_MAX = 256,
	BU_WORK_DATA_MAX = 16,
	BU_WORK_SCRATCH_MAX = 64,
	BU_WORK_WORDS_MAX = 64, /* patterns, services */
	BU_PAIR_MESSAGE_MAX = 64 * 1024 * 1024,
	BU_RAILS_MAX = 16,
	BU_PAIR_DEPTH_MAX = 4096,
	BU_PAIR_PINGS_MAX = 1000000,
};
/* Defaults of a probe, for a link of 20 Mbit/s: a run of 1 s, 12 s for both directions;
 * the deadline is five times that. */
enum {
	BU_PAIR_MESSAGE_BYTES = 64 * 1024,
	BU_PAIR_BYTES = 36 * BU_PAIR_MESSAGE_BYTES,
	BU_PAIR_RUNS = 5,
	BU_PAIR_DEADLINE_MS = 75000,
	BU_PAIR_PINGS = 200,
};

/* What every item has. */
struct bu_work {
	const char *kind;
	const char *id;
	int attempt;
};
extern const struct bu_field bu_work_fields[];

/* What an agent says when it is done with an item. */
struct bu_work_result {
	struct bu_work work;
	struct {
		const char
			*kind; /* of enum bu_err_kind, by name; NULL = it went well */
		const char *text;
	} error;
	const json_t *result; /* an object; NULL = there is nothing to tell */
};
extern const struct bu_field bu_work_result_fields[];

/* Either text, or any bytes as hex digits. */
struct bu_work_file {
	const char *path; /* absolute */
	int mode;
	const char *apply; /* group that makes it hold; NULL = none */
	const char *owner; /* user, of a join's files alone; NULL = root */
	const char *content;
	const char *content_hex;
};
extern const struct bu_field bu_work_file_fields[];

/* A signed text. */
struct bu_work_note {
	const char *text;
	const char *sig;
};
extern const struct bu_field bu_work_note_fields[];

/* A certificate as the log has it. */
struct bu_work_cert {
	const char *kind;
	const char *text;
};

struct bu_work_data { /* a data partition */
	char name[32];
	char guid[40];
	int64_t size_bytes; /* 0 = the rest of the disk */
};

/* One of the disks of an array. */
struct bu_work_member {
	char path[40];   /* "/dev/nvme1n1" */
	char serial[64]; /* it is written only if it agrees with both; "" = has none */
	char wwn[48];
	char guid[40]; /* of its partition */
};

struct bu_work_install {
	struct bu_work work;
	const char *base_url; /* parts are below /images/<image>/ */
	const char *image;
	const char *digest;        /* SHA-256 of its manifest */
	const char *image_key;     /* public, PEM, perhaps several: sign manifests; "" =
				      an unsigned one may pass */
	const char *appliance_key; /* public, PEM: signs mark and stamp */
	int wipe;                  /* whatever is on the disk may go */
	int keep;                  /* what the image wrote may go, data stays */
	int kexec; /* the machine need not go through its firmware: the result says
		      "kexec" when the agent will start what it has installed */
	int raw;   /* the image is a whole disk; files are for its cloud-init */
	const char *kargs;
	struct bu_work_note mark, stamp;
	const char *disk;        /* "/dev/vda" */
	const char *disk_serial; /* as it was granted, if it is its own; "" = none */
	const char *disk_wwn;    /* likewise */
	int64_t disk_size_bytes; /* 0 = not known */
	struct bu_work_data data[BU_WORK_DATA_MAX];
	size_t data_count;
	int64_t root_bytes;     /* where data begins; 0 = at the end of the disk */
	char mirror[40];        /* "/dev/vdb": the system is on it, too; "" = on one */
	char mirror_serial[64]; /* it is written only if it agrees with both */
	char mirror_wwn[48];
	char mirror_uuid[40]; /* of the array of both roots */
	int mirror_granted;   /* wipe and keep are for it, too */
	int roots;            /* 2 = the disk has two; a reimage writes the other one */
	int reuse;            /* that may stay as it is where it is of this image */
	struct bu_work_member scratch[BU_WORK_SCRATCH_MAX];
	size_t scratch_count;  /* 0 = the other disks are left alone */
	char scratch_uuid[40]; /* of the array */
	int scratch_wipe;      /* granted: whatever is on these disks may go */
	struct bu_work_file *files;
	size_t files_count;
};
extern const struct bu_field bu_work_install_fields[];

/* What comes of it, where there is something to say. */
struct bu_work_installed {
	int kexec;        /* its agent will start it by itself */
	const char *slot; /* "a" or "b": which of two roots it is; "" = it is the one */
	int tried;        /* the other one is whole, and started if this one is not */
	int reused;       /* it was there: nothing was fetched */
};
extern const struct bu_field bu_work_installed_fields[];

/* A system that runs from memory: no disk is named, and none is touched. */
struct bu_work_load {
	struct bu_work work;
	const char *base_url; /* as of install */
	const char *image;
	const char *digest;
	const char *image_key;
	struct bu_work_note stamp;
	struct bu_work_file *files;
	size_t files_count;
};
extern const struct bu_field bu_work_load_fields[];

struct bu_work_configure {
	struct bu_work work;
	int live; /* applied now and proven; else written now, applied by the next boot
		   */
	const char *then; /* "off": the machine goes off once the result was heard */
	int64_t confirm_ms;
	const char *kargs; /* from the next boot on; NULL = are left as they are */
	const char *patterns[BU_WORK_WORDS_MAX]; /* what matches and is no file goes */
	size_t patterns_count;
	struct bu_work_file *files;
	size_t files_count;
};
extern const struct bu_field bu_work_configure_fields[];

/* The agent changes itself; only one that says that it can is asked. */
struct bu_work_agent {
	struct bu_work work;
	const char *base_url; /* of the bundle's folder (images/bundle.h) */
	const char *version;  /* the appliance's own */
	const char *digest;   /* of the bundle's list */
	const char *key;      /* public, PEM, perhaps several: sign bundles */
	int64_t deadline_ms;  /* that the appliance waits for it */
};
extern const struct bu_field bu_work_agent_fields[];

struct bu_work_join {
	struct bu_work work;
	struct bu_work_cert full, boot;
	const char *services[BU_WORK_WORDS_MAX];
	size_t services_count;
	struct bu_work_file *files;
	size_t files_count;
};
extern const struct bu_field bu_work_join_fields[];

/* One port of the node, and how its packets go: what is said here is what the probe
 * uses, and a port that is not there is an error. The peer's item names its own port of
 * the same rail in the same place. */
struct bu_work_rail {
	char rail[BU_NAME_SIZE]; /* its network's name; "" = it has none */
	/* A netdev ("ens1f0np0"), a PCI address ("0000:3b:00.0"), an RDMA device and
	 * its port ("mlx5_0/1"); a device alone where that has one port. "": the port
	 * with the address. */
	char port[BU_NAME_SIZE];
	char address[48]; /* IPv4 or IPv6 of its RoCE v2 GID; "" = the first one */
	int gid_index;    /* -1 = by address; on InfiniBand 0 */
	int gid_family;   /* of RoCE v2: 4, 6, 0 = any; before the address */
	int pkey;         /* partition, by value; -1 = the first of the port's table */
	int sl;           /* service level */
	int traffic_class;
	int flow_label;  /* of the first queue pair, each next has one more; -1 = by
			    sport */
	int mtu;         /* path MTU at most, bytes; 0 = the ports' */
	int grh;         /* InfiniBand: by GID also where the LID is enough */
	int gpu;         /* payload in the memory of this GPU; -1 = the item's */
	double min_gbps; /* 0 = the item's */
};
extern const struct bu_field bu_work_rail_fields[];

/* LOOPBACK: both ends are here, and of b nothing is needed but that. */
enum bu_probe_role { BU_PROBE_CONNECT, BU_PROBE_LISTEN, BU_PROBE_LOOPBACK };

/* The counters of a fabric's switches, through a port of this node. */
struct bu_work_switches {
	struct bu_work work;
	struct bu_work_rail rail; /* the port */
	const json_t *names;      /* of switches: {NAME: true} */
	int64_t deadline_ms;
};
extern const struct bu_field bu_work_switches_fields[];

struct bu_work_probe {
	struct bu_work work;
	char probe[BU_NAME_SIZE];
	enum bu_probe_role role;    /* of the TCP connection */
	char node[2][BU_NAME_SIZE]; /* of a and b */
	char self[BU_NAME_SIZE];    /* which of them this is; "" = a connects */
	char addr[48];              /* IPv4 to bind or to connect to */
	int port;                   /* of the first rail; each next one has the next */
	char secret[129];           /* at least 16 characters */
	char peer[48];              /* listener: only this IPv4 is let in; "" = any */
	char local_ip[48];          /* our address on the fabric; "" = by device */
	char device[BU_NAME_SIZE];  /* "" = by local_ip */
	uint32_t message_bytes;     /* a multiple of 8 */
	uint64_t bytes;             /* timed in each run */
	int runs;                   /* per direction */
	int64_t deadline_ms;        /* of everything */
	enum bu_op op, lat_op;      /* lat_op: write or send */
	int qps;                    /* queue pairs */
	int duplex;                 /* both directions at once */
	double min_gbps;            /* runs end when so many are under it that their
				       median is; 0 = all are made */
	int pings;                  /* 0 = no latency, and so no verdict */
	int sport;             /* UDP source port of the first queue pair; 0 = any */
	int gid_index;         /* -1 = the one of local_ip */
	uint64_t window_bytes; /* 0 = more than the last-level cache */
	int gpu;               /* payload in the memory of this GPU; -1 = host */
	int depth;           /* messages under way per queue pair; 0 = by their size */
	uint64_t warm_bytes; /* sent before a run is timed; 0 = what is under way */
	int trace;           /* the way of each flow, after the runs */
	/* All are measured at the same time, and the result is {"rails":[RESULT]}, in
	 * this order. None: one port, as local_ip, device and gid_index say. */
	struct bu_work_rail rails[BU_RAILS_MAX];
	size_t rails_count;
};
extern const struct bu_field bu_work_probe_fields[];
/* The table, and what one field says of another. */
bu_must int bu_work_probe_from_json(const json_t *item, struct bu_work_probe *ret,
				    struct bu_err *err);

#endif
