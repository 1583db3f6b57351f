// SPDX-License-Identifier: Apache-2.0
// What the daemon says, kept live: long-polls GET /v1/status for what changed and tells the
// view. Invariant: a node that did not change stays the same object, so what is derived
// from it (textOf, toneFor) is made once.
import { finds, mergeStatus, searchText, takeMeta, toneOf } from "./words.js";

const POLL_WAIT_S = 25;
const POLL_GAP_MS = 250; // at most four drawings a second
const BUSY_S = 30; // a change may wait for another one
const NOTHING = { whole: false, nodes: [], gone: [] };

// locked: why nothing is shown without a login; "" = something is.
export const live = { status: null, byName: new Map(), skewMs: 0, answeredMs: 0, lost: "", locked: "" };

const listeners = new Set();
const memory = { tone: new WeakMap(), text: new WeakMap() };
let learnt = "", logins = 0, unlock = () => {};

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

// The error has the daemon's own words. The browser adds the cookie and, to what changes
// something, the origin that the daemon asks for.
async function call(method, path, body, wait_s) {
	const mine = logins;
	const answer = await fetch(path, { method, cache: "no-cache", body: body && JSON.stringify(body),
		signal: AbortSignal.timeout((wait_s + 15) * 1000) });
	if (answer.ok)
		return answer.json();
	const said = await answer.json().catch(() => ({}));
	const error = new Error((said.error && said.error.text) || "it answers " + answer.status);
	error.status = answer.status;
	if (answer.status === 401 && mine === logins)
		lock(error.message);
	throw error;
}

export const fetchJson = (path, wait_s = 0) => call("GET", path, null, wait_s);
export const post = (path, body = {}) => call("POST", path, body, BUSY_S);

/* Login: a token for a cookie that no script reads */

function lock(why) {
	Object.assign(live, { status: null, locked: why, lost: "" });
	live.byName.clear();
	learnt = "";
	tell(NOTHING);
}

export async function logIn(token) {
	await post("/v1/session", { token });
	logins++;
	live.locked = "";
	unlock();
}

export async function logOut() {
	await call("DELETE", "/v1/session", null, 0);
	lock("You have logged out.");
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
	if (!answer.since)
		await pause(0); // thousands of nodes were read: keys and pointer come first
	if (live.locked)
		throw new Error(live.locked);
	const wasLost = live.lost;
	live.answeredMs = Date.now();
	live.lost = "";
	if (wasLost || !live.status || answer.version !== live.status.version)
		takeStatus(answer);
	else
		tell(NOTHING);
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export async function poll() {
	for (let failures = 0; ; ) {
		try {
			await pollOnce();
			failures = 0;
			await pause(POLL_GAP_MS);
		} catch (error) {
			const wasLocked = Boolean(live.locked);
			if (wasLocked)
				await new Promise((resolve) => { unlock = resolve; });
			if (wasLocked || error.status === 401)
				continue;
			failures += 1;
			live.lost = error.name === "TimeoutError" ? "no answer in time" :
				error.status ? "it answers " + error.status : error.name === "TypeError" ?
					"no connection" : String(error.message);
			tell(NOTHING);
			await pause(Math.min(8000, 500 * 2 ** failures));
		}
	}
}
