// SPDX-License-Identifier: Apache-2.0
// The fabric: what was measured from leaf to leaf, or from node to node, as a heat map of
// both directions; accused parts; the worst pairs. Called by app.js. Invariant: pairs come
// page by page, PAIRS_MAX at most, and are asked for again only when there are new ones.
import { GLYPHS, bandwidth, canvasOf, chip, colours, command, el, empty, nodeLink, plural, section, setText,
	table } from "./dom.js";
import { eachPairs, fetchJson, live } from "./live.js";
import { VERDICT_TONES, awayOf, commandsOf, causeOf, meta, notesOf, sentence } from "./words.js";

const PAIRS_MAX = 100000, AGAIN_MS = 5000, AXIS_MAX = 96, NODES_FLAT = 64, WORST = 12, ACCUSED_MAX = 50;
const NEAR = 1.03; // of what is expected: just enough

/* Figures: of one direction {gbps, expect, verdict, a, b, rail} */

const ratioOf = (one) => one.expect > 0 ? one.gbps / one.expect : null;

// What is worse stands for both.
function worse(one, other) {
	if (!other)
		return one;
	const a = ratioOf(one), b = ratioOf(other);
	return b === null || (a !== null && a < b) ? one : other;
}

function toneOfCell(one) {
	const ratio = ratioOf(one);
	if (ratio === null)
		return VERDICT_TONES[one.verdict] || "idle";
	return ratio < 1 ? "bad" : ratio < NEAR ? "wait" : "good";
}

// {axis: [name], cells: Map("from|to" → figure), kind}: leaves, or the nodes of one leaf.
function matrixOf(pairs, leaves, rail, leaf) {
	const nodes = new Set(pairs.flatMap((pair) => [pair.a, pair.b]));
	const leafOf = (node, of) => leaves.get(node + "|" + of) || "";
	const flat = leaf || nodes.size <= NODES_FLAT || !leaves.size;
	const cells = new Map(), names = new Set();
	const add = (from, to, figure) => {
		const key = from + "|" + to;
		cells.set(key, worse(figure, cells.get(key)));
	};
	for (const pair of pairs) {
		if (rail && pair.rail !== rail)
			continue;
		const ends = [leafOf(pair.a, pair.rail), leafOf(pair.b, pair.rail)];
		if (leaf && !ends.includes(leaf))
			continue;
		const [a, b] = flat ? [pair.a, pair.b] : ends;
		names.add(a).add(b);
		const more = { expect: pair.expect_gbps, verdict: pair.verdict, rail: pair.rail };
		add(a, b, { gbps: pair.ab_gbps, from: pair.a, to: pair.b, ...more });
		add(b, a, { gbps: pair.ba_gbps, from: pair.b, to: pair.a, ...more });
	}
	const rails = new Map([...leaves].map(([end, name]) => [name, end.split("|")[1]]));
	const place = (name) => (flat ? "" : rails.get(name) || "") + "|" + name; // leaves rail by rail
	return { axis: [...names].sort((a, b) => place(a) < place(b) ? -1 : 1).slice(0, flat ? AXIS_MAX : undefined), cells, flat, all: names.size };
}

/* The heat map */

