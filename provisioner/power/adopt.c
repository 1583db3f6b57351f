/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a BMC ours: one that still has the credentials that it came with ("factory" in
 * the request), or those of before a rotation ("before"), gets ours ("credentials")
 * before anything else is done to it. Called by perform.c when ours are known.
 *
 * Change, verify, retire: a file for each BMC says how far it is, written before each
 * step, so that a kill at any point leaves what the next request goes on from. Once
 * ours were taken, those of before are never tried again. Invariant: a BMC sees at most
 * two tries that it may refuse; then it is left alone for a while, or it would lock the
 * account. A try counts from before it is made until the BMC has taken one.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/record.h"
#include "base/secret.h"
#include "provisioner/power/perform_impl.h"

enum { TRIES_MAX = 2, ALONE_MS = 15 * 60 * 1000 };

enum phase { NEW, CHANGES, DONE };
static const char *const phases[] = {"new", "changes", "done", NULL};

enum whose { OURS, BEFORE };

struct bu_adopt {
	bu_step_fn then;
	char path[PATH_MAX];
	/* in the file */
	const char *bmc;
	char ours[BU_DIGEST_SIZE]; /* of this BMC's name and our credentials */
	enum phase phase;
	int64_t tries, at_ms;
	int was_ours; /* it took credentials of ours that are not these */
	/* of this request */
	struct bu_credentials credentials[2];
	int refused[2], changed;
	enum whose as;
};

static const struct bu_field kept_fields[] = {
	BU_FIELD(STRING, struct bu_adopt, bmc, .need = BU_OPTIONAL, .unsaid = ""),
	BU_FIELD(TEXT, struct bu_adopt, ours),
	BU_FIELD(WORD, struct bu_adopt, phase, .words = phases),
	BU_FIELD(INT, struct bu_adopt, tries),
	BU_FIELD(INT, struct bu_adopt, at_ms),
	BU_FIELD(FLAG, struct bu_adopt, was_ours, .need = BU_OPTIONAL),
	BU_FIELD_END,
};

static void next_try(struct bu_run *run);

/* The reference of those that it may still have; "" = there are none. */
static const char *
before_of(const struct bu_run *run)
{
	const char *before = bu_json_str(run->request, "before", "");
	const char *factory = bu_json_str(run->request, "factory", "");
	int was_ours = run->adopt && run->adopt->was_ours;

	return !*factory || (*before && was_ours) ? before : factory;
}

/* --- the file --- */

static int
save(struct bu_run *run)
{
	const struct bu_adopt *adopt = run->adopt;
	bu_autojson json_t *body = bu_record_to_json(kept_fields, adopt);
	bu_autofree char *text = bu_json_canonical(body);

	return bu_file_write_text(adopt->path, 0600, &run->err, "%s\n", text);
}

/* What is there of other credentials of ours counts for its tries, and says that it was
 * ours. */
static int
load(struct bu_run *run)
{
	struct bu_adopt *adopt = run->adopt;
	size_t size = 0;
	bu_autofree char *text = bu_file_read(adopt->path, 65536, &size, &run->err);
	bu_autojson json_t *body = NULL;
	struct bu_adopt kept;

	if (!text && run->err.kind != BU_ERR_NOTFOUND)
		return -1;
	run->err = (struct bu_err){0};
	if (!text)
		return 0;
	body = bu_json_parse(text, size, adopt->path, &run->err);
	if (!body)
		return -1;
	if (bu_record_from_json(kept_fields, body, &kept, &run->err) != 0)
		return bu_err_wrap(&run->err, "%s", adopt->path);
	adopt->tries = kept.tries;
	adopt->at_ms = kept.at_ms;
	adopt->was_ours = kept.was_ours;
	if (strcmp(kept.ours, adopt->ours) == 0)
		adopt->phase = kept.phase;
	else if (kept.phase == DONE)
		adopt->was_ours = 1;
	return 0;
}

/* --- the end of it --- */

static void
speak_as(struct bu_run *run, enum whose whose)
{
	run->adopt->as = whose;
	bu_run_speak_as(run, &run->adopt->credentials[whose]);
}

static void
is_ours(struct bu_run *run)
{
	bu_step_fn then = run->adopt->then;

	if (run->adopt->changed)
		bu_info("power", "%s: has the password of %s now", run->bmc,
			bu_json_str(run->request, "credentials", ""));
	speak_as(run, OURS);
	free(run->adopt);
	run->adopt = NULL;
	then(run);
}

/* --- change, verify, retire --- */

/* That it refused them earlier says nothing now. */
static void
ours_are_new(struct bu_run *run)
{
	speak_as(run, OURS);
	bu_run_accepted(run);
}

static void
on_changed(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE) {
		bu_run_fail(run);
		return;
	}
	run->adopt->changed = 1;
	ours_are_new(run);
	memset(run->adopt->refused, 0, sizeof(run->adopt->refused));
	next_try(run);
}

static void
change(struct bu_run *run)
{
	struct bu_adopt *adopt = run->adopt;

	adopt->phase = CHANGES;
	if (save(run) != 0) {
		bu_run_fail(run);
		return;
	}
	run->order.new_password = adopt->credentials[OURS].password;
	bu_run_call(run, BU_POWER_SET_PASSWORD, on_changed);
}

static void
retire(struct bu_run *run)
{
	run->adopt->phase = DONE;
	if (save(run) != 0)
		bu_run_fail(run);
	else
		is_ours(run);
}

/* It said neither yes nor no. One that was late may have seen the password, and what
 * was not reached has not. */
static void
fail_untold(struct bu_run *run)
{
	struct bu_adopt *adopt = run->adopt;

	if (run->err.kind != BU_ERR_TIMEOUT && run->err.kind != BU_ERR_CANCELLED) {
		adopt->tries--;
		save(run);
	}
	bu_run_fail(run);
}

