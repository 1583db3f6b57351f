// SPDX-License-Identifier: Apache-2.0
// The first view: counts, what needs a person first, the rollout, the nodes as cells and as
// a list. Called by app.js. Invariant: a change costs what it changed: cells of changed
// nodes, rows that are shown.
import { GLYPHS, chip, command, dateEl, duration, el, empty, keyedList, nodeLink,
	plural, section, setText, show } from "./dom.js";
import { createGrid } from "./grid.js";
import { leftOf } from "./view_rollouts.js";
import { fetchJson, isFound, live, serverNow, toneFor } from "./live.js";
import { ROLLOUT_TONES, causeOf, commandsOf, countedAs, isReady, meta, needsOf, notesOf, rolloutCounts,
	rolloutState, sentence, stateOf, summaryOf, toneCounted } from "./words.js";

const ROWS = 50, ROWS_MORE = 200, NEEDS = 5, NAMES = 4;

/* Counts */

// [{state, count, tone}], what cannot be counted on first.
function countStates(nodes) {
	const counts = new Map();
	for (const node of nodes) {
		const state = countedAs(node);
		if (!counts.has(state))
			counts.set(state, { state, count: 0, tone: toneCounted(node),
				place: meta.order.indexOf(node.state) });
		counts.get(state).count++;
	}
	const bad = (one) => one.tone === "bad" ? 0 : 1;
	return [...counts.values()].sort((a, b) => bad(a) - bad(b) || a.place - b.place);
}

function createCounts(page) {
	const strong = el("strong"), text = el("span");
	const ready = el("span", { "data-tone": "good" }), bad = el("span", { "data-tone": "bad" });
	const chips = el("div", { class: "filters", role: "group", "aria-label": "Only nodes in one state" });
	const root = el("section", { class: "summary", "aria-label": "Summary" },
		el("p", { class: "headline" }, strong, text),
		el("div", { class: "share", "aria-hidden": "true" }, ready, bad), chips);
	const fill = keyedList(chips, () => ({ root: el("a", { class: "chip" }) }), (row, one) => {
		const chosen = page.params.get("state") === one.state;
		row.root.dataset.tone = one.tone;
		row.root.id = "only-" + one.state.replaceAll(" ", "-");
		row.root.href = page.link({ state: chosen ? "" : one.state });
		setText(row.root, GLYPHS[one.tone] + " " + one.count.toLocaleString("en") + " " + one.state);
		row.root.toggleAttribute("data-chosen", chosen);
		if (chosen)
			row.root.setAttribute("aria-current", "true");
		else
			row.root.removeAttribute("aria-current");
	});
	return { root, update(nodes, counts) {
		const total = nodes.length;
		const count = nodes.filter(isReady).length, rest = summaryOf(nodes);
		const worst = counts.filter((one) => one.tone === "bad").reduce((sum, one) => sum + one.count, 0);
		setText(strong, total ? count.toLocaleString("en") + " / " + total.toLocaleString("en") : "–");
		setText(text, total ? "nodes ready" + (rest ? ", " + rest : "") :
			"no profile is applied yet");
		ready.style.width = 100 * count / (total || 1) + "%";
		bad.style.width = 100 * worst / (total || 1) + "%";
		fill(counts, (one) => one.state);
	} };
}

/* Needs a person */

// The daemon's own lines of one node, asked for once for each version of it.
const whys = new WeakMap();

async function whyOf(node) {
	if (!whys.has(node))
		whys.set(node, fetchJson("/v1/nodes/" + encodeURIComponent(node.name))
			.then((one) => one.why, () => []));
	return whys.get(node);
}

