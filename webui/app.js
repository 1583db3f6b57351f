// SPDX-License-Identifier: Apache-2.0
// The status page: long-polls GET /v1/status, draws what changed. It only reads, keeps
// no state of its own but the viewer's filter and folds, and puts every text that comes
// from the daemon into text nodes.
"use strict";

const GLYPHS = { good: "✓", bad: "✕", busy: "●", wait: "◷", idle: "○" };
const VERDICT_TONES = { pass: "good", warn: "wait", fail: "bad", inconclusive: "idle" };
const FOLD_FROM = 50;   // a pool with more nodes starts folded
const ROWS_MAX = 200;   // rows drawn of one pool
const PAIRS_MAX = 20;   // pairs drawn until the viewer asks for more
const PAIRS_MORE = 200; // drawn in addition each time
const PAIRS_GAP_MS = 2000; // between two looks at the pairs
const POLL_WAIT_S = 25;
const POLL_GAP_MS = 250; // at most four drawings a second

const view = {
	status: null, skewMs: 0, answeredMs: 0, lost: "", filter: "",
	pools: new Map(), pairs: new Map(), pairsWanted: PAIRS_MAX, pairsSeq: null,
	pairsMs: 0, learnt: false, eventSeq: null, alarms: "",
};

const byId = (id) => document.getElementById(id);

