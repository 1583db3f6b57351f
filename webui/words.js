// SPDX-License-Identifier: Apache-2.0
// The page's words for what /v1/status says: pure, no document, no clock. app.js draws
// them; words_test.js asks for them. They say what the command line says
// (cli/render/node_text.c, cli/render/render_rollout.c).
"use strict";

const TONES = {
	ready: "good", failed: "bad", quarantined: "bad",
	inspecting: "busy", imaging: "busy", booting: "busy", validating: "busy",
	joining: "busy", draining: "wait", servicing: "wait",
};

const awayOf = (node) => (node.conditions || []).filter((one) => one.away);

// Ready, and no condition says otherwise.
const isReady = (node) => node.state === "ready" && !awayOf(node).length;

// "ready", or "ready, unreachable": a state is believed as far as its facts agree.
const stateOf = (node) => [node.state,
	...(node.conditions || []).map((one) => one.name)].join(", ");

// What it is counted as: "ready", or "ready but unreachable", as in /v1/status.
const countedAs = (node) => node.state +
	(awayOf(node).length ? " but " + awayOf(node)[0].name : "");
const toneCounted = (node) => awayOf(node).length ? "bad" : TONES[node.state] || "idle";

// What keeps it in its state now; the first is what matters most.
function waitsOf(node) {
	if (node.held)
		return ["held by " + node.held.by + ": " + node.held.reason];
	const step = node.step || {};
	return [
		node.waiting && "waits: " + node.waiting,
		node.trouble && "not measured: " + node.trouble,
		node.cluster_words && "its cluster says: " + node.cluster_words,
		step.error && step.action + " failed: " + step.error + "; trying again",
	].filter(Boolean);
}

// What an applied plan does with the node, until it is done; "" = nothing.
function orderText(order) {
	if (!order)
		return "";
	const why = order.reason ? ": " + order.reason : "";
	if (order.status === "turn")
		return "waits for its turn (" + order.class + ")" + why;
	if (order.status === "failed")
		return "its last order (" + order.class + ") failed" + why;
	return order.status === "under-way" ? order.class + " under way" : "";
}

// Lines below a node. Why it came here is said where nothing keeps it here, and a failure
// that is the reason of its state is said once.
function notesOf(node) {
	const waits = waitsOf(node);
	const order = node.order && node.order.status === "failed" &&
		TONES[node.state] === "bad" ? null : node.order;
	return [...waits, ...(node.conditions || []).map((one) => one.text),
		waits.length ? "" : node.reason, orderText(order)].filter(Boolean);
}

function toneOf(node) {
	const tone = node.state === "ready" && awayOf(node).length ? "bad" :
		TONES[node.state] || "idle";
	if (tone === "bad")
		return tone;
	return node.held || (tone === "busy" && waitsOf(node).length) ? "wait" : tone;
}

// "1 unreachable, 2 failed, 1 held": of those that are not ready.
function summaryOf(nodes) {
	const counts = new Map();
	const add = (name) => counts.set(name, (counts.get(name) || 0) + 1);
	for (const node of nodes) {
		if (node.state === "ready" && !isReady(node))
			add(awayOf(node)[0].name);
		else if (TONES[node.state] === "bad")
			add(node.state);
	}
	const held = nodes.filter((node) => node.held).length;
	return [...[...counts].map(([name, count]) => count + " " + name),
		held ? held + " held" : ""].filter(Boolean).join(", ");
}

// Done is what went well: a rollout whose nodes failed has ended.
const rolloutState = (rollout) =>
	rollout.state === "done" && rollout.done !== rollout.total ? "ended" : rollout.state;

const ROLLOUT_TONES = { running: "busy", paused: "wait", stopped: "bad", aborted: "idle",
	ended: "bad", done: "good" };
const ROLLOUT_COUNTS = [["done", "done"], ["under_way", "under way"],
	["turn", "not started"], ["failed", "failed"], ["withdrawn", "taken back"]];

// "3 done · 2 failed"
const rolloutCounts = (rollout) => ROLLOUT_COUNTS.filter(([key]) => rollout[key] > 0)
	.map(([key, words]) => rollout[key] + " " + words).join(" · ");

// What is wrong with the whole site: [{tone, text}].
const alarmsOf = (status) => [
	...(status.trouble ? [{ tone: "bad", text: "The applied profile cannot be read: " +
		status.trouble + ". No node is moved until a corrected one is applied." }] : []),
	...(status.conditions || []).map((one) => ({ tone: "bad", text: one.text })),
	...(status.brakes || []).map((one) => ({ tone: "bad",
		text: "The brake is on: " + one.text })),
	...(status.warnings || []).map((text) => ({ tone: "wait", text })),
];

// What a status says once an answer to ?since= has come. A whole answer stands alone; one
// of changes has the nodes that changed, and names those that are gone.
function mergeStatus(status, answer) {
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