function createMap(page) {
	const canvas = el("canvas", { tabindex: "0", role: "img" });
	const said = el("p", { class: "dim", "aria-hidden": "true" });
	const port = el("div", { class: "heat" }, canvas);
	const key = el("p", { class: "key" }, [["good", "as expected"], ["wait", "just enough"],
		["bad", "below what is expected"], ["idle", "without an expectation"]].map(([tone, words]) =>
		el("span", { "data-tone": tone }, el("i", { "aria-hidden": "true" }, GLYPHS[tone]), " " + words)));
	const root = el("div", {}, port, said, key);
	let matrix = { axis: [], cells: new Map(), flat: true }, size = 0, left = 0, top = 0, cursor = [0, 0];

	const cellOf = (row, column) => matrix.cells.get(matrix.axis[row] + "|" + matrix.axis[column]);
	const labelOf = (name) => name || "unknown leaf";

	function describe(row, column) {
		const one = cellOf(row, column);
		const way = labelOf(matrix.axis[row]) + " → " + labelOf(matrix.axis[column]);
		if (!one)
			return way + ": not measured";
		return way + ": " + bandwidth(one.gbps) + (one.expect > 0 ? " of " + bandwidth(one.expect) + " expected" : "") +
			" (" + [one.rail, matrix.flat ? "" : "the worst is " + one.from + " → " + one.to].filter(Boolean).join(", ") + ")";
	}

	function draw() {
		const { axis } = matrix, colour = colours();
		const wide = port.clientWidth || 600;
		left = Math.min(96, wide * 0.25);
		size = Math.max(5, Math.min(30, Math.floor((wide - left - 76) / (axis.length || 1))));
		top = size >= 12 ? 72 : 4;
		const context = canvasOf(canvas, left + size * axis.length + 44, top + size * axis.length + 2);
		context.clearRect(0, 0, left + size * axis.length + 44, top + size * axis.length + 2);
		context.font = "12px " + getComputedStyle(document.body).fontFamily;
		context.textBaseline = "middle";
		axis.forEach((name, row) => {
			context.fillStyle = colour("dim");
			if (size >= 12 || row % Math.ceil(14 / size) === 0)
				context.fillText(labelOf(name), 0, top + (row + 0.5) * size, left - 6);
			if (size >= 12) {
				context.save();
				context.translate(left + (row + 0.5) * size, top - 6);
				context.rotate(-Math.PI / 3);
				context.fillText(labelOf(name), 0, 0, 76);
				context.restore();
			}
			axis.forEach((other, column) => drawCell(context, colour, row, column));
		});
		if (document.activeElement === canvas && axis.length) {
			context.strokeStyle = colour("text");
			context.lineWidth = 2;
			context.strokeRect(left + cursor[1] * size, top + cursor[0] * size, size, size);
		}
	}

	function drawCell(context, colour, row, column) {
		const one = cellOf(row, column), gap = size > 8 ? 1 : 0;
		const tone = one ? toneOfCell(one) : "";
		context.fillStyle = colour(tone ? tone + "-fill" : "faint");
		context.fillRect(left + column * size, top + row * size, size - gap, size - gap);
		if (tone !== "bad" || size < 10)
			return;
		context.fillStyle = colour("on-fill");
		context.textAlign = "center";
		context.fillText("✕", left + (column + 0.5) * size, top + (row + 0.5) * size);
		context.textAlign = "start";
	}

	function open(row, column) {
		const one = cellOf(row, column);
		if (!matrix.flat && matrix.axis[row])
			page.go(page.link({ leaf: matrix.axis[row] }));
		else if (one && matrix.flat)
			page.go("#/node/" + encodeURIComponent(matrix.axis[row]));
	}

	function at(event) {
		const column = Math.floor((event.offsetX - left) / size), row = Math.floor((event.offsetY - top) / size);
		const inside = (i) => i >= 0 && i < matrix.axis.length;
		return inside(row) && inside(column) ? [row, column] : null;
	}

	const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
	canvas.addEventListener("keydown", (event) => {
		const step = steps[event.key], last = matrix.axis.length - 1;
		if (event.key === "Enter")
			open(...cursor);
		if (!step || last < 0)
			return;
		event.preventDefault();
		cursor = cursor.map((place, i) => Math.max(0, Math.min(last, place + step[i])));
		draw();
		setText(said, describe(...cursor));
		page.say(describe(...cursor));
	});
	canvas.addEventListener("pointermove", (event) => {
		const place = at(event);
		setText(said, place ? describe(...place) : "");
	});
	canvas.addEventListener("click", (event) => {
		const place = at(event);
		if (place)
			open(...place);
	});
	canvas.addEventListener("focus", draw);
	canvas.addEventListener("blur", draw);
	const observer = new ResizeObserver(draw);
	const dark = matchMedia("(prefers-color-scheme: dark)");
	observer.observe(port);
	dark.addEventListener("change", draw);
	return { root, close() { observer.disconnect(); dark.removeEventListener("change", draw); },
		fill(next) {
			matrix = next;
			cursor = [0, 0];
			const bad = [...matrix.cells.values()].filter((one) => toneOfCell(one) === "bad").length;
			canvas.setAttribute("aria-label", "Heat map from row to column of " + matrix.axis.length +
				(matrix.flat ? " nodes, " : " leaves, ") + bad +
				" of " + matrix.cells.size + " cells below what is expected; arrows move, Enter opens");
			setText(said, "From row to column, " + (matrix.flat ? "a cell is a pair of nodes" :
				"a cell is the worst pair of two leaves") + (matrix.axis.length < matrix.all ? "; the first " +
				matrix.axis.length + " of " + matrix.all : "") + ".");
			draw();
		} };
}

/* Accused parts and the worst pairs */

// The reason names a part of the fabric.
const namesFabric = (said) => Boolean(said && said.args) && ["rail", "leaf", "pair", "link"].some((key) => said.args[key]);

function accusedOf(status) {
	const nodes = status.nodes.filter((node) => namesFabric(node.says) || namesFabric(node.reason) ||
		((meta.states.get(node.state) || {}).bad && !awayOf(node).length && namesFabric(causeOf(node))));
	if (!nodes.length)
		return section("Accused", empty("No node or leaf is accused."));
	return section("Accused", el("ul", { class: "list" }, nodes.slice(0, ACCUSED_MAX).map((node) => el("li", {},
		nodeLink(node.name), " ", el("span", {}, notesOf(node)[0] || sentence(causeOf(node))),
		commandsOf([node.says, node.reason], node.name).slice(0, 1).map(command)))),
	nodes.length > ACCUSED_MAX ? el("p", { class: "dim" }, "and " + plural(nodes.length - ACCUSED_MAX, "more node")) : "");
}

const worstOf = (pair) => pair.expect_gbps > 0 ? Math.min(pair.ab_gbps, pair.ba_gbps) / pair.expect_gbps : 9;

