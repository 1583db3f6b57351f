/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meters: how much each key has of one limit. Called by the listeners (api/) and by
 * node/agents.c. Invariants: a meter keeps KEYS_MAX keys at most, and those beyond
 * share one; who is within the limit is never said, who is over it once a minute.
 */
#include "model/limit.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

enum {
	CHAINS = 4096,
	KEYS_MAX = 65536,
	SWEEP_EACH = 1024, /* new keys */
	KEY_SIZE = 80,
	SAY_MS = 60 * 1000,
	LATER_S = 5, /* where nothing says when there is room */
	HOUR_MS = 3600 * 1000,
};

static const struct bu_limit_info infos[] = {
#define X(id, name, most, hourly, unit, counted, over)                                 \
	{name, most, hourly, unit, counted, over},
	BU_LIMITS(X)
#undef X
};

struct entry {
	struct entry *next;
	double used;
	int64_t at_ms;
	char key[KEY_SIZE];
};

struct bu_meter {
	struct bu_loop *loop;
	enum bu_limit id;
	uint32_t seed;
	struct entry *chains[CHAINS];
	size_t count, fresh;
	struct bu_timer *say;
	int saying;
	int64_t refused; /* since the last line */
	char who[KEY_SIZE];
};

const struct bu_limit_info *
bu_limit_info(enum bu_limit id)
{
	bu_assert(id < BU_LIMIT_COUNT);
	return &infos[id];
}

static void
say(struct bu_meter *meter)
{
	const struct bu_limit_info *of = &infos[meter->id];

	bu_warn("limits", "%s: %s is over %lld %s (%s); refused %lld times", of->name,
		meter->who, (long long)of->most, of->unit, of->over,
		(long long)meter->refused);
	meter->refused = 0;
	meter->saying = 1;
	bu_timer_set(meter->say, SAY_MS);
}

static void
on_minute(void *arg)
{
	struct bu_meter *meter = arg;

	meter->saying = 0;
	if (meter->refused)
		say(meter);
}

void
bu_meter_refused(struct bu_meter *meter, const char *key)
{
	meter->refused++;
	bu_text_copy(meter->who, sizeof(meter->who), key);
	bu_text_clean(meter->who);
	if (!meter->saying)
		say(meter);
}

struct bu_meter *
bu_meter_create(struct bu_loop *loop, enum bu_limit id)
{
	struct bu_meter *meter = bu_xcalloc(1, sizeof(*meter));

	meter->loop = loop;
	meter->id = id;
	bu_random(&meter->seed, sizeof(meter->seed));
	meter->say = bu_timer_create(loop, on_minute, meter);
	return meter;
}

/* What has come back since. */
static void
refill(const struct bu_meter *meter, struct entry *entry)
{
	int64_t now_ms = bu_loop_now_ms(meter->loop);

	entry->used -= (double)(now_ms - entry->at_ms) *
		       (double)infos[meter->id].hourly / HOUR_MS;
	if (entry->used < 0)
		entry->used = 0;
	entry->at_ms = now_ms;
}

/* Those that have nothing count for nothing. */
static void
sweep(struct bu_meter *meter)
{
	for (size_t i = 0; i < CHAINS; i++) {
		struct entry **at = &meter->chains[i];

		while (*at) {
			struct entry *entry = *at;

			refill(meter, entry);
			if (entry->used > 0) {
				at = &entry->next;
				continue;
			}
			*at = entry->next;
			free(entry);
			meter->count--;
		}
	}
	meter->fresh = 0;
}

void
bu_meter_destroy(struct bu_meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < CHAINS; i++)
		while (meter->chains[i]) {
			struct entry *entry = meter->chains[i];

			meter->chains[i] = entry->next;
			free(entry);
		}
	bu_timer_destroy(meter->say);
	free(meter);
}

static struct entry **
chain_of(struct bu_meter *meter, const char *key)
{
	uint32_t hash = 2166136261u ^ meter->seed;

	for (size_t i = 0; key[i] && i < KEY_SIZE - 1; i++)
		hash = (hash ^ (uint8_t)key[i]) * 16777619u;
	return &meter->chains[(hash ^ hash >> 16) % CHAINS];
}

static struct entry *
find(struct bu_meter *meter, const char *key)
{
	struct entry *entry = *chain_of(meter, key);

	while (entry && strncmp(entry->key, key, KEY_SIZE - 1) != 0)
		entry = entry->next;
	return entry;
}

static struct entry *
entry_of(struct bu_meter *meter, const char *key)
{
	struct entry *entry = find(meter, key);

	if (!entry && meter->fresh >= SWEEP_EACH)
		sweep(meter);
	if (!entry && meter->count >= KEYS_MAX) {
		key = "(all others)";
		entry = find(meter, key);
	}
	if (!entry) {
		struct entry **chain = chain_of(meter, key);

		entry = bu_xcalloc(1, sizeof(*entry));
		bu_text_copy(entry->key, sizeof(entry->key), key);
		entry->at_ms = bu_loop_now_ms(meter->loop);
		entry->next = *chain;
		*chain = entry;
		meter->count++;
		meter->fresh++;
	}
	refill(meter, entry);
	return entry;
}

int
bu_meter_take(struct bu_meter *meter, const char *key, int64_t amount)
{
	const struct bu_limit_info *of = &infos[meter->id];
	struct entry *entry = entry_of(meter, key);
	double beyond = entry->used + (double)amount - (double)of->most;

	if (beyond < 0 || (amount && beyond <= 0)) {
		entry->used += (double)amount;
		return 0;
	}
	bu_meter_refused(meter, key);
	return of->hourly ? 1 + (int)(beyond * 3600 / (double)of->hourly) : LATER_S;
}

void
bu_meter_charge(struct bu_meter *meter, const char *key, int64_t amount)
{
	if (amount)
		entry_of(meter, key)->used += (double)amount;
}

void
bu_meter_give(struct bu_meter *meter, const char *key, int64_t amount)
{
	struct entry *entry = entry_of(meter, key);

	entry->used = entry->used > (double)amount ? entry->used - (double)amount : 0;
}