function createNeed(page) {
	const sign = el("span", { class: "sign", "aria-hidden": "true" });
	const title = el("h3"), names = el("span", { class: "names" }), why = el("p", { class: "why" });
	const remedy = el("p", { class: "remedy" });
	const root = el("li", { class: "need" }, sign, el("div", {}, title, names, why, remedy));
	return { root, async update(group) {
		const [first] = group.nodes;
		const tone = toneCounted(first) === "bad" ? "bad" : "wait";
		root.dataset.tone = tone;
		setText(sign, GLYPHS[tone]);
		setText(title, plural(group.nodes.length, "node") + " " + countedAs(first) +
			(first.held ? ", held by " + first.held.by : ""));
		names.replaceChildren(...group.nodes.slice(0, NAMES).flatMap((node) => [nodeLink(node.name), " "]),
			group.nodes.length > NAMES ? el("a", { href: page.link({ state: countedAs(first) }) },
				"and " + (group.nodes.length - NAMES) + " more") : "");
		setText(why, notesOf(first)[0] || sentence(causeOf(first)));
		const commands = commandsOf(await whyOf(first), first.name);
		remedy.replaceChildren(...[...commands, "bringup node why " + first.name].slice(0, 4).map(command));
	} };
}

function createNeeds(page) {
	const list = el("ul", { class: "needs" }), more = el("p", { class: "dim" });
	const root = section("Needs a person", list, more);
	const fill = keyedList(list, () => createNeed(page), (row, group) => row.update(group));
	const nodesOf = new Map(); // key: the group as it was, so that equal ones are the same
	return { root, update(nodes) {
		const groups = needsOf(nodes).map((group) => {
			const old = nodesOf.get(group.key);
			const same = old && old.nodes.length === group.nodes.length && old.nodes[0] === group.nodes[0];
			if (!same)
				nodesOf.set(group.key, group);
			return same ? old : group;
		});
		fill(groups.slice(0, NEEDS), (group) => group.key);
		setText(more, groups.length > NEEDS ? "and " + plural(groups.length - NEEDS, "further reason") +
			"; they are in the list below" : "");
		show(root, groups.length > 0);
	} };
}

/* The rollout that is under way, else the last one */

function createRollout() {
	const body = el("div", { class: "card" });
	const root = section("Rollout", body);
	return { root, update(rollout) {
		show(root, Boolean(rollout));
		if (!rollout)
			return;
		const state = rolloutState(rollout);
		const tone = ROLLOUT_TONES[state] || "idle";
		body.replaceChildren(
			el("p", { class: "line" }, chip(tone, state),
				el("a", { href: "#/rollouts/" + encodeURIComponent(rollout.id) }, rollout.id),
				el("span", { class: "dim" }, rolloutCounts(rollout) || "nothing done",
					" of " + plural(rollout.total, "node")),
				el("span", { class: "dim" }, "by " + rollout.by + ", ", dateEl(rollout.started_ms)),
				el("span", {}, leftOf(rollout))),
			el("progress", { max: rollout.total || 1, value: rollout.done, "aria-label": "Nodes done" }),
			rollout.reason ? el("p", { class: "why" }, sentence(rollout.reason)) : "");
	} };
}

/* The list */

function createRow() {
	const name = el("a", { class: "name" }), state = el("span", { class: "chip" });
	const place = el("span", { class: "dim" }), since = el("span", { class: "dim since" });
	const why = el("span", { class: "why" });
	const root = el("li", { class: "node" }, name, place, state, since, why);
	const row = { root, node: null, since };
	row.update = (node) => {
		const tone = toneFor(node);
		row.node = node;
		root.dataset.tone = tone;
		name.href = "#/node/" + encodeURIComponent(node.name);
		setText(name, node.name);
		setText(place, [node.pool, node.rack && node.rack + (node.slot ? "/" + node.slot : ""), node.serial]
			.filter(Boolean).join(" · "));
		state.dataset.tone = tone;
		setText(state, GLYPHS[tone] + " " + stateOf(node));
		setText(why, [progressText(node), ...notesOf(node)].filter(Boolean).join("; "));
		show(why, why.textContent !== "");
		row.tick();
	};
	row.tick = () => setText(since, row.node.since_ms ? duration(serverNow() - row.node.since_ms) : "");
	return row;
}

function progressText(node) {
	const now = node.progress;
	return now && now.total_bytes > 0 ? now.stage + " " +
		Math.floor(100 * now.done_bytes / now.total_bytes) + " %" : "";
}

const TONE_ORDER = ["bad", "wait", "busy", "rest", "idle", "good"];

