// SPDX-License-Identifier: Apache-2.0
// The page's words for what /v1/status says: pure, no document, no clock, no import. The
// views draw them; words_test.js asks for them. They say what the command line says
// (cli/render/node_text.c, cli/render/render_rollout.c).
// GET /v1/meta: the tables of the daemon. The page has none of its own.
export const meta = { states: new Map(), verbs: [], conditions: new Map(), reasons: new Map(), links: new Map(),
	track: [], order: [], classes: [], caller: { name: "", role: "", may: [], session: false } };

// What is derived of a node is made once: a node that changes is another object.
let derived = new Map();

function once(name, make) {
	return (node) => {
		if (!derived.has(name))
			derived.set(name, new WeakMap());
		const made = derived.get(name);
		if (!made.has(node))
			made.set(node, make(node));
		return made.get(node);
	};
}

export function takeMeta(tables) {
	derived = new Map();
	const byName = (list, key) => new Map((list || []).map((row) => [row[key], row]));
	meta.states = byName(tables.states, "name");
	meta.conditions = byName(tables.conditions, "name");
	meta.links = byName(tables.links, "name");
	meta.reasons = byName(tables.reasons, "code");
	meta.verbs = tables.verbs || [];
	meta.classes = tables.classes || [];
	meta.caller = { name: "", role: "", may: [], session: false, ...tables.caller };
	const names = (keep) => (tables.states || []).filter(keep).map((row) => row.name);
	const onTrack = (row) => row.place === "in" || (!row.settled && row.place !== "leaving");
	// The way into service; counts stand in the order of the table, what is bad first.
	meta.track = names(onTrack);
	meta.order = [...names((row) => row.bad), ...names((row) => !row.bad)];
}

/* Sentences: the same as model/sentence.c */

// A part of a sentence: {name}, {!name}, {name;}, {name|}, {name:column}, {#name}, {#name one|many}, {?name}.
function holeOf(text) {
	const found = /^([#?!]?)([a-z_]+)([;|]?)(?::([a-z]+))?(?: ([^}]*))?$/.exec(text);
	return found ? { kind: found[1], name: found[2], between: { ";": ";", "|": " or" }[found[3]] || ",",
		column: found[4], words: found[5] } : null;
}

const columns = {
	help: (key) => (meta.states.get(key) || {}).help,
	words: (key) => (meta.conditions.get(key) || {}).words,
	cleared: (key) => (meta.conditions.get(key) || {}).cleared,
	ends: (key) => (meta.reasons.get(key) || {}).ends,
	done: (key) => (meta.links.get(key) || {}).done,
	missing: (key) => (meta.links.get(key) || {}).missing,
};

function columnOf(hole, value) {
	const key = value && typeof value === "object" ? value.code : value;
	return (columns[hole.column] ? columns[hole.column](key) : "") || "";
}

function holeText(hole, args) {
	const value = args[hole.name];
	if (hole.column)
		return columnOf(hole, value);
	if (hole.kind !== "#" && hole.kind !== "?")
		return sentence(value, hole.between);
	const number = Number.isInteger(value) ? value : 0;
	const [one, many] = (hole.words || "").split("|");
	return (hole.kind === "#" ? String(number) : "") +
		(hole.words ? " " + (number === 1 ? one : many) : "");
}

function tells(hole, args) {
	const value = args[hole.name];
	if (hole.column)
		return columnOf(hole, value) !== "";
	if (hole.kind === "#" || hole.kind === "?")
		return Number.isInteger(value) && value !== 0;
	return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

// A part in [brackets] is told by its flag, else by any of its arguments.
function isTold(part, args) {
	const holes = [...part.matchAll(/\{([^}]*)\}/g)].map((one) => holeOf(one[1]));
	const flag = holes.find((hole) => hole && hole.kind === "?" && !hole.words);
	return flag ? tells(flag, args) : holes.some((hole) => hole && tells(hole, args));
}

// Without the parts in [brackets] that these arguments do not tell.
const toldParts = (template, args) => template.replace(/\[([^\]]*)\]/g, (whole, part) =>
	isTold(part, args) ? part : "");

const fill = (template, args) => template.replace(/\{([^}]*)\}/g, (whole, inside) => {
	const hole = holeOf(inside);
	return hole ? holeText(hole, args) : "";
});

// The sentence of a reason, {code, args}; of each of a list; a text as it is.
export function sentence(value, between = ",") {
	if (value === null || value === undefined)
		return "";
	if (Array.isArray(value))
		return value.map((one) => sentence(one)).join(between + " ");
	if (typeof value !== "object")
		return String(value);
	const row = meta.reasons.get(value.code);
	const args = value.args || {};
	if (!row)
		return (value.code || "") + Object.entries(args).map(([name, arg], i) =>
			(i ? ", " : " (") + name + ": " + sentence(arg)).join("") +
			(Object.keys(args).length ? ")" : "");
	const { sentence: template } = row;
	return fill(toldParts(template, args), args);
}

/* Commands: what a sentence tells to type, by its row and never by its text */

