// SPDX-License-Identifier: Apache-2.0
// What a person does by the page: verbs on a node, orders for a rollout. Used by the views.
// Invariants: a button is there only for who may use it; nothing is done before a dialog
// has said what would come of it; the daemon decides, and its words are shown as they are.
import { el, setText, show } from "./dom.js";
import { post } from "./live.js";
import { choicesOf, may, meta } from "./words.js";

const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Choices as a list to select from; null without any.
function chooser(label, id, choices) {
	if (!choices.length)
		return null;
	const select = el("select", { id }, choices.map((one) => el("option", { value: one }, one)));
	return { select, root: el("p", { class: "line" }, el("label", { for: id }, label), select) };
}

/* act: {title, help, button, typed, fields: [element], look() → text, run() → text, done(text)}
 * look asks what would come of it; typed: a word that has to be typed first. */
function openDialog(act) {
	const outcome = el("p", { class: "outcome", role: "status" }, "Asking what it would do …");
	const trouble = el("p", { class: "trouble", role: "alert" });
	const go = el("button", { type: "submit", class: "go" }, act.button);
	const back = el("button", { type: "button", class: "more" }, "Cancel");
	const word = el("input", { id: "typed", autocomplete: "off", spellcheck: "false" });
	const form = el("form", {}, el("h2", { id: "act-title" }, act.title), act.help ? el("p", {}, act.help) : "", act.fields,
		act.typed ? el("p", { class: "line" }, el("label", { for: "typed" }, "Type " + act.typed + " to go on"), word) : "",
		outcome, trouble, el("p", { class: "line ends" }, back, go));
	const dialog = el("dialog", { "aria-labelledby": "act-title" }, form);
	let fits = false, asked = 0, running = false;

	const judge = () => { go.disabled = running || !fits || (Boolean(act.typed) && word.value.trim() !== act.typed); };
	async function look() {
		const mine = ++asked;
		fits = false;
		judge();
		try {
			const text = await act.look();
			if (mine !== asked)
				return;
			setText(outcome, text);
			setText(trouble, "");
			fits = true;
		} catch (error) {
			if (mine !== asked)
				return;
			setText(outcome, "");
			setText(trouble, error.message);
		}
		judge();
	}
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		if (go.disabled)
			return;
		running = true;
		judge();
		try {
			const text = await act.run();
			dialog.close();
			act.done(text);
		} catch (error) {
			setText(trouble, error.message);
		}
		running = false;
		judge();
	});
	form.addEventListener("change", (event) => event.target.matches("select") && look());
	word.addEventListener("input", judge);
	back.addEventListener("click", () => dialog.close());
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
	look();
}

/* Verbs on a node */

// The daemon's answer for this one node.
async function askVerb(verb, body) {
	const { nodes: [answer] } = await post("/v1/verbs/" + verb.name, body);
	if (!answer.ok)
		throw new Error(answer.text);
	return answer.text;
}

function openVerb(verb, node, done) {
	const reason = el("input", { id: "reason", autocomplete: "off", maxlength: "200" });
	const op = chooser("What", "op", choicesOf(verb));
	const grant = chooser("Allow", "grant", verb.grant ? meta.classes.filter((one) => one.grant).map((one) => one.name) : []);
	const asks = (dry_run) => askVerb(verb, { nodes: node.name, reason: reason.value.trim() || (dry_run ? "a dry run" : ""),
		...(op && { op: op.select.value }), ...(grant && { grant: grant.select.value }), dry_run });
	openDialog({ title: upper(verb.name) + " " + node.name + "?", help: upper(verb.help) + ".", button: upper(verb.name) + " " + node.name,
		typed: verb.grant || verb.forgets ? node.name : "", fields: [op && op.root, grant && grant.root, el("p", { class: "line" },
			el("label", { for: "reason" }, "Reason"), reason)].filter(Boolean),
		look: () => asks(true), run: () => asks(false), done });
}

export const canDo = (verb) => may("operate") && (!verb.grant || may("grant"));

// first: the remedy that the daemon itself names.
export function verbButton(verb, node, done, first = false) {
	const button = el("button", { type: "button", class: first ? "act first" : "act", id: "verb-" + verb.name, title: verb.help },
		upper(verb.name));
	button.addEventListener("click", () => openVerb(verb, node, done));
	return button;
}

/* Orders for a rollout */

// Each: the word of its route, the states that take it, what it does.
const ORDERS = [["pause", ["running"], "No further node gets its turn; those under way end what they do."],
	["resume ", ["paused", "stopped"], "Nodes get their turns again; the failures of one that stopped itself are forgiven."],
	["abort", ["running", "paused", "stopped"], "What has not started is taken back for good, and what can be is cancelled."]];

export function rolloutButtons(rollout, done) {
	if (!may("operate") || rollout.ended_ms)
		return [];
	return ORDERS.filter(([, states]) => states.includes(rollout.state)).map(([named, , help]) => {
		const word = named.trim();
		const button = el("button", { type: "button", class: "act", id: "order-" + word }, upper(word));
		button.addEventListener("click", () => openDialog({ title: upper(word) + " " + rollout.id + "?", help,
			button: upper(word) + " " + rollout.id, fields: [], look: async () => rollout.done + " of " + rollout.total + " nodes are done.",
			run: async () => { await post("/v1/rollouts/" + encodeURIComponent(rollout.id) + "/" + word); return word; },
			done: () => done(rollout.id + ": " + word) }));
		return button;
	});
}

/* Any other change: a button, a dialog, a request */

export function actButton(label, act) {
	const button = el("button", { type: "button", class: "act" }, label);
	button.addEventListener("click", () => openDialog({ fields: [], button: label, ...act }));
	return button;
}

// "" takes the last one away.
export function notice(news) {
	const line = document.getElementById("notice");
	setText(line, news);
	show(line, Boolean(news));
}
