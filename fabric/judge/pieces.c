/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage A of a site whose results arrive one by one: no pair waits for another. Called
 * by rounds.c. Invariants:
 *
 * - Results that are there are counted before any pair is asked for.
 * - A port is asked about one partner at a time.
 * - A pair that is late or gives no result occupies its own two ports alone.
 * - A node that delays its partners gets none that still needs others.
 *
 * The work grows with the results and the free ports, not with the rounds.
 */
#include "fabric/judge/campaign.h"

/* A round in which a pair meets that has a result or failure at the site. */
struct meeting {
	struct bu_pair pair;
	int next; /* next meeting of the round; -1 = none */
};

/* An idle port that lacks partners. */
struct seeker {
	int port;
	struct bu_partners partners;
};

struct pieces {
	struct campaign *c;
	int rounds, ports;
	struct meeting *meetings;
	size_t meetings_count, meetings_cap;
	int *first;           /* first meeting of each round; -1 = none */
	unsigned char *given; /* [round * ports + the lower port of a pair]: its result
				 is counted */
	unsigned char *busy;  /* ports */
	int lacking;          /* ports that lack partners */
	int *others;          /* by port: count_others() */
	int kinds[2]; /* 1 << bu_known of the pairs to ask for; [1]: late ones */
	struct seeker *seekers;
	int seekers_count;
	struct bu_flow *flows;
};

static int
is_trusted(const struct campaign *c, int port)
{
	return c->trusted_parts[2 * port];
}

static int
is_wanted(const struct campaign *c, const struct bu_pair *pair)
{
	return c->lacks[pair->a] > 0 || c->lacks[pair->b] > 0;
}

static enum bu_known
known(const struct campaign *c, const struct bu_pair *pair)
{
	struct bu_flow flow = {.src = pair->a, .dst = pair->b, .via = -1};

	return c->site->known(c->site->arg, &flow);
}

/* Results of two trusted ports count for the cohort. */
static int
is_countable(const struct campaign *c, const struct bu_pair *pair)
{
	return c->usable[pair->a] && c->usable[pair->b] &&
	       (is_wanted(c, pair) ||
		(is_trusted(c, pair->a) && is_trusted(c, pair->b))) &&
	       known(c, pair) == BU_KNOWN_RESULT;
}

static void
add_meetings(struct pieces *p, const struct bu_pair *pair)
{
	int every,
		round = bu_stage_leaf_round_of(&p->c->order, pair->a, pair->b, &every);

	for (; round >= 0 && round < p->rounds; round += every) {
		p->meetings = bu_xgrow(p->meetings, &p->meetings_cap,
				       p->meetings_count + 1, sizeof(*p->meetings));
		p->meetings[p->meetings_count] =
			(struct meeting){*pair, p->first[round]};
		p->first[round] = (int)p->meetings_count++;
	}
}

static void
find_meetings(struct pieces *p)
{
	const struct campaign *c = p->c;
	const struct bu_pair *pairs;
	size_t count = c->site->met(c->site->arg, &pairs);

	for (int round = 0; round < p->rounds; round++)
		p->first[round] = -1;
	for (size_t i = 0; i < count; i++)
		add_meetings(p, &pairs[i]);
}

static unsigned char *
is_given(const struct pieces *p, int round, const struct bu_pair *pair)
{
	int port = pair->a < pair->b ? pair->a : pair->b;

	return &p->given[(size_t)round * (size_t)p->ports + (size_t)port];
}

/* Counts the partners met since flow `first`. */
static void
count_partners(struct pieces *p, size_t first)
{
	struct campaign *c = p->c;

	for (size_t i = first; i < c->count; i++) {
		int port = c->flows[i].src;

		if (!(c->flows[i].doubt & BU_DOUBT_NONE) && c->lacks[port]-- == 1)
			p->lacking -= c->usable[port];
	}
}

/* Counts the results that are there, in the order of the rounds. */
static int
take_results(struct pieces *p, struct bu_err *err)
{
	struct campaign *c = p->c;

	for (int round = 0; round < p->rounds && p->lacking; round++) {
		size_t before = c->count;
		int n = 0;

		for (int i = p->first[round]; i >= 0; i = p->meetings[i].next) {
			const struct bu_pair *pair = &p->meetings[i].pair;

			if (!is_countable(c, pair))
				continue;
			n += bu_campaign_pair(c, pair->a, pair->b, -1, p->flows + n);
			*is_given(p, round, pair) = 1;
		}
		if (bu_campaign_round(c, STAGE_A, p->flows, n, err) < 0)
			return -1;
		count_partners(p, before);
	}
	return 0;
}