const COMMAND = /bringup (node|rollout|fabric|image) ([a-z-]+)( \{[a-z_]+\}| NODE\b)?( --grant [a-z]+)?/g;

function commandsIn(template, args, node) {
	return [...template.matchAll(COMMAND)].map(([, room, verb, object, grant]) =>
		["bringup", room, verb, (object && fill(object.trim(), args)) || (room === "node" ? node : ""),
			(grant || "").trim()].filter(Boolean).join(" "));
}

// The command lines that a reason, or each of a list, tells of; each once.
export function commandsOf(value, node) {
	if (Array.isArray(value))
		return [...new Set(value.flatMap((one) => commandsOf(one, node)))];
	if (!value || typeof value !== "object")
		return [];
	const row = meta.reasons.get(value.code);
	const args = value.args || {};
	return [...new Set([
		...(row ? commandsIn(toldParts(row.sentence, args), args, node) : []),
		...(row ? commandsIn(row.ends || "", args, node) : []),
		...Object.values(args).flatMap((arg) => commandsOf(arg, node)),
	])];
}

// Names of the verbs on nodes that these command lines have.
export const verbsIn = (commands) => new Set(commands.map((line) => line.split(" ")).filter(([, room]) => room === "node")
	.map(([, , verb]) => verb));

// The caller may use routes of this role.
export const may = (role) => meta.caller.may.includes(role);

// What a person can do with the node in its state: [{name, args, grant, help, command}].
export const verbsFor = (node) => meta.verbs.filter((verb) => verb.states.includes(node.state) ||
	(verb.held && Boolean(node.held)))
	.map((verb) => ({ ...verb, command: ["bringup node", verb.name,
		verb.args.replace("NODESET", node.name), verb.grant ? "--grant CLASS" : ""]
		.filter(Boolean).join(" ") }));

// "drained by another: DIMM A3"
export const conditionText = (one) => ((meta.conditions.get(one.name) || {}).words || one.name) +
	(one.detail ? ": " + sentence(one.detail) : "");

/* Nodes */

export const stateRow = (node) => meta.states.get(node.state) || {};
export const inService = (node) => stateRow(node).place === "in";

function toneOfState(node) {
	const row = stateRow(node);
	if (row.bad)
		return "bad";
	if (row.place === "in")
		return "good";
	if (row.manual)
		return "wait";
	return row.settled === false ? "busy" : "idle";
}

export const awayOf = once("away", (node) => (node.conditions || []).filter((one) => one.away));

// Ready, and no condition says otherwise.
export const isReady = (node) => inService(node) && !awayOf(node).length;

// "ready", or "ready, unreachable": a state is believed as far as its facts agree.
export const stateOf = (node) => [node.state,
	...(node.conditions || []).map((one) => one.name)].join(", ");

// What it is counted as: "ready", or "ready but unreachable", as in /v1/status.
export const countedAs = once("counted", (node) => node.state +
	(awayOf(node).length ? " but " + awayOf(node)[0].name : ""));
export const toneCounted = (node) => awayOf(node).length ? "bad" : toneOfState(node);

// What keeps it in its state now; the first is what matters most.
export function waitsOf(node) {
	if (node.held)
		return ["held by " + node.held.by + ": " + sentence(node.held.reason)];
	const step = node.step || {};
	return [
		node.says && (node.says.kind === "wait" ? "waits: " : "not measured: ") +
			sentence(node.says),
		node.cluster_words && "its cluster says: " + node.cluster_words,
		step.error && step.action + " failed: " + step.error + "; trying again",
	].filter(Boolean);
}

// Neither open nor done nor taken back.
export const hasFailed = (order) => Boolean(order) && !order.open && order.status !== "done" &&
	order.status !== "withdrawn" && Boolean(order.status);

// What an applied plan does with the node, until it is done; "" = nothing.
export function orderText(order) {
	if (!order)
		return "";
	const why = order.reason ? ": " + sentence(order.reason) : "";
	if (order.status === "turn")
		return "waits for its turn (" + order.class + ")" + why;
	if (hasFailed(order))
		return "its last order (" + order.class + ") failed" + why;
	return order.open ? order.class + " under way" : "";
}

// Lines below a node. Why it came here is said where nothing keeps it here, and a failure
// that is the reason of its state is said once.
export function notesOf(node) {
	const waits = waitsOf(node);
	const order = hasFailed(node.order) && stateRow(node).bad ? null : node.order;
	return [...waits, ...(node.conditions || []).map(conditionText),
		waits.length ? "" : sentence(node.reason), orderText(order)].filter(Boolean);
}

// Something is in the way: it is not measured, was refused, or its step fails.
const isStuck = (node) => Boolean(node.says && node.says.kind !== "wait") ||
	Boolean(node.refused) || Boolean(node.step && node.step.error);

// good, bad, busy (it works), rest (it waits, and nothing is wrong), wait (it waits for a
// person), idle.
export function toneOf(node) {
	const tone = inService(node) && awayOf(node).length ? "bad" : toneOfState(node);
	if (tone === "bad")
		return tone;
	if (node.held || isStuck(node))
		return "wait";
	return tone === "busy" && waitsOf(node).length ? "rest" : tone;
}

