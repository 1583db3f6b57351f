// SPDX-License-Identifier: Apache-2.0
// The nodes as cells on a canvas, in boxes by rack or pool: colour and sign by tone. Used by
// the overview. Invariant: a change of nodes draws their cells alone, and only what is in
// the viewport is ever drawn, however many there are.
import { GLYPHS, canvasOf, colours, el, setText } from "./dom.js";

const GAP = 2, BOX_GAP = 14, LABEL = 18, BOX_COLUMNS = 8, WIDE_FROM = 65;

const cellSize = (count) => count <= 64 ? 30 : count <= 2000 ? 20 : 15;

// A picture of each tone, so that a cell costs one copy.
function makeSprites(size) {
	const colour = colours();
	const sprites = {};
	for (const [tone, glyph] of Object.entries(GLYPHS)) {
		const canvas = document.createElement("canvas");
		const context = canvasOf(canvas, size, size);
		context.fillStyle = colour(tone + "-fill");
		context.beginPath();
		context.roundRect(0, 0, size, size, 3);
		context.fill();
		context.fillStyle = colour("on-fill");
		context.font = "bold " + Math.round(size * 0.66) + "px sans-serif";
		context.textAlign = "center";
		context.textBaseline = "middle";
		context.fillText(glyph, size / 2, size / 2 + 0.5);
		sprites[tone] = canvas;
	}
	return sprites;
}

function groupsOf(nodes, by) {
	const groups = new Map();
	for (const node of nodes) {
		const name = node[by] || "no " + by;
		if (!groups.has(name))
			groups.set(name, []);
		groups.get(name).push(node);
	}
	return groups;
}

// {cells: [{node, x, y}], labels: [{text, x, y, width}], rows: [{y, from, to}], height}
export function layOut(nodes, by, width) {
	const size = cellSize(nodes.length), step = size + GAP;
	const most = Math.max(1, Math.floor((width + GAP) / step));
	const layout = { size, step, cells: [], labels: [], rows: [], height: 0 };
	let x = 0, y = 0, tall = 0, from = 0;
	const endRow = () => {
		layout.rows.push({ y, bottom: y + tall, from, to: layout.cells.length });
		y += tall + BOX_GAP;
		x = tall = 0;
		from = layout.cells.length;
	};
	for (const [name, members] of groupsOf(nodes, by)) {
		const columns = Math.min(most, members.length < WIDE_FROM ? BOX_COLUMNS : most);
		const boxWidth = Math.max(Math.min(columns, members.length) * step, 4 * step);
		if (x && x + boxWidth > width)
			endRow();
		layout.labels.push({ text: name, count: members.length, x, y, width: boxWidth - GAP });
		members.forEach((node, i) => layout.cells.push({ node, x: x + (i % columns) * step,
			y: y + LABEL + Math.floor(i / columns) * step }));
		tall = Math.max(tall, LABEL + Math.ceil(members.length / columns) * step);
		x += boxWidth + BOX_GAP;
	}
	if (x)
		endRow();
	layout.height = Math.max(0, y - BOX_GAP);
	return layout;
}

