/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes, the only way in which a daemon does what may block.
 *
 * A job runs a program once and collects what it prints. A service is a child that
 * stays and answers framed JSON requests (4 bytes length, big endian, then the text) on
 * its descriptor 3; requests and replies carry the same "id". Every child dies with its
 * parent (PR_SET_PDEATHSIG), every request has a deadline.
 */
#ifndef BU_BASE_WORKER_H
#define BU_BASE_WORKER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/loop.h"

#define BU_FRAME_MAX (16 * 1024 * 1024)

struct bu_job_result {
	int exit_code;   /* 128 + signal when it was killed; -1: unknown */
	const char *out; /* what it printed, NUL-terminated, borrowed */
	size_t out_size; /* without that NUL: the text may hold others */
	const char *errs;
};
/* err is NULL when the program ran and exited 0. Otherwise it says why not (its last
 * line on standard error included); result is given whenever the program ran. */
typedef void (*bu_job_fn)(const struct bu_job_result *result, const struct bu_err *err,
			  void *arg);

struct bu_job_opts {
	const char *const *argv; /* argv[0] is looked up in PATH; no shell */
	const char *const
		*env;        /* "NAME=value", added to the environment; NULL = none */
	const char *cwd;     /* NULL = as it is */
	const char *input;   /* standard input; NULL = /dev/null */
	int64_t deadline_ms; /* then TERM, 2 s later or at its end KILL; 0 = none */
	size_t output_max;   /* bytes kept of each stream; 0 = 1 MiB */
	int secret;          /* what it prints is overwritten before it is freed */
	/* Stays in its caller's process group, which is ended as one or has a person at
	 * its terminal; 0: leads its own, and what it started is ended with it. */
	int same_group;
};
struct bu_job;
/* fn is called once, from the loop. NULL when the child cannot be made (err says why).
 */
struct bu_job *bu_job_start(struct bu_loop *loop, const struct bu_job_opts *opts,
			    bu_job_fn fn, void *arg, struct bu_err *err);
/* Ends the child and what it started; fn is not called any more. */
void bu_job_cancel(struct bu_job *job);
/* Of a job that fn was not called for. */
pid_t bu_job_pid(const struct bu_job *job);
/* Runs a job to its end without a loop; *ret_out (owned, may be NULL) gets its output.
 */
bu_must int bu_job_run(const struct bu_job_opts *opts, char **ret_out,
		       struct bu_err *err);

/* How a program ended, whatever its exit status. */
struct bu_job_end {
	int exit_code; /* 128 + signal when it was killed */
	char *out, *errs;
	int timed_out;
};
/* As bu_job_run(), for programs whose exit status is an answer: 0 when it ran, also
 * when it was ended for its deadline; -1 when it could not be run at all. */
bu_must int bu_job_wait(const struct bu_job_opts *opts, struct bu_job_end *ret,
			struct bu_err *err);
void bu_job_end_fini(struct bu_job_end *end);

/* Reply of a service: exactly one of reply, err is given; reply is borrowed. The
 * callback may call the service again, but not destroy it. */
typedef void (*bu_reply_fn)(const json_t *reply, const struct bu_err *err, void *arg);
/* The child has ended on its own; it may be started again by bu_service_start(). */
typedef void (*bu_service_exit_fn)(const struct bu_err *err, void *arg);

struct bu_service;
struct bu_service *bu_service_start(struct bu_loop *loop, const char *const *argv,
				    bu_service_exit_fn exit_fn, void *arg,
				    struct bu_err *err);
/* request is an object without "id"; borrowed. When the child answers {"error":{...}}
 * or the deadline passes, fn gets err. */
void bu_service_call(struct bu_service *service, const json_t *request,
		     int64_t deadline_ms, bu_reply_fn fn, void *arg);
pid_t bu_service_pid(const struct bu_service *service);
/* Ends the child; pending callbacks are not called. */
void bu_service_destroy(struct bu_service *service);

/* The child's end: descriptor 3, frames in and out; blocking. read: NULL at end of
 * input with err->kind NONE. */
enum { BU_WORKER_FD = 3 };
json_t *bu_frame_read(int fd, struct bu_err *err);
bu_must int bu_frame_write(int fd, const json_t *message, struct bu_err *err);

/* A plain child without pipes that stays (dnsmasq, libvirtd): its standard output and
 * error go to log_path (appended). Dies with the parent unless `outlive`. */
struct bu_daemon_opts {
	const char *const *argv;
	const char *const *env;
	const char *log_path; /* NULL = /dev/null */
	int outlive;
};
pid_t bu_daemon_spawn(const struct bu_daemon_opts *opts, struct bu_err *err);
/* TERM, then KILL after grace_ms; waits for it. pid <= 0 is nothing. Children only. */
void bu_daemon_end(pid_t pid, int grace_ms);

#endif