function worstPairs(pairs) {
	const rank = (pair) => ["fail", "warn"].indexOf(pair.verdict) + 1 || 9;
	const worst = pairs.map((pair) => [rank(pair), worstOf(pair), pair])
		.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, WORST).map((one) => one[2]);
	const share = (pair, gbps) => bandwidth(gbps) + (pair.expect_gbps > 0 ? " (" +
		Math.round(100 * gbps / pair.expect_gbps) + " %)" : "");
	return section("The worst pairs", table("The worst pairs", ["Pair", "Rail", "There", "Back", "Expected", "Latency", "Verdict"],
		worst.map((pair) => [[nodeLink(pair.a), " – ", nodeLink(pair.b)], pair.rail, share(pair, pair.ab_gbps),
			share(pair, pair.ba_gbps), pair.expect_gbps > 0 ? bandwidth(pair.expect_gbps) : "–",
			pair.lat_us > 0 ? pair.lat_us.toFixed(1) + " µs" : "–",
			[chip(VERDICT_TONES[pair.verdict] || "idle", pair.verdict), pair.error ? " " + pair.error : ""]])));
}

/* How many directions reach which share of what is expected of them */

const SHARES = [[0.8, "below 80 %"], [0.9, "80 to 90 %"], [0.95, "90 to 95 %"], [1, "95 to 100 %"], [NEAR, "100 to 103 %"],
	[1.1, "103 to 110 %"], [Infinity, "110 % and more"]];

function distribution(pairs) {
	const counts = SHARES.map(() => 0);
	let all = 0;
	for (const pair of pairs) {
		if (!(pair.expect_gbps > 0))
			continue;
		for (const gbps of [pair.ab_gbps, pair.ba_gbps])
			counts[SHARES.findIndex(([below]) => gbps / pair.expect_gbps < below)]++;
		all += 2;
	}
	const most = Math.max(1, ...counts);
	return all ? section("Distribution", el("ol", { class: "way shares", "aria-label": "Directions by their share of what is expected" },
		SHARES.map(([below, words], i) => {
			const bar = el("span", { class: "bar" });
			bar.style.width = (counts[i] ? Math.max(0.5, 100 * counts[i] / most) : 0) + "%";
			return el("li", { "data-tone": below <= 1 ? "bad" : below <= NEAR ? "wait" : "done" }, el("span", {}, words),
				el("span", { class: "gauge", "aria-hidden": "true" }, bar), el("span", { class: "figure" }, counts[i].toLocaleString("en")));
		}))) : "";
}

/* The view */

async function load() {
	const pairs = [], leaves = new Map();
	const wiring = await fetchJson("/v1/topology");
	for (const wire of wiring.wires || [])
		leaves.set(wire.node + "|" + wire.network, wire.switch);
	const more = await eachPairs((page) => pairs.push(...page), () => pairs.length >= PAIRS_MAX);
	return { pairs, leaves, more };
}

export function fabric(page) {
	const rail = page.params.get("rail") || "", leaf = page.params.get("leaf") || "";
	const map = createMap(page), tabs = el("p", { class: "tabs" }), count = el("span", { class: "dim" });
	const accused = el("div"), worst = el("div"), none = empty("No pair of nodes has been measured yet.");
	const body = el("div", {}, tabs, map.root);
	const root = el("div", {}, el("h2", { class: "title" }, "Fabric ", count), none, body, accused, worst);
	let seq = null, askedMs = 0, timer = null, closed = false;
	body.hidden = true;

	function drawTabs(pairs) {
		const rails = [...new Set(pairs.map((pair) => pair.rail))].filter(Boolean).sort();
		const tab = (name, text) => el("a", { class: "tab", id: "rail-" + name, href: page.link({ rail: name }),
			"data-chosen": name === rail }, text);
		tabs.replaceChildren(...[rails.length > 1 ? tab("", "all rails") : "", ...(rails.length > 1 ?
			rails.map((name) => tab(name, name)) : []), leaf ? el("a", { class: "tab", href: page.link({ leaf: "" }) },
			"leaf " + leaf + " ✕ all leaves") : ""].filter(Boolean));
	}

	async function refresh() {
		timer = null;
		askedMs = Date.now();
		try {
			const { pairs, leaves, more } = await load();
			if (closed)
				return;
			setText(count, pairs.length ? (more ? "first " : "") + plural(pairs.length, "pair") : "");
			none.hidden = pairs.length > 0;
			body.hidden = pairs.length === 0;
			drawTabs(pairs);
			map.fill(matrixOf(pairs, leaves, rail, leaf));
			const shown = rail ? pairs.filter((one) => one.rail === rail) : pairs;
			worst.replaceChildren(...(pairs.length ? [distribution(shown), worstPairs(shown)].filter(Boolean) : []));
		} catch {
			seq = null; // again with the next change; the frame says that it does not answer
		}
	}
	return { root, title: "fabric", close() { closed = true; clearTimeout(timer); map.close(); },
		update(change) {
			const next = live.status.pairs_seq;
			if (change.whole || change.nodes.length || !accused.children.length)
				accused.replaceChildren(accusedOf(live.status));
			if ((change.whole || next !== seq) && !timer)
				timer = setTimeout(refresh, Math.max(0, askedMs + AGAIN_MS - Date.now()));
			seq = next;
		} };
}