// options: toneOf(node), isFound(node), describe(node), open(node), say(text)
export function createGrid(options) {
	const canvas = el("canvas", { tabindex: "0", role: "img" });
	const spacer = el("div", { class: "spacer" }, canvas);
	const tip = el("div", { class: "tip", "aria-hidden": "true", hidden: true });
	const port = el("div", { class: "grid" }, spacer, tip);
	let layout = layOut([], "rack", 1), nodes = [], by = "rack", places = new Map();
	let sprites = null, context = null, cursor = -1, width = 0;

	const top = () => port.scrollTop;
	const height = () => Math.min(port.clientHeight || 1, layout.height || 1);

	function drawCell(i) {
		const { node, x, y } = layout.cells[i];
		const { size } = layout, at = y - top();
		context.clearRect(x - 2, at - 2, size + 4, size + 4);
		context.globalAlpha = options.isFound(node) ? 1 : 0.18;
		context.drawImage(sprites[options.toneOf(node)], x, at, size, size);
		context.globalAlpha = 1;
		if (i === cursor && document.activeElement === canvas) {
			context.strokeStyle = colours()("text");
			context.lineWidth = 2;
			context.strokeRect(x - 1, at - 1, size + 2, size + 2);
		}
	}

	const seenRows = () => layout.rows.filter((row) => row.bottom >= top() &&
		row.y <= top() + height());

	function drawLabels() {
		const colour = colours();
		context.font = "600 12px " + getComputedStyle(document.body).fontFamily;
		context.textBaseline = "alphabetic";
		context.fillStyle = colour("dim");
		for (const label of layout.labels)
			if (label.y + LABEL >= top() && label.y <= top() + height())
				context.fillText(label.text, label.x, label.y - top() + 12, label.width);
	}

	function draw() {
		if (!sprites || !width)
			return;
		canvas.style.top = "0";
		context = canvasOf(canvas, width, height());
		context.clearRect(0, 0, width, height());
		drawLabels();
		for (const row of seenRows())
			for (let i = row.from; i < row.to; i++)
				drawCell(i);
	}

	function relay() {
		width = spacer.clientWidth;
		layout = layOut(nodes, by, width);
		sprites = makeSprites(layout.size);
		places = new Map(layout.cells.map((cell, i) => [cell.node.name, i]));
		spacer.style.height = layout.height + "px";
		cursor = Math.min(cursor, layout.cells.length - 1);
		draw();
	}

	// -1 = none is there.
	function cellAt(x, y) {
		const row = layout.rows.find((one) => y >= one.y && y < one.bottom);
		for (let i = row ? row.from : 0; row && i < row.to; i++) {
			const cell = layout.cells[i];
			if (x >= cell.x && x < cell.x + layout.step && y >= cell.y && y < cell.y + layout.step)
				return i;
		}
		return -1;
	}

	// The next cell above or below: the nearest in x of the nearest line.
	function cellBeyond(i, sign) {
		const from = layout.cells[i];
		let best = i, bestCost = Infinity;
		layout.cells.forEach((cell, k) => {
			const far = sign * (cell.y - from.y);
			const cost = far * 4 + Math.abs(cell.x - from.x);
			if (far > 0 && cost < bestCost) {
				bestCost = cost;
				best = k;
			}
		});
		return best;
	}

	function moveTo(i) {
		const old = cursor;
		cursor = Math.max(0, Math.min(layout.cells.length - 1, i));
		const cell = layout.cells[cursor];
		if (cell.y < top() + LABEL)
			port.scrollTop = cell.y - LABEL;
		else if (cell.y + layout.step > top() + port.clientHeight)
			port.scrollTop = cell.y + layout.step - port.clientHeight;
		if (old >= 0 && old < layout.cells.length)
			drawCell(old);
		drawCell(cursor);
		options.say(options.describe(cell.node));
		showTip(cursor);
	}

	function showTip(i) {
		tip.hidden = i < 0;
		if (i < 0)
			return;
		const { node, x, y } = layout.cells[i];
		setText(tip, options.describe(node));
		tip.style.top = y + layout.step + 4 + "px";
		tip.style.left = Math.max(0, Math.min(x, width - 260)) + "px";
	}

	const keys = {
		ArrowRight: () => moveTo(cursor + 1),
		ArrowLeft: () => moveTo(cursor - 1),
		ArrowDown: () => moveTo(cursor < 0 ? 0 : cellBeyond(cursor, 1)),
		ArrowUp: () => moveTo(cursor < 0 ? 0 : cellBeyond(cursor, -1)),
		Home: () => moveTo(0),
		End: () => moveTo(layout.cells.length - 1),
		Enter: () => cursor >= 0 && options.open(layout.cells[cursor].node),
	};
	canvas.addEventListener("keydown", (event) => {
		if (!keys[event.key] || !layout.cells.length)
			return;
		event.preventDefault();
		keys[event.key]();
	});
	canvas.addEventListener("focus", draw);
	canvas.addEventListener("blur", () => { showTip(-1); draw(); });
	canvas.addEventListener("pointermove", (event) =>
		showTip(cellAt(event.offsetX, event.offsetY + top())));
	canvas.addEventListener("pointerleave", () => showTip(-1));
	canvas.addEventListener("click", (event) => {
		const i = cellAt(event.offsetX, event.offsetY + top());
		if (i >= 0)
			options.open(layout.cells[i].node);
	});
	port.addEventListener("scroll", () => { showTip(-1); draw(); });
	const observer = new ResizeObserver(() => spacer.clientWidth !== width ? relay() : draw());
	const dark = matchMedia("(prefers-color-scheme: dark)");
	observer.observe(port);
	dark.addEventListener("change", relay);

	return {
		root: port,
		// All nodes anew: there are others, or they stand otherwise.
		fill(all, grouping, label) {
			nodes = all;
			by = grouping;
			canvas.setAttribute("aria-label", label);
			relay();
		},
		// The cells of these nodes alone.
		touch(changed, label) {
			canvas.setAttribute("aria-label", label);
			for (const node of changed) {
				const i = places.get(node.name);
				if (i === undefined)
					continue;
				layout.cells[i].node = node;
				const { y } = layout.cells[i];
				if (context && y + layout.step >= top() && y <= top() + height())
					drawCell(i);
			}
		},
		draw,
		close() {
			observer.disconnect();
			dark.removeEventListener("change", relay);
		},
	};
}
