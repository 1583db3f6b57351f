/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage A of a site whose results come by and by: no pair waits for another one. Asked
 * by rounds.c. Invariants: what is there is counted before anything is asked; a port is
 * asked about one partner at a time; a pair that is late, or gives nothing, keeps only
 * its own two ports; who holds its partners up keeps none that still needs others.
 */
#include "fabric/judge/campaign.h"

/* Rounds in a row without a result, after which the later ones have none either, but
 * for ports whose results are not all found yet. */
enum { QUIET = 12 };

struct pieces {
	struct campaign *c;
	int rounds, half;
	unsigned char *given; /* [round * half + pair]: its result is counted */
	unsigned char *busy;  /* ports */
	int *results;         /* of each port, that were not found yet */
	int *others; /* partners of each port that were not tried, and hold nobody up;
		       NULL = not counted yet */
	int kinds;   /* 1 << bu_known of what could be asked, and was not */
	int slow_kinds; /* as kinds, of pairs with one of these */
	struct bu_pair *pairs;
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

/* What two proven ones measured before is the cohort's. */
static int
is_countable(const struct campaign *c, const struct bu_pair *pair)
{
	return (is_wanted(c, pair) ||
		(is_trusted(c, pair->a) && is_trusted(c, pair->b))) &&
	       known(c, pair) == BU_KNOWN_RESULT;
}

/* Ports that lack partners, and have results that were not found yet. */
static int
is_any_missed(const struct pieces *p)
{
	const struct campaign *c = p->c;

	for (int port = 0; port < bu_topology_ports(c->t); port++)
		if (c->usable[port] && c->lacks[port] > 0 && p->results[port] > 0)
			return 1;
	return 0;
}

/* What was measured. */
static int
take_results(struct pieces *p, struct bu_err *err)
{
	struct campaign *c = p->c;
	int quiet = 0, lacking = 1;

	for (int round = 0; round < p->rounds && lacking; round++) {
		int late = quiet >= QUIET;

		if (late && !is_any_missed(p))
			break;
		int count = bu_stage_leaf_round(&c->order, c->seed, round, p->pairs);
		size_t before = c->count;
		int n = 0;

		for (int i = 0; i < count; i++) {
			const struct bu_pair *pair = &p->pairs[i];

			if ((late &&
			     (p->results[pair->a] <= 0 || p->results[pair->b] <= 0)) ||
			    !is_countable(c, pair))
				continue;
			p->results[pair->a]--;
			p->results[pair->b]--;
			n += bu_campaign_pair(c, pair->a, pair->b, -1, p->flows + n);
			p->given[round * p->half + i] = 1;
		}
		if (bu_campaign_round(c, STAGE_A, p->flows, n, err) < 0)
			return -1;
		quiet = n ? 0 : quiet + 1;
		lacking = bu_campaign_count_lacks(c, before, c->lacks);
	}
	return 0;
}

/* Ports that could be asked about another partner now. */
static int
count_free(const struct pieces *p)
{
	const struct campaign *c = p->c;
	int count = 0;

	for (int port = 0; port < bu_topology_ports(c->t); port++)
		count += c->usable[port] && c->lacks[port] > 0 && !p->busy[port];
	return count;
}

static int
is_last(const struct campaign *c, int port)
{
	return c->opts->last && c->opts->last[port / c->t->rails];
}

static int
group_of(const struct campaign *c, int port)
{
	return c->leaf_of[port] * c->t->rails + port % c->t->rails;
}

/* At least so many: whom it was tried with may be one who comes last. */
static void
count_others(struct pieces *p)
{
	struct campaign *c = p->c;
	int ports = bu_topology_ports(c->t);
	bu_autofree int *sound =
		bu_xcalloc((size_t)(c->t->leaves * c->t->rails) + 1, sizeof(*sound));

	p->others = bu_xcalloc((size_t)ports + 2, sizeof(int));
	for (int port = 0; port < ports; port++)
		sound[group_of(c, port)] += c->usable[port] && !is_last(c, port);
	for (int port = 0; port < ports; port++)
		p->others[port] =
			sound[group_of(c, port)] - 1 -
			(c->opts->tried ? c->opts->tried[port / c->t->rails] : 0);
}

/* It would be held up, and need not be. */
static int
is_spared(const struct pieces *p, int port)
{
	return !is_last(p->c, port) && p->c->lacks[port] > 0 && p->others[port] > 0;
}

/* last: of pairs with somebody who comes last, else of the others. */
static int
is_askable(struct pieces *p, const struct bu_pair *pair, enum bu_known kind, int last)
{
	const struct campaign *c = p->c;
	int is = is_last(c, pair->a) || is_last(c, pair->b);
	enum bu_known its;

	if (!is_wanted(c, pair) || !c->usable[pair->a] || !c->usable[pair->b] ||
	    p->busy[pair->a] || p->busy[pair->b])
		return 0;
	its = known(c, pair);
	if (is)
		p->slow_kinds |= 1 << its;
	else
		p->kinds |= 1 << its;
	return is == last && its == kind &&
	       (!p->others || (!is_spared(p, pair->a) && !is_spared(p, pair->b)));
}

/* What is being measured is no flow yet; its ports are busy from now on. */
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

/* Pairs of one kind that are free; those that the site asks for are busy from now on.
 */
static int
ask(struct pieces *p, enum bu_known kind, int last, struct bu_err *err)
{
	struct campaign *c = p->c;
	int left = count_free(p);

	for (int round = 0; round < p->rounds && left; round++) {
		int count = bu_stage_leaf_round(&c->order, c->seed, round, p->pairs);
		size_t before = c->count;
		int n = 0;

		for (int i = 0; i < count; i++)
			if (!p->given[round * p->half + i] &&
			    is_askable(p, &p->pairs[i], kind, last))
				n += bu_campaign_pair(c, p->pairs[i].a, p->pairs[i].b,
						      -1, p->flows + n);
		if (bu_campaign_round(c, STAGE_A, p->flows, n, err) < 0)
			return -1;
		drop_asked(p, before);
		left = n ? count_free(p) : left;
	}
	return 0;
}

static void
note_waiting(struct pieces *p)
{
	struct campaign *c = p->c;

	for (int port = 0; port < bu_topology_ports(c->t); port++)
		c->waiting |= c->usable[port] && c->lacks[port] > 0 && p->busy[port];
}

static int
run(struct pieces *p, struct bu_err *err)
{
	int rc = take_results(p, err);

	if (rc == 0)
		rc = ask(p, BU_KNOWN_NOT, 0, err);
	if (rc == 0 && p->kinds >> BU_KNOWN_FAILED & 1)
		rc = ask(p, BU_KNOWN_FAILED, 0, err);
	if (rc == 0 && (p->slow_kinds || p->kinds >> BU_KNOWN_SPENT & 1))
		count_others(p);
	if (rc == 0 && p->kinds >> BU_KNOWN_SPENT & 1)
		rc = ask(p, BU_KNOWN_SPENT, 0, err);
	/* It wears out no more partners than it must. */
	if (rc == 0 && p->slow_kinds >> BU_KNOWN_FAILED & 1)
		rc = ask(p, BU_KNOWN_FAILED, 1, err);
	if (rc == 0 && p->slow_kinds)
		rc = ask(p, BU_KNOWN_NOT, 1, err);
	if (rc == 0 && p->slow_kinds >> BU_KNOWN_SPENT & 1)
		rc = ask(p, BU_KNOWN_SPENT, 1, err);
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
		.half = ports / 2 + 1,
		.given = bu_xcalloc((size_t)rounds * room, 1),
		.busy = bu_xcalloc(room, 1),
		.results = bu_xcalloc(room, sizeof(*p.results)),
		.pairs = bu_xcalloc(room, sizeof(*p.pairs)),
		.flows = bu_xcalloc(room, sizeof(*p.flows)),
	};

	for (int port = 0; port < ports; port++) {
		int node = port / c->t->rails;

		p.busy[port] = c->opts->busy && c->opts->busy[node];
		p.results[port] = c->opts->results ? c->opts->results[node] : 0;
	}
	rc = run(&p, err);
	free(p.others);
	free(p.given);
	free(p.busy);
	free(p.results);
	free(p.pairs);
	free(p.flows);
	return rc;
}