// el("p", {class: "x"}, "text", child): children are nodes or plain text.
function el(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

function show(element, visible) {
	element.hidden = !visible;
}

// Puts the wanted children in order, moving only those that are out of place.
function arrange(parent, wanted) {
	wanted.forEach((child, i) => {
		if (parent.children[i] !== child)
			parent.insertBefore(child, parent.children[i] || null);
	});
	while (parent.children.length > wanted.length)
		parent.lastElementChild.remove();
}

/* Figures as text */

function duration(ms) {
	const s = Math.max(0, ms) / 1000;
	if (s < 10)
		return s.toFixed(1) + " s";
	if (s < 120)
		return Math.round(s) + " s";
	if (s < 600)
		return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
	if (s < 7200)
		return Math.floor(s / 60) + " min";
	if (s < 172800)
		return Math.floor(s / 3600) + " h";
	return Math.floor(s / 86400) + " d";
}

function bandwidth(gbps) {
	if (!Number.isFinite(gbps))
		return "–";
	if (gbps < 1)
		return (gbps * 1000).toFixed(1) + " Mbit/s";
	return gbps.toFixed(gbps < 100 ? 1 : 0) + " Gbit/s";
}

function megabytes(bytes) {
	return Math.round(bytes / 1e6).toLocaleString("en");
}

function clockTime(ms) {
	return new Date(ms).toLocaleTimeString("en-GB");
}

function plural(count, word) {
	return count.toLocaleString("en") + " " + word + (count === 1 ? "" : "s");
}

const serverNow = () => Date.now() + view.skewMs;

/* One node */

function trackOf() {
	const steps = meta.track.map((name) => {
		const time = el("span", { class: "time" });
		const mark = el("span", { class: "sr" });
		const item = el("li", {}, el("span", { class: "line" }),
			el("span", { class: "name" }, name), mark, time);
		return { item, time, mark };
	});
	return { root: el("ol", { class: "track", "aria-label": "Lifecycle" },
		...steps.map((step) => step.item)), steps };
}

// Where the node is in the track, or was when it failed; -1 = nowhere.
function stageIndex(node) {
	const here = meta.track.indexOf(node.state);
	if (here >= 0 || toneOf(node) !== "bad")
		return here;
	const passed = (node.stages || []).map((stage) => meta.track.indexOf(stage.state));
	return passed.length ? passed[passed.length - 1] : -1;
}

function stepTone(node, i, here) {
	if (i < here)
		return "done";
	if (i > here)
		return "todo";
	return isReady(node) && !node.held ? "done" : toneOf(node);
}

const STEP_WORDS = { done: "done", todo: "to come", busy: "now", wait: "waiting",
	bad: "stopped here", good: "done", idle: "" };

function updateTrack(track, node) {
	const here = stageIndex(node);
	const times = new Map();
	for (const stage of node.stages || [])
		times.set(stage.state, (times.get(stage.state) || 0) + stage.ms);
	track.steps.forEach((step, i) => {
		const tone = stepTone(node, i, here);
		const spent = times.get(meta.track[i]);
		step.item.dataset.tone = tone;
		setText(step.mark, " " + STEP_WORDS[tone]);
		if (meta.track[i] !== node.state || node.settled)
			setText(step.time, spent === undefined || meta.states.get(meta.track[i]).settled ?
				"" : duration(spent));
	});
}

function createProgress() {
	const bar = el("progress", { max: "100" });
	const text = el("span");
	return { root: el("p", { class: "progress" }, bar, text), bar, text };
}

function updateProgress(progress, node) {
	const now = node.progress;
	show(progress.root, Boolean(now));
	if (!now)
		return;
	const percent = now.total_bytes > 0 ? 100 * now.done_bytes / now.total_bytes : 0;
	progress.bar.value = percent;
	progress.bar.setAttribute("aria-label", node.name + ": " + now.stage);
	setText(progress.text, now.stage + " " + Math.floor(percent) + " % · " +
		megabytes(now.done_bytes) + " of " + megabytes(now.total_bytes) + " MB");
}

function createRow() {
	const row = { key: "", node: null, name: el("h4"), meta: el("p", { class: "meta" }),
		track: trackOf(), glyph: el("span", { "aria-hidden": "true" }),
		state: el("span"), since: el("span", { class: "since" }),
		progress: createProgress(), why: el("p", { class: "why" }) };
	row.chip = el("p", { class: "chip" }, row.glyph, row.state);
	row.root = el("li", { class: "node" },
		el("div", { class: "who" }, row.name, row.meta),
		el("div", { class: "where" }, row.chip, row.since), row.track.root,
		el("div", { class: "detail" }, row.progress.root, row.why));
	return row;
}

function placeOf(node) {
	const place = [node.rack, node.slot && "slot " + node.slot].filter(Boolean).join(" ");
	return [place, node.firmware, node.image].filter(Boolean).join(" · ");
}

function updateRow(row, node) {
	const key = JSON.stringify(node);
	if (row.key === key)
		return;
	const tone = toneOf(node);
	row.key = key;
	row.node = node;
	row.root.dataset.tone = tone;
	row.chip.dataset.tone = tone;
	setText(row.name, node.name);
	setText(row.meta, placeOf(node));
	row.meta.title = node.machine ? "machine " + node.machine : "";
	setText(row.glyph, GLYPHS[tone]);
	setText(row.state, stateOf(node));
	updateTrack(row.track, node);
	updateProgress(row.progress, node);
	setText(row.why, notesOf(node).join("\n"));
	show(row.why, row.why.textContent !== "");
	tickRow(row);
}

// The running clocks: time in the present state, and in the present step of the track.
function tickRow(row) {
	const node = row.node;
	const here = meta.track.indexOf(node.state);
	const spent = duration(serverNow() - node.since_ms);
	setText(row.since, node.since_ms ? "for " + spent : "");
	if (here >= 0 && !node.settled)
		setText(row.track.steps[here].time, spent);
}

/* Pools */

function createPool(name) {
	const pool = { name, rows: new Map(), shown: [], touched: false,
		count: el("span", { class: "dim" }), counts: el("span", { class: "counts" }),
		list: el("ul", { class: "nodes" }), more: el("p", { class: "empty" }) };
	const summary = el("summary", {}, el("h3", {}, name), pool.count, pool.counts);
	pool.root = el("details", { class: "pool" }, summary, pool.list, pool.more);
	summary.addEventListener("click", () => { pool.touched = true; });
	pool.root.addEventListener("toggle", () => drawPool(pool));
	return pool;
}

function rank(node) {
	const tone = toneOf(node);
	return tone === "bad" ? 0 : node.settled ? 2 : 1;
}

// The rows to draw: all in the profile's order, or, of a large pool, first what needs
// a look.
function pickRows(nodes) {
	const wanted = nodes.filter((node) => !view.filter || countedAs(node) === view.filter);
	if (wanted.length <= ROWS_MAX)
		return wanted;
	return wanted.map((node, i) => [rank(node), i, node])
		.sort((a, b) => a[0] - b[0] || a[1] - b[1])
		.slice(0, ROWS_MAX).map((entry) => entry[2]);
}

function drawPool(pool) {
	const picked = pool.root.open ? pickRows(pool.nodes) : [];
	const left = pool.root.open ? pool.nodes.filter((node) => !view.filter ||
		countedAs(node) === view.filter).length - picked.length : 0;
	pool.shown = picked.map((node) => {
		if (!pool.rows.has(node.name))
			pool.rows.set(node.name, createRow());
		const row = pool.rows.get(node.name);
		updateRow(row, node);
		return row;
	});
	arrange(pool.list, pool.shown.map((row) => row.root));
	setText(pool.more, left > 0 ? plural(left, "more node") +
		"; choose a state above, or see `bringup status`" : "");
	show(pool.more, left > 0);
}

// [{state, count, tone}], what cannot be counted on first.
function countStates(nodes) {
	const counts = new Map();
	const place = (node) => awayOf(node).length ? 0 :
		(meta.order.indexOf(node.state) + 1) || meta.order.length + 1;
	for (const node of nodes) {
		const state = countedAs(node);
		const one = counts.get(state) ||
			{ state, count: 0, tone: toneCounted(node), place: place(node) };
		one.count++;
		counts.set(state, one);
	}
	return [...counts.values()].sort((a, b) => a.place - b.place);
}

function updatePool(pool, nodes) {
	pool.nodes = nodes;
	const names = new Set(nodes.map((node) => node.name));
	for (const name of [...pool.rows.keys()])
		if (!names.has(name))
			pool.rows.delete(name);
	setText(pool.count, plural(nodes.length, "node"));
	setText(pool.counts, countStates(nodes).map((one) => one.count + " " + one.state)
		.join(" · "));
	show(pool.root, !view.filter || nodes.some((node) => countedAs(node) === view.filter));
	if (!pool.touched)
		pool.root.open = nodes.length <= FOLD_FROM || Boolean(view.filter);
	drawPool(pool);
}

function drawPools(nodes) {
	const groups = new Map();
	for (const node of nodes) {
		const name = node.pool || "nodes";
		if (!groups.has(name))
			groups.set(name, []);
		groups.get(name).push(node);
	}
	for (const name of [...view.pools.keys()])
		if (!groups.has(name))
			view.pools.delete(name);
	for (const [name, members] of groups) {
		if (!view.pools.has(name))
			view.pools.set(name, createPool(name));
		updatePool(view.pools.get(name), members);
	}
	arrange(byId("pools"), [...groups.keys()].map((name) => view.pools.get(name).root));
	show(byId("no-nodes"), nodes.length === 0);
}

/* Summary */

function drawFilters(counts) {
	const box = byId("filters");
	const old = new Map([...box.children].map((button) => [button.dataset.state, button]));
	arrange(box, counts.map(({ state, count, tone }) => {
		const button = old.get(state) || el("button", { type: "button", class: "chip",
			"data-state": state, "data-tone": tone });
		if (!old.has(state))
			button.addEventListener("click", () => choose(state));
		setText(button, GLYPHS[tone] + " " + count + " " + state);
		button.setAttribute("aria-pressed", String(view.filter === state));
		return button;
	}));
}

function drawShare(counts, total) {
	const box = byId("share");
	arrange(box, counts.map(({ state, count, tone }) => {
		const part = [...box.children].find((child) => child.dataset.state === state) ||
			el("span", { "data-state": state });
		part.dataset.tone = tone;
		part.style.flexGrow = String(count / total);
		return part;
	}));
}

function choose(state) {
	view.filter = view.filter === state ? "" : state;
	drawStatus();
}

function drawSummary(status) {
	const counts = countStates(status.nodes);
	const total = status.nodes.length;
	const ready = status.nodes.filter(isReady).length;
	const rest = summaryOf(status.nodes);
	if (!counts.some((one) => one.state === view.filter))
		view.filter = "";
	setText(byId("in-service"), total ? ready + " / " + total : "–");
	setText(byId("in-service-text"), !total ? "no nodes yet" : "nodes ready" +
		(rest ? ", " + rest : ""));
	drawShare(counts, total || 1);
	drawFilters(counts);
	setText(byId("site"), status.site || "");
	setText(byId("revision"), status.revision ?
		"revision " + status.revision.slice(0, 10) : "no revision applied");
	document.title = ready + "/" + total + " ready · " + (status.site || "bringup");
}

/* The rollout that is under way, else the last one */

function drawRollout(rollout) {
	show(byId("rollout"), Boolean(rollout));
	if (!rollout)
		return;
	const state = rolloutState(rollout);
	const tone = ROLLOUT_TONES[state] || "idle";
	setText(byId("rollout-id"), [rollout.id, rollout.commit &&
		"commit " + rollout.commit.slice(0, 12)].filter(Boolean).join(" · "));
	byId("rollout-state").dataset.tone = tone;
	setText(byId("rollout-state"), GLYPHS[tone] + " " + state);
	setText(byId("rollout-counts"), plural(rollout.total, "node") + ": " +
		rolloutCounts(rollout));
	setText(byId("rollout-reason"), sentence(rollout.reason));
	show(byId("rollout-reason"), Boolean(rollout.reason));
}

/* Fabric */

function createBar() {
	const fill = el("span", { class: "fill" });
	const goal = el("span", { class: "goal" });
	const label = el("span", { class: "label" });
	const figure = el("span", { class: "figure" });
	return { root: el("p", { class: "bar-row" }, label,
		el("span", { class: "gauge", "aria-hidden": "true" }, fill, goal), figure),
		fill, goal, label, figure };
}

function updateBar(bar, label, gbps, pair) {
	const top = 1.12 * Math.max(pair.ab_gbps || 0, pair.ba_gbps || 0,
		pair.expect_gbps || 0);
	const percent = (value) => (top > 0 ? 100 * (value || 0) / top : 0) + "%";
	setText(bar.label, label);
	setText(bar.figure, bandwidth(gbps));
	bar.fill.dataset.tone = gbps >= pair.expect_gbps ? "good" : "bad";
	bar.fill.style.width = percent(gbps);
	bar.goal.style.left = percent(pair.expect_gbps);
	show(bar.goal, pair.expect_gbps > 0);
}

function createPair() {
	const row = { key: "", name: el("h3"), note: el("p", { class: "meta" }),
		ab: createBar(), ba: createBar(), verdict: el("p", { class: "chip" }) };
	row.root = el("li", { class: "pair" },
		el("div", { class: "who" }, row.name, row.note),
		el("div", { class: "bars" }, row.ab.root, row.ba.root), row.verdict);
	return row;
}

function updatePair(row, pair) {
	const key = JSON.stringify(pair);
	if (row.key === key)
		return;
	const tone = VERDICT_TONES[pair.verdict] || "idle";
	row.key = key;
	setText(row.name, pair.a + " – " + pair.b);
	setText(row.note, [pair.rail, pair.expect_gbps > 0 && "expected " + bandwidth(pair.expect_gbps),
		pair.lat_us > 0 && pair.lat_us.toFixed(pair.lat_us < 100 ? 1 : 0) + " µs"]
		.filter(Boolean).join(" · "));
	updateBar(row.ab, pair.a + " → " + pair.b, pair.ab_gbps, pair);
	updateBar(row.ba, pair.b + " → " + pair.a, pair.ba_gbps, pair);
	row.root.dataset.tone = tone;
	row.verdict.dataset.tone = tone;
	setText(row.verdict, GLYPHS[tone] + " " + (pair.verdict || "running"));
}

// more: there are others, which are not drawn.
function drawPairs(pairs, more) {
	const rows = pairs.map((pair) => {
		const name = pair.a + " " + pair.b + " " + (pair.rail || "");
		if (!view.pairs.has(name))
			view.pairs.set(name, createPair());
		updatePair(view.pairs.get(name), pair);
		return view.pairs.get(name).root;
	});
	arrange(byId("pairs"), rows);
	setText(byId("pairs-count"), pairs.length ?
		(more ? "first " : "") + plural(pairs.length, "pair") : "");
	setText(byId("pairs-more"), "Show more pairs");
	show(byId("pairs-more"), more);
	show(byId("no-pairs"), pairs.length === 0);
}

// Up to so many pairs with one of these verdicts, page by page.
async function fetchPairs(verdicts, count) {
	const pairs = [];
	let after = 0, more = true;
	while (more && pairs.length < count) {
		const page = await fetchJson("/v1/fabric/pairs?verdict=" + verdicts + "&after=" +
			after + "&limit=" + Math.min(1000, count - pairs.length));
		pairs.push(...page.pairs);
		({ after, more } = page);
	}
	return pairs;
}

// The worst first. There may be tens of thousands: only those that are drawn are fetched.
async function updatePairs(again) {
	const seq = view.status.pairs_seq;
	if (!again && (seq === view.pairsSeq || Date.now() - view.pairsMs < PAIRS_GAP_MS))
		return;
	view.pairsMs = Date.now();
	const wanted = view.pairsWanted;
	const pairs = [];
	for (const verdict of ["fail", "warn", "inconclusive", "pass"])
		if (pairs.length <= wanted)
			pairs.push(...await fetchPairs(verdict, wanted + 1 - pairs.length));
	drawPairs(pairs.slice(0, wanted), pairs.length > wanted);
	view.pairsSeq = seq;
}

/* Events */

function drawEvents(events) {
	const newest = [...events].sort((a, b) => b.seq - a.seq);
	const last = newest.length ? newest[0].seq : 0;
	if (last === view.eventSeq)
		return;
	view.eventSeq = last;
	byId("events").replaceChildren(...newest.map((event) => el("li", {},
		el("time", { datetime: new Date(event.time_ms).toISOString() },
			clockTime(event.time_ms)),
		el("span", { class: "event-node" }, event.node || ""),
		el("span", {}, event.text || event.kind || ""))));
	show(byId("no-events"), newest.length === 0);
}

/* Connection */

function drawLink() {
	const age = duration(Date.now() - view.answeredMs);
	const link = byId("link");
	link.dataset.tone = view.lost ? "bad" : view.status ? "good" : "idle";
	setText(link, view.lost ? "✕ connection lost" :
		view.status ? "● live" : "connecting");
	show(byId("lost"), Boolean(view.lost));
	setText(byId("lost-why"), view.lost &&
		"The appliance does not answer (" + view.lost + "); trying again.");
	setText(byId("lost-age"), view.status ? "What you see is " + age + " old." : "");
	document.body.classList.toggle("stale", Boolean(view.lost));
}

// Said aloud when it changes, not with each answer.
function drawAlarms(status) {
	const alarms = alarmsOf(status);
	const key = JSON.stringify(alarms);
	if (key === view.alarms)
		return;
	view.alarms = key;
	byId("alarms").replaceChildren(...alarms.map((alarm) =>
		el("li", { class: "alarm", "data-tone": alarm.tone }, alarm.text)));
}

function drawStatus() {
	const status = view.status;
	drawAlarms(status);
	drawSummary(status);
	drawRollout(status.rollout);
	drawPools(status.nodes);
	const appliance = status.appliance || {};
	setText(byId("about"), ["bringup " + (appliance.version || ""),
		Number.isFinite(appliance.uptime_s) ? "up for " +
			duration(appliance.uptime_s * 1000) : "",
		status.epoch ? "epoch " + status.epoch : ""].filter(Boolean).join(" · "));
}

async function fetchJson(path) {
	const answer = await fetch(path, { cache: "no-store",
		signal: AbortSignal.timeout((POLL_WAIT_S + 15) * 1000) });
	if (answer.status === 204 || answer.status === 304)
		return null;
	if (!answer.ok)
		throw new Error("it answers " + answer.status);
	return answer.json();
}

function takeStatus(status) {
	view.status = mergeStatus(view.status, { ...status, nodes: status.nodes || [] });
	view.skewMs = status.time_ms ? status.time_ms - Date.now() : 0;
	drawStatus();
}

// Once for each bringupd: its tables do not change while it runs.
async function learnMeta() {
	const answer = await fetch("/v1/meta", { cache: "no-cache",
		signal: AbortSignal.timeout(15 * 1000) });
	if (!answer.ok)
		throw new Error("it answers " + answer.status);
	takeMeta(await answer.json());
	view.pools.clear();
	view.learnt = true;
}

async function pollOnce() {
	if (!view.learnt || view.lost)
		await learnMeta();
	const asked = view.status && !view.lost ?
		"?since=" + view.status.version + "&wait=" + POLL_WAIT_S : "";
	const status = await fetchJson("/v1/status" + asked);
	view.answeredMs = Date.now();
	view.lost = "";
	if (status) {
		takeStatus(status);
		await updatePairs(false);
		drawEvents(((await fetchJson("/v1/events?limit=50")) || {}).events || []);
	}
	drawLink();
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function poll() {
	for (let failures = 0; ; ) {
		try {
			await pollOnce();
			failures = 0;
			await pause(POLL_GAP_MS);
		} catch (error) {
			failures += 1;
			view.lost = error.name === "TimeoutError" ? "no answer in time" :
				error.name === "TypeError" ? "no connection" : error.message;
			drawLink();
			await pause(Math.min(8000, 500 * 2 ** failures));
		}
	}
}

function tick() {
	if (view.lost) {
		drawLink();
		return;
	}
	for (const pool of view.pools.values())
		pool.shown.forEach(tickRow);
}

byId("pairs-more").addEventListener("click", () => {
	view.pairsWanted += PAIRS_MORE;
	updatePairs(true).catch(() => {}); // the next poll says what is wrong
});
setInterval(tick, 1000);
poll();