static void
on_tried(struct bu_run *run)
{
	struct bu_adopt *adopt = run->adopt;

	if (run->err.kind == BU_ERR_NONE) {
		adopt->tries = 0;
		if (adopt->as == OURS)
			retire(run);
		else
			change(run);
		return;
	}
	if (!run->denied) {
		fail_untold(run);
		return;
	}
	adopt->refused[adopt->as] = 1;
	/* It has taken those of before, and knows them no more: it took the change. */
	if (adopt->as == BEFORE && adopt->phase == CHANGES && !adopt->refused[OURS])
		ours_are_new(run);
	if (!adopt->changed) {
		next_try(run);
		return;
	}
	bu_err_set(&run->err, BU_ERR_VERIFY, 0,
		   "%s took the password of %s, and refuses it now", run->bmc,
		   bu_json_str(run->request, "credentials", ""));
	bu_run_fail(run);
}

/* 0 when one more refusal locks nothing. */
static int
may_try(struct bu_run *run)
{
	struct bu_adopt *adopt = run->adopt;
	int64_t now_ms = bu_wall_ms(bu_loop_clock(run->performer->loop));

	if (adopt->tries >= TRIES_MAX && now_ms >= adopt->at_ms &&
	    now_ms - adopt->at_ms < ALONE_MS)
		return bu_err_set(
			&run->err, BU_ERR_REMOTE, 0,
			"%s was tried %d times and took no password; it is left alone "
			"for %d minutes, so that the account is not locked",
			run->bmc, TRIES_MAX, ALONE_MS / 60000);
	if (adopt->tries >= TRIES_MAX)
		adopt->tries = 0;
	adopt->tries++;
	adopt->at_ms = now_ms;
	return save(run);
}

/* Not once more in this request, nor where it has refused them twice in earlier ones.
 */
static int
is_open_to(struct bu_run *run, enum whose whose)
{
	speak_as(run, whose);
	return !run->adopt->refused[whose] && bu_run_may_try(run);
}

/* A new BMC has those of before, one that was being changed has ours, most likely. */
static void
next_try(struct bu_run *run)
{
	struct bu_adopt *adopt = run->adopt;
	enum whose first = adopt->phase == NEW ? BEFORE : OURS;

	if (!is_open_to(run, first) && !is_open_to(run, (enum whose) !first)) {
		bu_err_set(&run->err, BU_ERR_REMOTE, 0,
			   "%s refuses the credentials of %s and those that it should "
			   "have had before, of %s; correct one of them",
			   run->bmc, bu_json_str(run->request, "credentials", ""),
			   before_of(run));
		bu_run_fail(run);
	} else if (may_try(run) != 0) {
		bu_run_fail(run);
	} else {
		bu_run_call(run, BU_POWER_LOGIN, on_tried);
	}
}

/* --- the beginning --- */

static int
read_before(struct bu_run *run, const char *reference)
{
	struct bu_adopt *adopt = run->adopt;

	if (bu_secret_is_exec(reference))
		return bu_err_set(
			&run->err, BU_ERR_INVAL, 0,
			"secret %s: bmc_credentials_before cannot be exec:", reference);
	run->before = bu_secret_resolve(reference, &run->before_size, &run->err);
	if (!run->before ||
	    bu_credentials_split(run->before, reference, &adopt->credentials[BEFORE],
				 &run->err) != 0)
		return -1;
	if (strcmp(adopt->credentials[BEFORE].user, adopt->credentials[OURS].user) != 0)
		return bu_err_set(&run->err, BU_ERR_INVAL, 0,
				  "secret %s: is of another user than %s; a BMC's "
				  "account keeps its name",
				  reference,
				  bu_json_str(run->request, "credentials", ""));
	return 0;
}

static void
path_of(const struct bu_run *run, char ret[PATH_MAX])
{
	char digest[BU_DIGEST_SIZE];

	bu_sha256_hex(run->bmc, strlen(run->bmc), digest);
	snprintf(ret, PATH_MAX, "%s/%.32s.json", run->performer->journal, digest);
}

static int
wants(const struct bu_run *run)
{
	return run->performer->journal && *before_of(run) &&
	       *bu_json_str(run->request, "credentials", "");
}

int
bu_adopt_may_change(const struct bu_run *run)
{
	bu_autojson json_t *body = NULL;
	struct bu_adopt kept;
	char path[PATH_MAX];

	if (!wants(run))
		return 0;
	path_of(run, path);
	body = bu_json_load(path, NULL);
	return bu_record_from_json(kept_fields, body, &kept, NULL) != 0 ||
	       kept.phase != DONE;
}

void
bu_run_adopt(struct bu_run *run, bu_step_fn then)
{
	struct bu_adopt *adopt;

	if (!wants(run)) {
		then(run);
		return;
	}
	adopt = run->adopt = bu_xcalloc(1, sizeof(*adopt));
	adopt->then = then;
	adopt->bmc = run->bmc;
	path_of(run, adopt->path);
	adopt->credentials[OURS].user = run->order.target.user;
	adopt->credentials[OURS].password = run->order.target.password;
	memcpy(adopt->credentials[OURS].digest, run->digest, sizeof(run->digest));
	bu_hmac_hex(run->bmc, strlen(run->bmc), run->digest, strlen(run->digest),
		    adopt->ours);
	if (bu_mkdir_p(run->performer->journal, 0700, &run->err) != 0 || load(run) != 0)
		bu_run_fail(run);
	else if (adopt->phase == DONE)
		is_ours(run);
	else if (read_before(run, before_of(run)) != 0)
		bu_run_fail(run);
	else
		next_try(run);
}
