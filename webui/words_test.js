// SPDX-License-Identifier: Apache-2.0
// What the page says of nodes and rollouts. Run by words_test.c: node words_test.js
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const names = ["stateOf", "toneCounted", "notesOf", "toneOf", "summaryOf", "isReady", "rolloutState",
	"rolloutCounts", "alarmsOf", "mergeStatus", "takeMeta", "sentence", "meta", "commandsOf",
	"verbsFor", "endOf", "choicesOf", "may", "verbsIn", "needOf", "needsOf", "searchText", "finds"];
// A module without imports: its functions, without the word that gives them away.
const source = fs.readFileSync(path.join(__dirname, "words.js"), "utf8").replace(/^export /gm, "");
vm.runInThisContext(source + "\n;globalThis.words = { " + names.join(", ") + " };");
const { words } = globalThis;

// Rows as GET /v1/meta has them.
words.takeMeta({
	states: [["idle", "none"], ["validating", "out"], ["joining", "entering"], ["ready", "in"],
		["draining", "leaving"], ["failed", "out"]].map(([name, place]) => ({ name, place,
		settled: name === "idle" || name === "ready" || name === "failed",
		bad: name === "failed", help: "help of " + name })),
	conditions: [{ name: "unreachable", words: "its agent does not answer" },
		{ name: "disk-full", words: "the disk is full" }],
	links: [{ name: "script", done: "asked for its script", missing: "no kernel" }],
	reasons: [
		{ code: "probes", sentence: "{#count probe|probes} {a} gave no result[, once a minute{?seldom}]" },
		{ code: "is-so", sentence: "{node} is {state} ({state:help}) for {#s} s" },
		{ code: "over", sentence: "it ended[ ({!how})][; see {more}]" },
		{ code: "chain", sentence: "{link:done}[; {link:missing}][ and {names}]" },
		{ code: "waits", sentence: "waits: {!why}[; it ends when {why:ends}]" },
		{ code: "twins", sentence: "{all;}" },
		{ code: "parts", sentence: "accuse {!parts|}: {cause}" },
		{ code: "partner", sentence: "no partner", ends: "one comes" },
		{ code: "held", sentence: "held by {by}: {!why}; bringup node release {node} ends the hold" },
		{ code: "late", sentence: "late[; bringup node rebuild {node} --grant wipe writes it]",
			ends: "bringup node validate asks again, or bringup rollout abort {rollout}" },
	],
	verbs: [{ name: "retry", args: "NODESET", help: "again", grant: false, states: ["failed"] },
		{ name: "rebuild", args: "NODESET", help: "anew", grant: true, states: ["failed", "ready"] },
		{ name: "free", args: "NODESET", help: "take it back", grant: false, held: true, states: [] }],
	caller: { name: "token ann", role: "operator", may: ["view", "operate"], session: true },
});
assert.deepEqual(words.meta.track, ["validating", "joining", "ready"]);
assert.equal(words.meta.order[0], "failed");

// Sentences come of the rows; the same cases as model/sentence_test.c.
const said = (code, args) => words.sentence({ code, args });
assert.equal(said("probes", { count: 1, a: "n1", seldom: 0 }), "1 probe n1 gave no result");
assert.equal(said("probes", { count: 11, a: "n1", seldom: 1 }),
	"11 probes n1 gave no result, once a minute");
assert.equal(said("is-so", { node: "n1", state: "ready", s: 3 }), "n1 is ready (help of ready) for 3 s");
assert.equal(said("over", { how: { code: "partner" } }), "it ended (no partner)");
assert.equal(said("over", { how: "", more: "" }), "it ended");
assert.equal(said("chain", { link: "script", names: ["a", "b"] }),
	"asked for its script; no kernel and a, b");
assert.equal(said("waits", { why: { code: "partner", args: {} } }),
	"waits: no partner; it ends when one comes");
