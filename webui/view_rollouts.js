// SPDX-License-Identifier: Apache-2.0
// Rollouts: the list, or one with its plan, pools and nodes. Called by app.js.
import { notice, rolloutButtons } from "./acts.js";
import { chip, command, dateEl, duration, el, empty, facts, keepFocus, nodeLink, plural, section, table } from "./dom.js";
import { fetchJson, live, serverNow } from "./live.js";
import { ROLLOUT_TONES, endOf, meta, rolloutCounts, rolloutState, sentence } from "./words.js";

const AGAIN_MS = 2000, NODES_MAX = 200;

const stateChip = (one) => chip(ROLLOUT_TONES[rolloutState(one)] || "idle", rolloutState(one));
const tookText = (one) => duration((one.ended_ms || serverNow()) - one.started_ms);
const progressOf = (one) => el("progress", { max: one.total || 1, value: one.done,
	"aria-label": one.done + " of " + one.total + " nodes done" });

function listOf(rollouts) {
	if (!rollouts.length)
		return empty("Nothing was applied yet: bringup apply DIR begins the first rollout.");
	return table("Rollouts", ["Rollout", "State", "Nodes", "Progress", "Began", "Took", "By"], rollouts.map((one) => [
		el("a", { href: "#/rollouts/" + encodeURIComponent(one.id) }, one.id), stateChip(one),
		one.done + " of " + one.total, progressOf(one), dateEl(one.started_ms), tookText(one), one.by]));
}

// What an operator types; a rollout that ended takes nothing.
function commandsFor(one) {
	return one.ended_ms ? [] : ["bringup rollout pause ", "bringup rollout resume ",
	"bringup rollout abort "].map((verb) => verb + one.id);
}

// "about 12 min left, until Mon 30 Nov, 14:22:10"
export function leftOf(one) {
	const endMs = endOf(one, serverNow());
	return endMs ? ["about " + duration(endMs - serverNow()) + " left, until ", dateEl(endMs)] : "";
}

// What the plan does with how many nodes, and what was allowed for it.
function planOf(one) {
	const counts = new Map();
	for (const node of one.nodes || [])
		counts.set(node.class, (counts.get(node.class) || 0) + 1);
	const help = new Map(meta.classes.map((row) => [row.name, row]));
	return section("Plan", table("Plan", ["What", "Nodes", "Meaning", "Grant"], [...counts].map(([name, count]) =>
		[name, String(count), (help.get(name) || {}).help || "", (help.get(name) || {}).grant ?
			(one.grants || []).filter((grant) => grant.class === name).map((grant) => grant.nodes || "all its nodes").join(", ") || "needed" : ""])),
	one.total > (one.nodes || []).length ? el("p", { class: "dim" }, plural(one.total - (one.nodes || []).length, "node") +
		" of it had another order since; this counts the others.") : "",
	facts([["Plan", one.plan && el("code", {}, one.plan.slice(0, 16))]]));
}

function poolsOf(one) {
	return section("Pools", table("Pools", ["Pool", "Done", "Under way", "To come", "Failed", "First ones", "Away", "Waits for"],
		(one.pools || []).map((pool) => [pool.pool, pool.done + " of " + pool.total, pool.under_way, pool.turn,
			pool.failed + " of " + pool.failure_budget + " allowed", pool.canary ? pool.canary_done + " of " + pool.canary : "–",
			pool.away + " of " + pool.max_unavailable + " allowed", sentence(pool.why)].map((cell) => cell instanceof Node ?
			cell : String(cell)))));
}

function nodesOf(one) {
	const rank = (node) => (meta.states.get(node.state) || {}).bad ? 0 : node.reason ? 1 : 2;
	const nodes = [...(one.nodes || [])].sort((a, b) => rank(a) - rank(b));
	return section("Nodes", table("Nodes", ["Node", "Pool", "Batch", "What", "Order", "State", "Why"],
		nodes.slice(0, NODES_MAX).map((node) => [nodeLink(node.node), node.pool, node.batch < 0 ? "–" : String(node.batch), node.class,
			node.status, node.state, sentence(node.reason)])),
	nodes.length > NODES_MAX ? el("p", { class: "dim" }, "and " + plural(nodes.length - NODES_MAX, "more node")) : "");
}

function oneOf(one) {
	return [el("p", { class: "crumbs" }, el("a", { href: "#/rollouts" }, "Rollouts"), " / ", one.id),
		el("h2", { class: "title" }, one.id, " ", stateChip(one)),
		one.reason ? el("p", { class: "why" }, sentence(one.reason)) : "", progressOf(one),
		el("p", { class: "line" }, rolloutCounts(one) || "nothing done", " of ", plural(one.total, "node")),
		facts([["By", one.by], ["Began", dateEl(one.started_ms)], ["Ended", one.ended_ms ? dateEl(one.ended_ms) : ""],
			["Took", tookText(one)], ["Estimated end", leftOf(one)], ["Revision", one.revision && one.revision.slice(0, 12)],
			["Commit", one.commit && one.commit.slice(0, 12)], ["Only", one.limit]]),
		el("div", { class: "acts" }, rolloutButtons(one, notice)),
		el("ul", { class: "commands" }, commandsFor(one).map((text) => el("li", {}, command(text)))),
		planOf(one), poolsOf(one), nodesOf(one)].filter(Boolean);
}

export function rollouts(page) {
	const id = page.argument, root = el("div", {}, el("p", { class: "empty" }, "Asking the appliance."));
	let key = "", askedMs = 0, timer = null, closed = false;

	async function refresh() {
		timer = null;
		askedMs = Date.now();
		try {
			const answer = await fetchJson("/v1/rollouts" + (id ? "/" + encodeURIComponent(id) : ""));
			if (!closed)
				keepFocus(() => root.replaceChildren(...(id ? oneOf(answer) : [el("h2", { class: "title" }, "Rollouts"),
					listOf(answer.rollouts)])));
		} catch (error) {
			if (error.status === 404 && !closed)
				root.replaceChildren(empty("There is no rollout " + id + "."));
			key = "";
		}
	}
	return { root, title: id || "rollouts", close() { closed = true; clearTimeout(timer); },
		update(change) {
			const now = JSON.stringify(live.status.rollout);
			if ((change.whole || now !== key || (id && change.nodes.length)) && !timer)
				timer = setTimeout(refresh, Math.max(0, askedMs + AGAIN_MS - Date.now()));
			key = now;
		} };
}