static int
is_last(const struct campaign *c, int port)
{
	return c->opts->last && c->opts->last[port / c->t->rails];
}

static int
is_slow(const struct campaign *c, int port)
{
	return c->opts->slow && c->opts->slow[port / c->t->rails];
}

/* May one port of the pair delay the other? */
static int
is_late(const struct campaign *c, int a, int b)
{
	return is_last(c, a) || is_last(c, b) || (is_slow(c, a) && is_slow(c, b));
}

/* Will the port's probes end soon? Not those of a busy trusted port. */
static int
is_sound(const struct pieces *p, int port)
{
	const struct campaign *c = p->c;
	int rests = is_trusted(c, port) && p->busy[port];

	return c->usable[port] && !is_last(c, port) && !rests;
}

static int
group_of(const struct campaign *c, int port)
{
	return c->leaf_of[port] * c->t->rails + port % c->t->rails;
}

/* `port` has met `met`: one partner fewer to wait for. */
static void
count_off(struct pieces *p, int port, int met)
{
	p->others[port] -= is_sound(p, met) && !is_late(p->c, port, met);
}

/* Counts the partners that each port may wait for: not met yet, not late, and free once
 * their probe ends. */
static void
count_others(struct pieces *p)
{
	struct campaign *c = p->c;
	const struct bu_pair *pairs;
	size_t count = c->site->met(c->site->arg, &pairs);
	size_t groups = (size_t)(c->t->leaves * c->t->rails) + 1;
	bu_autofree int *sound = bu_xcalloc(groups, sizeof(*sound));
	bu_autofree int *slow = bu_xcalloc(groups, sizeof(*slow));

	p->others = bu_xcalloc((size_t)p->ports + 2, sizeof(int));
	for (int port = 0; port < p->ports; port++) {
		sound[group_of(c, port)] += is_sound(p, port);
		slow[group_of(c, port)] += is_sound(p, port) && is_slow(c, port);
	}
	for (int port = 0; port < p->ports; port++)
		p->others[port] = sound[group_of(c, port)] -
				  (is_slow(c, port) ? slow[group_of(c, port)]
						    : is_sound(p, port));
	for (size_t i = 0; i < count; i++) {
		count_off(p, pairs[i].a, pairs[i].b);
		count_off(p, pairs[i].b, pairs[i].a);
	}
}

/* Does the port have other partners, so that a late one need not delay it? */
static int
is_spared(const struct pieces *p, int port)
{
	return !is_last(p->c, port) && p->c->lacks[port] > 0 && p->others[port] > 0;
}

/* late: 1 = late pairs alone, 0 = the others alone. */
static int
is_askable(struct pieces *p, const struct bu_pair *pair, enum bu_known kind, int late)
{
	enum bu_known its = known(p->c, pair);
	int is = is_late(p->c, pair->a, pair->b);

	if (its == BU_KNOWN_TIRED)
		its = BU_KNOWN_FAILED; /* the site decides when a tired pair has its
					  turn */
	p->kinds[is] |= 1 << its;
	return is == late && its == kind &&
	       (!late || (!is_spared(p, pair->a) && !is_spared(p, pair->b)));
}

/* Drops the flows that are only asked for, and marks their ports busy. */
static void
drop_asked(struct pieces *p, size_t first)
{
	struct campaign *c = p->c;
	size_t kept = first;

	for (size_t i = first; i < c->count; i++) {
		if (c->flows[i].doubt & BU_DOUBT_ASKED)
			p->busy[c->flows[i].src] = p->busy[c->flows[i].dst] = 1;
		else
			c->flows[kept++] = c->flows[i];
	}
	c->count = kept;
}

static int
is_seeking(const struct pieces *p, int port)
{
	return p->c->usable[port] && p->c->lacks[port] > 0 && !p->busy[port];
}

static void
find_seekers(struct pieces *p)
{
	p->seekers_count = 0;
	for (int port = 0; port < p->ports; port++) {
		if (!is_seeking(p, port))
			continue;
		p->seekers[p->seekers_count].port = port;
		bu_partners_begin(&p->c->order, port,
				  &p->seekers[p->seekers_count++].partners);
	}
}

/* Drops the seekers that were asked about a partner. */
static void
drop_seekers(struct pieces *p)
{
	int kept = 0;

	for (int i = 0; i < p->seekers_count; i++)
		if (!p->busy[p->seekers[i].port])
			p->seekers[kept++] = p->seekers[i];
	p->seekers_count = kept;
}