assert.equal(said("twins", { all: ["a", { code: "chain", args: { names: ["b", "c"] } }] }),
	"a;  and b, c");
assert.equal(said("parts", { parts: [{ code: "partner" }, { code: "twins", args: { all: ["a", "b"] } },
	"c"], cause: "slow" }), "accuse no partner or a; b or c: slow");
assert.equal(said("martians", { count: 3, of: "mars" }), "martians (count: 3, of: mars)");
assert.equal(words.sentence(null), "");
assert.equal(words.sentence("as it is"), "as it is");

// Commands come of the rows: complete, each once, and none of a part that is not told.
assert.deepEqual(words.commandsOf({ code: "held", args: { by: "ops", node: "n1",
	why: { code: "late", args: { node: "n2", rollout: "r-1" } } } }, "n1"),
	["bringup node release n1", "bringup node rebuild n2 --grant wipe", "bringup node validate n1",
		"bringup rollout abort r-1"]);
assert.deepEqual(words.commandsOf([{ code: "late", args: {} }, { code: "partner" }, "text"], "n7"),
	["bringup node validate n7", "bringup rollout abort"]);
const commands = (node) => words.verbsFor(node).map((verb) => verb.command);
assert.deepEqual(commands({ name: "n1", state: "ready" }), ["bringup node rebuild n1 --grant CLASS"]);
assert.deepEqual(commands({ name: "n1", state: "ready", held: { by: "ann" } }),
	["bringup node rebuild n1 --grant CLASS", "bringup node free n1"]);

// Who may do what; a daemon that tells no caller lets nobody do anything.
assert.deepEqual([...words.verbsIn(["bringup node release n1", "bringup rollout abort r-1"])], ["release"]);
assert.equal(words.may("operate"), true);
assert.equal(words.may("grant"), false);
assert.deepEqual(words.choicesOf({ args: "on|off NODESET" }), ["on", "off"]);
assert.deepEqual(words.choicesOf({ args: "NODESET" }), []);

// A rollout ends when the rest has taken as long as what is over did.
const going = { state: "running", started_ms: 1000, total: 10, done: 3, failed: 1, withdrawn: 1 };
assert.equal(words.endOf(going, 11000), 21000);
assert.equal(words.endOf({ ...going, state: "paused" }, 11000), 0);
assert.equal(words.endOf({ ...going, done: 0 }, 11000), 0);
assert.equal(words.endOf({ ...going, done: 8 }, 11000), 0);
assert.equal(words.endOf(going, 500), 0);

const unreachable = { name: "unreachable", detail: "", away: true };
const ready = { state: "ready", settled: true, conditions: [] };
const away = { ...ready, conditions: [unreachable] };

// Ready is said of who can be used.
assert.equal(words.stateOf(away), "ready, unreachable");
assert.equal(words.toneOf(away), "bad");
assert.equal(words.toneCounted(away), "bad");
assert.equal(words.toneCounted({ state: "it is but a name" }), "idle");
assert.equal(words.isReady(away), false);
assert.deepEqual(words.notesOf(away), ["its agent does not answer"]);
assert.equal(words.summaryOf([ready, away]), "1 unreachable");
assert.equal(words.summaryOf([ready, { ...ready, held: { by: "ops", reason: "x" } }]),
	"1 held");
assert.equal(words.toneOf({ ...ready, conditions: [{ name: "not-in-profile", detail: "",
	away: false }] }), "good");

// What a node waits for stands before why it came here, and a hold hides no condition.
const busy = { state: "validating", reason: "once more", conditions: [] };
assert.deepEqual(words.notesOf(busy), ["once more"]);
assert.deepEqual(words.notesOf({ ...busy, says: { kind: "wait", code: "partner" } }), ["waits: no partner"]);
// To wait is nothing wrong; not to be measured is.
assert.equal(words.toneOf({ ...busy, says: { kind: "wait", code: "partner" } }), "rest");
assert.equal(words.toneOf({ state: "draining", conditions: [] }), "busy");
assert.equal(words.needOf({ ...busy, says: { kind: "wait", code: "partner" } }), -1);
assert.deepEqual(words.notesOf({ ...busy, says: { kind: "trouble", code: "partner" } }),
	["not measured: no partner"]);