function createList() {
	const list = el("ul", { class: "nodes", "aria-label": "Nodes" }), count = el("span", { class: "dim" });
	const more = el("button", { type: "button", class: "more" }, "Show more");
	const none = empty("No node fits the search and the filter.");
	const root = el("section", {}, el("h2", {}, "Nodes ", count), list, none, more);
	let shown = [], wanted = ROWS, all = [];
	const fill = keyedList(list, createRow, (row, node) => row.update(node));
	const draw = () => {
		const byTone = new Map(TONE_ORDER.map((tone) => [tone, []]));
		for (const node of all)
			byTone.get(toneFor(node)).push(node);
		shown = [...byTone.values()].flat().slice(0, wanted);
		fill(shown, (node) => node.name);
		setText(count, shown.length < all.length ? shown.length + " of " + all.length.toLocaleString("en") +
			", the worst first" : String(all.length));
		show(more, shown.length < all.length);
		show(none, all.length === 0);
	};
	more.addEventListener("click", () => { wanted += ROWS_MORE; draw(); });
	return { root, update(nodes) { all = nodes; draw(); },
		tick() {
			for (const time of list.querySelectorAll(".since")) {
				const node = live.byName.get(time.parentElement.firstElementChild.textContent);
				if (node && node.since_ms)
					setText(time, duration(serverNow() - node.since_ms));
			}
		} };
}

/* The view */

export function overview(page) {
	const counts = createCounts(page), needs = createNeeds(page), rollout = createRollout(), list = createList();
	const state = page.params.get("state") || "", query = page.params.get("q") || "";
	const isWanted = (node) => (!state || countedAs(node) === state) && isFound(node, query);
	const grouping = () => page.params.get("by") ||
		(live.status.nodes.some((node) => node.rack) ? "rack" : "pool");
	const grid = createGrid({ toneOf: toneFor, isFound: isWanted, say: page.say,
		describe: (node) => [node.name + ", " + stateOf(node), ...notesOf(node).slice(0, 1)].join(": "),
		open: (node) => page.go("#/node/" + encodeURIComponent(node.name)) });
	const by = ["rack", "pool"].map((name) => el("a", { class: "tab", id: "by-" + name, href: page.link({ by: name }) }, "by " + name));
	const key = el("p", { class: "key" }, [["good", "in service"], ["busy", "at work"], ["rest", "waits"],
		["wait", "needs a look"], ["bad", "bad or away"], ["idle", "idle"]].map(([tone, words]) =>
		el("span", { "data-tone": tone }, el("i", { "aria-hidden": "true" }, GLYPHS[tone]), " " + words)));
	const nothing = el("p", { class: "empty", hidden: true }, "No profile is applied yet: ",
		el("code", {}, "bringup apply DIR"), " names the nodes.");
	const cells = el("section", {}, el("h2", {}, "Cells ", by), grid.root, key);
	const root = el("div", { class: "overview" }, counts.root, needs.root, rollout.root, nothing, cells, list.root);
	const labelOf = (states) => states.map((one) => one.count + " " + one.state).join(", ") +
		" as cells; arrows move, Enter opens";
	let filled = -1; // so many nodes are in the cells

	function update(change) {
		const { status } = live, { nodes } = status;
		const wanted = state || query ? nodes.filter(isWanted) : nodes;
		const states = countStates(nodes), label = labelOf(states);
		counts.update(nodes, states);
		needs.update(nodes);
		rollout.update(status.rollout);
		list.update(wanted);
		show(nothing, nodes.length === 0);
		show(cells, nodes.length > 0);
		show(list.root, nodes.length > 0);
		by.forEach((tab) => tab.toggleAttribute("data-chosen", tab.textContent.endsWith(grouping())));
		const others = change.whole || change.gone.length || nodes.length !== filled;
		if (others)
			requestAnimationFrame(() => grid.fill(nodes, grouping(), label));
		else
			grid.touch(change.nodes, label);
		filled = nodes.length;
	}
	return { root, title: "overview", update, tick: list.tick, close: grid.close };
}
