/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work items: orders of the daemon to an agent, complete: the agent needs to ask
 * nothing more. Each kind has one struct and one table, by which the daemon writes and
 * the agent reads. Every item has "kind", "id" and "attempt"; repeating one with the
 * same id and attempt is harmless.
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
/* Defaults of a probe on a link of 20 Mbit/s: 1 s per run, 12 s for both directions.
 * The deadline is five times that. */
enum {
	BU_PAIR_MESSAGE_BYTES = 64 * 1024,
	BU_PAIR_BYTES = 36 * BU_PAIR_MESSAGE_BYTES,
	BU_PAIR_RUNS = 5,
	BU_PAIR_DEADLINE_MS = 75000,
	BU_PAIR_PINGS = 200,
};

/* Fields of every item. */
struct bu_work {
	const char *kind;
	const char *id;
	int attempt;
};
extern const struct bu_field bu_work_fields[];

/* The agent's report on an item that has ended. */
struct bu_work_result {
	struct bu_work work;
	struct {
		const char *kind; /* of enum bu_err_kind, by name; NULL = success */
		const char *text;
	} error;
	const json_t *result; /* an object; NULL = nothing to tell */
};
extern const struct bu_field bu_work_result_fields[];

/* Text, or bytes as hex digits. */
struct bu_work_file {
	const char *path; /* absolute */
	int mode;
	const char *apply; /* group to apply it by; NULL = none */
	const char *owner; /* user, only for files of a join; NULL = root */
	const char *content;
	const char *content_hex;
};
extern const struct bu_field bu_work_file_fields[];
/* The content may go as text: valid UTF-8 without a NUL. */
int bu_work_is_text(const void *content, size_t size);

/* A signed text. */
struct bu_work_note {
	const char *text;
	const char *sig;
};
extern const struct bu_field bu_work_note_fields[];

/* A certificate as in the log. */
struct bu_work_cert {
	const char *kind;
	const char *text;
};

struct bu_work_data { /* a data partition */
	char name[32];
	char guid[40];
	int64_t size_bytes; /* 0 = the rest of the disk */
};

/* A disk of an array. */
struct bu_work_member {
	char path[40];   /* "/dev/nvme1n1" */
	char serial[64]; /* written only if both agree; "" = none */
	char wwn[48];
	char guid[40]; /* of the partition */
};

struct bu_work_install {
	struct bu_work work;
	const char *base_url; /* parts are below /images/<image>/ */
	const char *image;
	const char *digest;        /* SHA-256 of its manifest */
	const char *image_key;     /* public, PEM, perhaps several: sign manifests; "" =
				      unsigned allowed */
	const char *appliance_key; /* public, PEM: signs mark and stamp */
	int wipe;                  /* the disk's content may be erased */
	int keep;  /* the image's partitions may be overwritten; data stays */
	int kexec; /* the agent may start the new system without the firmware; the
		      result says "kexec" if it will */
	int raw;   /* a whole-disk image; files are for its cloud-init */
	const char *kargs;
	struct bu_work_note mark, stamp;
	const char *disk;        /* "/dev/vda" */
	const char *disk_serial; /* as granted, if it identifies the disk; "" = none */
	const char *disk_wwn;    /* likewise */
	int64_t disk_size_bytes; /* 0 = not known */
	struct bu_work_data data[BU_WORK_DATA_MAX];
	size_t data_count;
	int64_t root_bytes;     /* where data begins; 0 = data is at the disk's end */
	char mirror[40];        /* "/dev/vdb": second disk of the system; "" = none */
	char mirror_serial[64]; /* written only if both agree */
	char mirror_wwn[48];
	char mirror_uuid[40]; /* of the array of both roots */
	int mirror_granted;   /* wipe and keep hold for it, too */
	int roots;            /* 2 = the disk has two; a reimage writes the other one */
	int reuse;            /* the other root may stay if it has this image */
	struct bu_work_member scratch[BU_WORK_SCRATCH_MAX];
	size_t scratch_count;  /* 0 = the other disks are not touched */
	char scratch_uuid[40]; /* of the array */
	int scratch_wipe;      /* granted: the content of these disks may be erased */
	struct bu_work_file *files;
	size_t files_count;
};
extern const struct bu_field bu_work_install_fields[];

/* Details of the result, if any. */
struct bu_work_installed {
	int kexec;        /* the agent will start the system by kexec */
	const char *slot; /* "a" or "b": the root of two; "" = the only one */
	int tried;        /* tried once; the other root is intact, as the fallback */
	int reused;       /* the root had the image: nothing was fetched */
};
extern const struct bu_field bu_work_installed_fields[];