assert.equal(words.toneOf({ ...busy, says: { kind: "trouble", code: "partner" } }), "wait");
assert.deepEqual(words.notesOf({ ...busy, cluster_words: "job 17" }),
	["its cluster says: job 17"]);
assert.deepEqual(words.notesOf({ ...busy, step: { action: "boot", error: "no domain" } }),
	["boot failed: no domain; trying again"]);
assert.deepEqual(words.notesOf({ ...away, held: { by: "ops", reason: "DIMM" } }),
	["held by ops: DIMM", "its agent does not answer"]);
assert.deepEqual(words.notesOf({ ...ready, order: { status: "turn", class: "reboot",
	reason: "1 is away" } }), ["waits for its turn (reboot): 1 is away"]);
// What failed is bad also while it is held, and its reason is said once.
const failed = { state: "failed", reason: "late", conditions: [],
	order: { status: "failed", class: "wipe", reason: "late" } };
assert.deepEqual(words.notesOf(failed), ["late"]);
assert.deepEqual(words.notesOf({ ...failed, reason: "late, as it is said now" }),
	["late, as it is said now"]);
assert.deepEqual(words.notesOf({ ...ready, reason: "late", order: failed.order }),
	["late", "its last order (wipe) failed: late"]);
assert.equal(words.toneOf({ ...failed, held: { by: "ops", reason: "" } }), "bad");

// Who needs a person: by state and reason together, the worst first.
assert.deepEqual(words.needsOf([ready, { ...ready, name: "h", held: { by: "o", reason: "x" } },
	{ ...away, name: "a" }, { ...failed, name: "f" }, { ...away, name: "b" }])
	.map((group) => group.nodes.map((node) => node.name).join()), ["f", "a,b", "h"]);
const shelf = words.searchText({ ...failed, name: "gpu7", serial: "S00017", rack: "r3", slot: "4" });
for (const query of ["s00017", "GPU7 failed", "r3/4 late", ""])
	assert.equal(words.finds(shelf, query), true, query);
assert.equal(words.finds(shelf, "gpu7 r4"), false);

// Of a rollout whose nodes failed nobody says that it is done.
assert.equal(words.rolloutState({ state: "done", total: 3, done: 3 }), "done");
const ended = { state: "done", total: 5, done: 3, failed: 2 };
assert.equal(words.rolloutState(ended), "ended");
assert.equal(words.rolloutCounts(ended), "3 done · 2 failed");

// The site's own troubles stand above all.
assert.deepEqual(words.alarmsOf({ conditions: [{ name: "disk-full", detail: "" }],
	brakes: [{ said: "rack r2" }], warnings: ["low"], trouble: "" }).map((one) => one.text),
	["the disk is full", "The brake is on: rack r2", "low"]);

// An answer of changes makes the same status as a whole one of its version.
const first = { version: 5, site: "a", nodes: [{ name: "n1", state: "ready" },
	{ name: "n2", state: "ready" }] };
const second = words.mergeStatus(first, { version: 6, since: 5, site: "b", gone: ["n1"],
	nodes: [{ name: "n2", state: "failed" }, { name: "n3", state: "enrolled" }] });
assert.deepEqual(second, { version: 6, since: 0, site: "b", gone: [],
	nodes: [{ name: "n2", state: "failed" }, { name: "n3", state: "enrolled" }] });
assert.deepEqual(words.mergeStatus(second, { version: 6, since: 6, site: "b", gone: [],
	nodes: [] }).nodes, second.nodes);
assert.deepEqual(words.mergeStatus(second, first), first);
assert.deepEqual(words.mergeStatus(null, first), first);
