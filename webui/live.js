// SPDX-License-Identifier: Apache-2.0
// What the daemon says, kept live: long-polls GET /v1/status for what changed and tells the
// view. Invariant: a node that did not change stays the same object, so what is derived
// from it (textOf, toneFor) is made once.
import { finds, mergeStatus, searchText, takeMeta, toneOf } from "./words.js";

const POLL_WAIT_S = 25;
const POLL_GAP_MS = 250; // at most four drawings a second

export const live = { status: null, byName: new Map(), skewMs: 0, answeredMs: 0, lost: "" };

const listeners = new Set();
const memory = { tone: new WeakMap(), text: new WeakMap() };
let learnt = "";

export const onChange = (listener) => {
	listeners.add(listener);
	return () => listeners.delete(listener);
};

const tell = (change) => listeners.forEach((listener) => listener(change));

export const serverNow = () => Date.now() + live.skewMs;

function remembered(map, node, make) {
	if (!map.has(node))
		map.set(node, make(node));
	return map.get(node);
}

export const toneFor = (node) => remembered(memory.tone, node, toneOf);
export const isFound = (node, query) => !query ||
	finds(remembered(memory.text, node, searchText), query);

export async function fetchJson(path, wait_s = 0) {
	const answer = await fetch(path, { cache: "no-cache",
		signal: AbortSignal.timeout((wait_s + 15) * 1000) });
	if (!answer.ok) {
		const error = new Error("it answers " + answer.status);
		error.status = answer.status;
		throw error;
	}
	return answer.json();
}

// Each page of the pairs, until the last or until `isOver` says that it is enough.
export async function eachPairs(take, isOver) {
	let after = 0, more = true;
	while (more && !isOver()) {
		const page = await fetchJson("/v1/fabric/pairs?limit=1000&after=" + after);
		take(page.pairs);
		({ after, more } = page);
	}
	return more;
}

// The tables of the daemon do not change while it runs; another one may have others.
async function learnMeta() {
	const tables = JSON.stringify(await fetchJson("/v1/meta"));
	if (tables === learnt)
		return;
	takeMeta(JSON.parse(tables));
	memory.tone = new WeakMap();
	memory.text = new WeakMap();
	learnt = tables;
}

function takeStatus(answer) {
	const whole = !live.status || !answer.since;
	const nodes = answer.nodes || [];
	live.status = mergeStatus(live.status, { ...answer, nodes });
	live.skewMs = answer.time_ms ? answer.time_ms - Date.now() : 0;
	if (whole)
		live.byName.clear();
	for (const node of nodes)
		live.byName.set(node.name, node);
	for (const name of answer.gone || [])
		live.byName.delete(name);
	tell({ whole, nodes, gone: answer.gone || [] });
}

async function pollOnce() {
	if (!learnt || live.lost)
		await learnMeta();
	const asked = live.status && !live.lost ?
		"?since=" + live.status.version + "&wait=" + POLL_WAIT_S : "";
	const answer = await fetchJson("/v1/status" + asked, POLL_WAIT_S);
	const wasLost = live.lost;
	live.answeredMs = Date.now();
	live.lost = "";
	if (wasLost || !live.status || answer.version !== live.status.version)
		takeStatus(answer);
	else
		tell({ whole: false, nodes: [], gone: [] });
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export async function poll() {
	for (let failures = 0; ; ) {
		try {
			await pollOnce();
			failures = 0;
			await pause(POLL_GAP_MS);
		} catch (error) {
			failures += 1;
			live.lost = error.name === "TimeoutError" ? "no answer in time" :
				error.status ? error.message : error.name === "TypeError" ?
					"no connection" : String(error.message);
			tell({ whole: false, nodes: [], gone: [] });
			await pause(Math.min(8000, 500 * 2 ** failures));
		}
	}
}