/* Can this partner be asked about? Of two seekers the lower port asks. */
static int
is_free(const struct pieces *p, int port, int partner)
{
	return partner >= 0 && p->c->usable[partner] && !p->busy[partner] &&
	       (partner > port || p->c->lacks[partner] <= 0);
}

/* Asks for the free pairs of one kind. Pairs that the site measures are busy then. */
static int
ask(struct pieces *p, enum bu_known kind, int late, struct bu_err *err)
{
	struct campaign *c = p->c;

	find_seekers(p);
	for (int round = 0; round < p->rounds && p->seekers_count; round++) {
		size_t before = c->count;
		int n = 0;

		for (int i = 0; i < p->seekers_count; i++) {
			struct seeker *seeker = &p->seekers[i];
			int partner = bu_partners_next(&seeker->partners);
			struct bu_pair pair = {seeker->port, partner};

			if (is_free(p, seeker->port, partner) &&
			    !*is_given(p, round, &pair) &&
			    is_askable(p, &pair, kind, late))
				n += bu_campaign_pair(c, pair.a, pair.b, -1,
						      p->flows + n);
		}
		if (bu_campaign_round(c, STAGE_A, p->flows, n, err) < 0)
			return -1;
		drop_asked(p, before);
		if (n)
			drop_seekers(p);
	}
	return 0;
}

/* Is a partner that the port lacks busy with others? */
static int
has_busy_partner(const struct pieces *p, int port)
{
	const struct campaign *c = p->c;
	struct bu_partners partners;

	bu_partners_begin(&c->order, port, &partners);
	for (int round = 0; round < p->rounds; round++) {
		int partner = bu_partners_next(&partners);
		struct bu_pair pair = {port, partner};
		enum bu_known its;

		if (partner < 0 || !c->usable[partner] || !p->busy[partner] ||
		    *is_given(p, round, &pair))
			continue;
		its = known(c, &pair);
		if (its == BU_KNOWN_NOT || its == BU_KNOWN_FAILED)
			return 1;
	}
	return 0;
}

/* A port that waits for a busy partner delays no other port, but is not through. */
static void
note_waiting(struct pieces *p)
{
	struct campaign *c = p->c;

	for (int port = 0; port < p->ports; port++) {
		if (!c->usable[port] || c->lacks[port] <= 0)
			continue;
		c->waiting |= p->busy[port];
		c->seeks[port] = p->busy[port] || has_busy_partner(p, port);
	}
}

static int
run(struct pieces *p, struct bu_err *err)
{
	int rc = take_results(p, err);

	if (rc == 0)
		rc = ask(p, BU_KNOWN_NOT, 0, err);
	if (rc == 0 && p->kinds[0] >> BU_KNOWN_FAILED & 1)
		rc = ask(p, BU_KNOWN_FAILED, 0, err);
	if (rc == 0 && p->kinds[1])
		count_others(p);
	/* failed pairs first: a late port then uses up fewer partners */
	if (rc == 0 && p->kinds[1] >> BU_KNOWN_FAILED & 1)
		rc = ask(p, BU_KNOWN_FAILED, 1, err);
	if (rc == 0 && p->kinds[1] >> BU_KNOWN_NOT & 1)
		rc = ask(p, BU_KNOWN_NOT, 1, err);
	if (rc == 0)
		note_waiting(p);
	return rc;
}

int
bu_campaign_leaf_pieces(struct campaign *c, int rounds, struct bu_err *err)
{
	int ports = bu_topology_ports(c->t), rc;
	size_t room = (size_t)ports + 2;
	struct pieces p = {
		.c = c,
		.rounds = rounds,
		.ports = ports,
		.first = bu_xcalloc((size_t)rounds, sizeof(*p.first)),
		.given = bu_xcalloc((size_t)rounds * (size_t)ports, 1),
		.busy = bu_xcalloc(room, 1),
		.seekers = bu_xcalloc(room, sizeof(*p.seekers)),
		.flows = bu_xcalloc(2 * room, sizeof(*p.flows)),
	};

	for (int port = 0; port < ports; port++) {
		p.busy[port] = c->opts->busy && c->opts->busy[port / c->t->rails];
		p.lacking += c->usable[port] && c->lacks[port] > 0;
	}
	find_meetings(&p);
	rc = run(&p, err);
	free(p.meetings);
	free(p.first);
	free(p.others);
	free(p.given);
	free(p.busy);
	free(p.seekers);
	free(p.flows);
	return rc;
}
