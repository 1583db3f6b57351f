// SPDX-License-Identifier: Apache-2.0
// The log as it grows: its end, what is older on demand, of all or of some nodes; and for
// auditors whether its chain holds. Called by app.js. Invariant: the stream goes on after the last row that is shown, so nothing is
// missed over a lost connection, and ROWS_MAX rows are shown at most.
import { dateEl, el, empty, facts, nodeLink, plural, section, setText, show } from "./dom.js";
import { fetchJson } from "./live.js";
import { finds, may } from "./words.js";

const FIRST = 100, OLDER = 200, ROWS_MAX = 2000, AGAIN_MS = 2000;

function rowOf(event) {
	return el("li", { "data-seq": event.seq }, dateEl(event.time_ms), event.node ? nodeLink(event.node) :
		el("span", { class: "dim" }, "site"), el("span", {}, event.text || event.kind || ""));
}

/* The chain of the log, row by row, as `bringup audit verify` goes along it */

async function verify(say) {
	let at = { after: 0, hash: "", more: true };
	while (at.more) {
		at = await fetchJson("/v1/audit?after=" + at.after + "&hash=" + at.hash);
		say(plural(at.after, "row") + " so far");
	}
	return at;
}

function auditSection() {
	const said = el("div", { "aria-live": "polite" });
	const button = el("button", { type: "button", class: "act", id: "verify" }, "Verify the chain");
	button.addEventListener("click", async () => {
		button.disabled = true;
		try {
			const { anchor } = await fetchJson("/v1/audit/anchor");
			const end = await verify((text) => said.replaceChildren(empty(text)));
			said.replaceChildren(facts([["Chain", "whole: " + plural(end.after, "row")], ["Hash of the last row", el("code", {}, end.hash)],
				...Object.entries(anchor).map(([name, value]) => ["Anchor: " + name, el("code", {}, String(value))])]),
			el("p", { class: "dim" }, "Keep number and hash on another machine: only so a cut end can be told."));
		} catch (error) {
			said.replaceChildren(el("p", { class: "trouble", role: "alert" }, error.message));
		}
		button.disabled = false;
	});
	return section("Audit", el("div", { class: "acts" }, button), said);
}

export function eventsView(page) {
	const node = page.params.get("node") || "", query = (page.params.get("q") || "").toLowerCase();
	const list = el("ol", { class: "events", reversed: true }), none = empty("Nothing has happened yet.");
	const older = el("button", { type: "button", class: "more" }, "Show older ones");
	const trouble = el("p", { class: "why", role: "status" });
	const box = el("input", { id: "events-of", type: "text", value: node, placeholder: "all nodes",
		autocomplete: "off", spellcheck: "false" });
	const form = el("form", { class: "line" }, el("label", { for: "events-of" }, "Of "), box,
		el("button", { type: "submit", class: "more" }, "Show"), el("span", { class: "dim" },
			"a node or a nodeset: gpu[1-9], @pool"));
	const root = el("div", {}, el("h2", { class: "title" }, "Events"), form, trouble, may("audit") ? auditSection() : "", list, none, older);
	const asked = node ? "&node=" + encodeURIComponent(node) : "";
	let last = 0, before = 0, source = null, timer = null, closed = false;

	const isWanted = (event) => !query || finds([event.node, event.kind, event.text].join("\n").toLowerCase(), query);

	function fresh(events) {
		const rows = events.filter((event) => event.seq > last && isWanted(event)).map(rowOf);
		last = Math.max(last, ...events.map((event) => event.seq));
		list.prepend(...rows.reverse());
		while (list.children.length > ROWS_MAX)
			list.lastElementChild.remove();
		show(none, !list.children.length);
	}

	// The browser takes up a broken stream by itself, but not one that was refused.
	function follow() {
		source = new EventSource("/v1/events?follow&after=" + last + asked);
		source.onmessage = (message) => fresh([JSON.parse(message.data)]);
		source.onerror = () => {
			if (source.readyState === EventSource.CLOSED && !closed)
				timer = setTimeout(follow, AGAIN_MS);
		};
	}

	async function begin() {
		try {
			const answer = await fetchJson("/v1/events?limit=" + FIRST + asked);
			if (closed)
				return;
			setText(trouble, "");
			fresh(answer.events);
			last = Math.max(last, answer.after);
			({ before } = answer);
			show(older, before > 0);
			follow();
		} catch (error) {
			if (closed)
				return;
			if (error.status && error.status < 500)
				setText(trouble, "No nodes are meant by " + node + ".");
			else
				timer = setTimeout(begin, AGAIN_MS);
		}
	}

	older.addEventListener("click", async () => {
		const answer = await fetchJson("/v1/events?limit=" + OLDER + "&before=" + before + asked).catch(() => null);
		if (!answer)
			return;
		({ before } = answer);
		list.append(...answer.events.filter(isWanted).reverse().map(rowOf));
		show(older, before > 0);
		page.say(plural(answer.events.length, "older event"));
	});
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		page.go(page.link({ node: box.value.trim() }));
	});
	show(none, false);
	begin();
	return { root, title: "events", update() {}, close() {
		closed = true;
		clearTimeout(timer);
		if (source)
			source.close();
	} };
}