// How much it needs a person, 0 the most; -1 = it does not.
export function needOf(node) {
	if (stateRow(node).bad)
		return 0;
	if (awayOf(node).length)
		return 1;
	if (isStuck(node) || hasFailed(node.order))
		return 2;
	return node.held || stateRow(node).manual ? 3 : -1;
}

const groupOf = once("group", (node) => {
	const need = needOf(node);
	return { need, key: [need, countedAs(node), (causeOf(node) || {}).code || ""].join("/") };
});

// Nodes that need a person, as groups of one state and reason, the worst first:
// [{need, nodes, key}].
export function needsOf(nodes) {
	const groups = new Map();
	for (const node of nodes) {
		const { need, key } = groupOf(node);
		if (need < 0)
			continue;
		if (!groups.has(key))
			groups.set(key, { need, key, nodes: [] });
		groups.get(key).nodes.push(node);
	}
	return [...groups.values()].sort((a, b) => a.need - b.need ||
		b.nodes.length - a.nodes.length);
}

// The reason that matters most of a node; null = none.
export const causeOf = (node) => (node.held && node.held.reason) || node.says || node.refused ||
	node.reason || (hasFailed(node.order) && node.order.reason) || null;

// What the search looks through, in lower case.
export const searchText = (node) => [node.name, node.serial, node.pool, node.rack,
	node.rack && node.slot ? node.rack + "/" + node.slot : "", countedAs(node),
	(node.conditions || []).map((one) => one.name).join(" "), node.held ? "held" : "", node.image, node.machine,
	...notesOf(node)].filter(Boolean).join("\n").toLowerCase();

// Each word of the search is somewhere in the text.
export const finds = (shelf, query) => query.toLowerCase().split(/\s+/).every((word) =>
	shelf.includes(word));

// "1 unreachable, 2 failed, 1 held": of those that are not ready.
export function summaryOf(nodes) {
	const counts = new Map();
	const add = (name) => counts.set(name, (counts.get(name) || 0) + 1);
	for (const node of nodes) {
		if (inService(node) && !isReady(node))
			add(awayOf(node)[0].name);
		else if (stateRow(node).bad)
			add(node.state);
	}
	const held = nodes.filter((node) => node.held).length;
	return [...[...counts].map(([name, count]) => count.toLocaleString("en") + " " + name),
		held ? held.toLocaleString("en") + " held" : ""].filter(Boolean).join(", ");
}

// Done is what went well: a rollout whose nodes failed has ended.
export const rolloutState = (rollout) =>
	rollout.state === "done" && rollout.done !== rollout.total ? "ended" : rollout.state;

export const VERDICT_TONES = { pass: "good", warn: "wait", fail: "bad", inconclusive: "idle" };

export const ROLLOUT_TONES = { running: "busy", paused: "wait", stopped: "bad", aborted: "idle",
	ended: "bad", done: "good" };
const ROLLOUT_COUNTS = [["done", "done"], ["under_way", "under way"],
	["turn", "not started"], ["failed", "failed"], ["withdrawn", "taken back"]];

// "3 done · 2 failed"
export const rolloutCounts = (rollout) => ROLLOUT_COUNTS.filter(([key]) => rollout[key] > 0)
	.map(([key, words]) => rollout[key].toLocaleString("en") + " " + words).join(" · ");

// Unix time at which a rollout ends if it goes on as it did; 0 = nobody can tell.
export function endOf(rollout, nowMs) {
	const over = rollout.done + rollout.failed + rollout.withdrawn;
	const left = rollout.total - over, tookMs = nowMs - rollout.started_ms;
	return rollout.state === "running" && rollout.done > 0 && left > 0 && tookMs > 0 ?
		nowMs + tookMs * left / over : 0;
}

// {option: [words]}: "on|off NODESET" asks for one of two before the nodes.
export const choicesOf = (verb) => verb.args.includes(" ") ? verb.args.split(" ")[0].split("|") : [];

// What is wrong with the whole site: [{tone, text}].
export const alarmsOf = (status) => [
	...(status.trouble ? [{ tone: "bad", text: "The applied profile cannot be read: " +
		status.trouble + ". No node is moved until a corrected one is applied." }] : []),
	...(status.conditions || []).map((one) => ({ tone: "bad", text: conditionText(one) })),
	...(status.brakes || []).map((one) => ({ tone: "bad",
		text: "The brake is on: " + sentence(one.said) })),
	...(status.warnings || []).map((one) => ({ tone: "wait", text: sentence(one) })),
];

// What a status says once an answer to ?since= has come. A whole answer stands alone; one
// of changes has the nodes that changed, and names those that are gone.
export function mergeStatus(status, answer) {
	if (!status || !answer.since)
		return answer;
	const changed = new Map(answer.nodes.map((node) => [node.name, node]));
	const gone = new Set(answer.gone);
	const kept = status.nodes.filter((node) => !gone.has(node.name)).map((node) => {
		const other = changed.get(node.name);
		changed.delete(node.name);
		return other || node;
	});
	return { ...answer, since: 0, gone: [], nodes: [...kept, ...changed.values()] };
}