/* A system that runs from memory: no disk is named or touched. */
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
	int live; /* apply now and prove; 0 = write now, the next boot applies */
	const char *then; /* "off": switch the machine off after the result was heard */
	int64_t confirm_ms;
	const char *kargs; /* from the next boot on; NULL = unchanged */
	const char *patterns[BU_WORK_WORDS_MAX]; /* matching files not in this item are
						    removed */
	size_t patterns_count;
	struct bu_work_file *files;
	size_t files_count;
};
extern const struct bu_field bu_work_configure_fields[];

/* A change of the agent; only for agents that can change. */
struct bu_work_agent {
	struct bu_work work;
	const char *base_url; /* folder of the bundle (images/bundle.h) */
	const char *version;  /* the appliance's own */
	const char *digest;   /* of the bundle's list */
	const char *key;      /* public, PEM, perhaps several: sign bundles */
	int64_t deadline_ms;  /* the appliance waits so long */
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

/* One port of the node and its packet settings, used as given; a missing port is an
 * error. The peer's item has its port of the same rail at the same place. */
struct bu_work_rail {
	char rail[BU_NAME_SIZE]; /* name of its network; "" = none */
	/* A netdev ("ens1f0np0"), a PCI address ("0000:3b:00.0"), or an RDMA device
	 * with its port ("mlx5_0/1"), which a device with one port may omit. "" = the
	 * port with the address. */
	char port[BU_NAME_SIZE];
	char address[48]; /* IPv4 or IPv6 of its RoCE v2 GID; "" = the first one */
	int gid_index;    /* -1 = by address; on InfiniBand 0 */
	int gid_family;   /* of RoCE v2: 4, 6, 0 = any; checked before the address */
	int pkey;         /* partition by value; -1 = first of the port's table */
	int sl;           /* service level */
	int traffic_class;
	int flow_label;  /* of the first queue pair, + 1 for each next; -1 = by sport */
	int mtu;         /* greatest path MTU, bytes; 0 = of the ports */
	int grh;         /* InfiniBand: by GID even where the LID is enough */
	int gpu;         /* payload in this GPU's memory; -1 = as the item */
	double min_gbps; /* 0 = as the item */
};
extern const struct bu_field bu_work_rail_fields[];

/* LOOPBACK: both ends are this node; b's fields are not needed. */
enum bu_probe_role { BU_PROBE_CONNECT, BU_PROBE_LISTEN, BU_PROBE_LOOPBACK };

/* Reads counters of a fabric's switches through a port of this node. */
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
	char self[BU_NAME_SIZE];    /* this node of the two; "" = a connects */
	char addr[48];              /* IPv4 to bind or to connect to */
	int port;                   /* of the first rail, + 1 for each next */
	char secret[129];           /* at least 16 characters */
	char peer[48];              /* listener: the only IPv4 accepted; "" = any */
	char local_ip[48];          /* this node's on the fabric; "" = by device */
	char device[BU_NAME_SIZE];  /* "" = by local_ip */
	uint32_t message_bytes;     /* a multiple of 8 */
	uint64_t bytes;             /* timed in each run */
	int runs;                   /* per direction */
	int64_t deadline_ms;        /* of the whole item */
	enum bu_op op, lat_op;      /* lat_op: write or send */
	int qps;                    /* queue pairs */
	int duplex;                 /* both directions at once */
	double min_gbps; /* runs end early when enough are below it to fix the median; 0
			    = all runs */
	int pings;       /* 0 = no latency, hence no verdict */
	int sport;       /* UDP source port of the first queue pair; 0 = any */
	int gid_index;   /* -1 = the one of local_ip */
	uint64_t window_bytes; /* 0 = more than the last-level cache */
	int gpu;               /* payload in this GPU's memory; -1 = host memory */
	int depth;             /* messages under way per queue pair; 0 = by size */
	uint64_t warm_bytes;   /* sent before; 0 = messages under way */
	int trace;             /* trace the way of each flow, after the runs */
	/* Measured at the same time; the result is {"rails":[RESULT]}, in this order.
	 * No rails: one port, by local_ip, device and gid_index. */
	struct bu_work_rail rails[BU_RAILS_MAX];
	size_t rails_count;
};
extern const struct bu_field bu_work_probe_fields[];
/* Checks the table, and dependencies between fields. */
bu_must int bu_work_probe_from_json(const json_t *item, struct bu_work_probe *ret,
				    struct bu_err *err);

#endif
