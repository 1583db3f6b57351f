// SPDX-License-Identifier: Apache-2.0
// Small helpers of all views: elements, figures as text, chips, command lines. Invariant:
// every text that comes from the daemon becomes a text node, never markup.

export const GLYPHS = { good: "✓", bad: "✕", busy: "●", rest: "◷", wait: "!", idle: "○" };

export const byId = (id) => document.getElementById(id);

// el("p", {class: "x"}, "text", child): children are nodes, plain text, or nothing.
export function el(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== undefined && value !== null && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined &&
		child !== false && child !== ""));
	return element;
}

export function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

export function show(element, visible) {
	element.hidden = !visible;
}

// Puts the wanted children in order, moving only those that are out of place.
export function arrange(parent, wanted) {
	wanted.forEach((child, i) => {
		if (parent.children[i] !== child)
			parent.insertBefore(child, parent.children[i] || null);
	});
	while (parent.children.length > wanted.length)
		parent.lastElementChild.remove();
}

// Rows by a key, made once and updated when their value is another one.
export function keyedList(parent, create, update) {
	const rows = new Map();
	return (values, keyOf) => {
		const keys = new Set(values.map(keyOf));
		for (const key of [...rows.keys()])
			if (!keys.has(key))
				rows.delete(key);
		arrange(parent, values.map((value) => {
			const key = keyOf(value);
			if (!rows.has(key))
				rows.set(key, { row: create(value), value: null });
			const entry = rows.get(key);
			if (entry.value !== value)
				update(entry.row, value);
			entry.value = value;
			return entry.row.root;
		}));
	};
}

// The element that had the keyboard has it again, where one of its id is there anew.
export function keepFocus(change) {
	const { id } = document.activeElement || {};
	change();
	if (id && byId(id) && document.activeElement !== byId(id))
		byId(id).focus({ preventScroll: true });
}

/* Figures as text */

export function duration(ms) {
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

export function bandwidth(gbps) {
	if (!(gbps > 0))
		return "–";
	if (gbps < 1)
		return (gbps * 1000).toFixed(1) + " Mbit/s";
	return gbps.toFixed(gbps < 100 ? 1 : 0) + " Gbit/s";
}

export function bytesText(bytes) {
	const units = ["B", "kB", "MB", "GB", "TB", "PB"];
	let value = bytes || 0, unit = 0;
	for (; value >= 1000 && unit < units.length - 1; unit++)
		value /= 1000;
	return (value < 10 && unit ? value.toFixed(1) : Math.round(value)) + " " + units[unit];
}

const sameYear = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric",
	month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const otherYear = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric",
	month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

// "Mon 30 Nov, 11:14:32"; of another year without the second.
export function dateText(ms) {
	const date = new Date(ms);
	return (date.getFullYear() === new Date().getFullYear() ? sameYear : otherYear).format(date);
}

export const dateEl = (ms) => el("time", { datetime: new Date(ms).toISOString() }, dateText(ms));

export function plural(count, word) {
	return count.toLocaleString("en") + " " + word + (count === 1 ? "" : "s");
}

/* Parts of views */

export function chip(tone, text) {
	return el("span", { class: "chip", "data-tone": tone },
		el("span", { "aria-hidden": "true" }, GLYPHS[tone]), " " + text);
}

export const nodeLink = (name) => el("a", { class: "name", href: "#/node/" + encodeURIComponent(name) },
	name);

// A command line to type, and a button that copies it.
export function command(text) {
	const button = el("button", { type: "button", class: "copy",
		"aria-label": "Copy the command " + text }, "Copy");
	button.addEventListener("click", () => copy(text, button));
	return el("span", { class: "command" }, el("code", {}, text), button);
}

// The clipboard is there for pages of this machine and of TLS alone; else it is selected.
async function copy(text, button) {
	try {
		await navigator.clipboard.writeText(text);
		setText(button, "Copied");
	} catch {
		getSelection().selectAllChildren(button.previousElementSibling);
		setText(button, "Selected");
	}
	setTimeout(() => setText(button, "Copy"), 2000);
}

// Terms and what they are; without those that are empty.
export function facts(pairs) {
	return el("dl", { class: "facts" }, pairs.filter(([, value]) => value !== "" &&
		value !== null && value !== undefined && value !== false)
		.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}

export function section(title, ...children) {
	return el("section", {}, el("h2", {}, title), children);
}

export const empty = (text) => el("p", { class: "empty" }, text);

// A table: heads are texts, rows are lists of cells; on a phone each cell names its head.
export function table(label, heads, rows) {
	return el("div", { class: "scroll" }, el("table", { "aria-label": label },
		el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
		el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, i) =>
			el("td", { "data-head": heads[i], "data-empty": cell === "" }, el("div", {}, cell))))))));
}

// The colours of the style sheet, for what is drawn on a canvas.
export function colours() {
	const style = getComputedStyle(document.documentElement);
	return (name) => style.getPropertyValue("--" + name).trim();
}

// A canvas context whose unit is a CSS pixel.
export function canvasOf(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
	}
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}
