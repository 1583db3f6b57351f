// SPDX-License-Identifier: Apache-2.0
// The page: chooses the view that the address names, draws the frame around it, hears keys.
// Invariants: the address has the view, the filters and the search, so that back, reload and
// a link show the same.
import { byId, duration, el, keyedList, setText, show } from "./dom.js";
import { notice } from "./acts.js";
import { live, onChange, poll } from "./live.js";
import { drawCaller, loginView } from "./login.js";
import { eventsView } from "./view_events.js";
import { fabric } from "./view_fabric.js";
import { images } from "./view_images.js";
import { nodeView } from "./view_node.js";
import { overview } from "./view_overview.js";
import { rollouts } from "./view_rollouts.js";
import { site } from "./view_site.js";
import { alarmsOf, isReady, summaryOf } from "./words.js";

const VIEWS = { "": { title: "Overview", open: overview }, fabric: { title: "Fabric", open: fabric },
	rollouts: { title: "Rollouts", open: rollouts }, images: { title: "Images", open: images }, events: { title: "Events", open: eventsView },
	site: { title: "Site", open: site }, node: { open: nodeView } };
const TYPING_MS = 150, SAY_GAP_MS = 5000;

const here = { name: null, argument: "", view: null, locked: false };

/* The address: #/view/argument?filters */

function parseHash() {
	const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
	const [name, argument] = path.split("/");
	return { name: VIEWS[name] ? name : "", argument: decodeURIComponent(argument || ""),
		params: new URLSearchParams(query || "") };
}

function hashOf(name, argument, params) {
	const query = params.toString();
	return "#/" + name + (argument ? "/" + encodeURIComponent(argument) : "") + (query ? "?" + query : "");
}

// The same view with other filters; "" takes one away.
function linkOf(place, changes) {
	const params = new URLSearchParams(place.params);
	for (const [key, value] of Object.entries(changes))
		if (value)
			params.set(key, value);
		else
			params.delete(key);
	return hashOf(place.name, place.argument, params);
}

let spoken = "";

function say(text) {
	spoken = text;
	setText(byId("say"), text);
}

/* Views */

function drawNav(name) {
	const nav = byId("views");
	if (!nav.children.length)
		nav.append(...Object.entries(VIEWS).filter(([, view]) => view.title).map(([key, view]) =>
			el("a", { href: "#/" + key, "data-view": key }, view.title)));
	for (const link of nav.children)
		if (link.dataset.view === name)
			link.setAttribute("aria-current", "page");
		else
			link.removeAttribute("aria-current");
}

function openView() {
	const place = parseHash();
	const another = place.name !== here.name || place.argument !== here.argument;
	const focused = document.activeElement && document.activeElement.id;
	if (here.view && here.view.close)
		here.view.close();
	if (another)
		notice("");
	const view = VIEWS[place.name].open({ params: place.params, argument: place.argument, say,
		link: (changes) => linkOf(place, changes), go: (hash) => { location.hash = hash; } });
	Object.assign(here, { name: place.name, argument: place.argument, view });
	byId("view").replaceChildren(view.root);
	drawNav(place.name);
	if (document.activeElement !== byId("search"))
		byId("search").value = place.params.get("q") || "";
	if (live.status)
		view.update({ whole: true, nodes: [], gone: [] });
	if (another) {
		scrollTo(0, 0);
		if (document.activeElement === document.body || !document.activeElement)
			byId("main").focus({ preventScroll: true });
	} else if (focused && byId(focused)) {
		byId(focused).focus({ preventScroll: true });
	}
	drawTitle();
}

// Nothing that was shown stays there; the address does.
function openLogin() {
	if (here.view && here.view.close)
		here.view.close();
	document.body.classList.add("locked");
	Object.assign(here, { name: null, view: loginView(), locked: true, drawn: false });
	document.querySelectorAll("dialog").forEach((one) => one.close());
	byId("view").replaceChildren(here.view.root);
	for (const id of ["site", "revision", "about"])
		setText(byId(id), "");
	fillAlarms([], () => "");
	drawCaller();
	drawTitle();
	here.view.focus();
}

function drawTitle() {
	const status = live.status || { nodes: [] };
	const ready = status.nodes.filter(isReady).length;
	document.title = [here.view && here.view.title, live.status && ready + "/" + status.nodes.length + " ready",
		status.site || "bringup"].filter(Boolean).join(" · ");
}

/* The frame */

function drawLink() {
	const age = duration(Date.now() - live.answeredMs), link = byId("link");
	link.dataset.tone = live.lost ? "bad" : live.status ? "good" : "idle";
	setText(link, live.lost ? "✕ connection lost" : live.status ? "● live" : live.locked ? "not logged in" : "connecting");
	show(byId("lost"), Boolean(live.lost));
	setText(byId("lost-why"), live.lost && "The appliance does not answer (" + live.lost + "); trying again.");
	setText(byId("lost-age"), live.status ? "What you see is " + age + " old." : "");
	document.body.classList.toggle("stale", Boolean(live.lost));
}

const fillAlarms = keyedList(byId("alarms"), () => ({ root: el("li", { class: "alarm" }) }), (row, alarm) => {
	row.root.dataset.tone = alarm.tone;
	setText(row.root, alarm.text);
});

let sayMs = 0;

// Aloud what became of the nodes, at most once in a while.
function saySummary(status) {
	if (Date.now() - sayMs < SAY_GAP_MS)
		return;
	const ready = status.nodes.filter(isReady).length, rest = summaryOf(status.nodes);
	const line = ready + " of " + status.nodes.length + " nodes ready" + (rest ? ", " + rest : "");
	if (line === spoken)
		return;
	sayMs = Date.now();
	say(line);
}

function drawFrame() {
	const { status } = live;
	const appliance = status.appliance || {};
	fillAlarms(alarmsOf(status), (alarm) => alarm.text);
	drawCaller();
	setText(byId("site"), status.site || "");
	setText(byId("revision"), status.revision ? "revision " + status.revision.slice(0, 10) : "no revision applied");
	setText(byId("about"), ["bringup " + (appliance.version || ""), Number.isFinite(appliance.uptime_s) ?
		"up for " + duration(appliance.uptime_s * 1000) : "", status.epoch ? "epoch " + status.epoch : ""]
		.filter(Boolean).join(" · "));
	saySummary(status);
	drawTitle();
}

function onLive(change) {
	drawLink();
	if (live.locked && !here.locked)
		openLogin();
	if (!live.status)
		return;
	if (here.locked) {
		here.locked = false;
		document.body.classList.remove("locked");
		openView();
	}
	if (change.whole || change.nodes.length || change.gone.length || !here.drawn)
		drawFrame();
	here.drawn = true;
	// Of all nodes the frame is painted before the view is made.
	if (change.whole)
		setTimeout(() => live.status && here.view.update(change));
	else
		here.view.update(change);
}

/* Search and keys */

let typing = null;

function search(query) {
	const place = parseHash();
	const searches = place.name === "" || place.name === "events";
	if (!searches && !query.trim())
		return;
	const hash = searches ? linkOf(place, { q: query.trim() }) : linkOf({ name: "", argument: "",
		params: new URLSearchParams() }, { q: query.trim() });
	if (hash === location.hash || (hash === "#/" && !location.hash))
		return;
	// The first letter is a step of its own, to go back from.
	history[searches && place.params.get("q") ? "replaceState" : "pushState"](null, "", hash);
	openView();
}

byId("search").addEventListener("input", (event) => {
	clearTimeout(typing);
	typing = setTimeout(() => search(event.target.value), TYPING_MS);
});
byId("search-form").addEventListener("submit", (event) => {
	event.preventDefault();
	clearTimeout(typing);
	search(byId("search").value);
	const first = document.querySelector("#view .nodes a");
	if (first)
		first.focus();
});
byId("skip").addEventListener("click", (event) => {
	event.preventDefault();
	byId("main").focus();
});

// Up and down in a list of links.
function moveInList(event) {
	const list = event.target.closest(".nodes, nav, .needs, .list");
	const links = list ? [...list.querySelectorAll("a")] : [];
	const at = links.indexOf(event.target);
	if (at < 0)
		return;
	const step = event.key === "ArrowDown" || event.key === "ArrowRight" ? 1 : -1;
	const next = links[at + step];
	event.preventDefault();
	if (next)
		next.focus();
}

function escape() {
	const box = byId("search");
	if (document.activeElement === box) {
		box.value = "";
		box.blur();
		clearTimeout(typing);
		search("");
	} else {
		location.hash = "#/";
	}
}

document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || here.locked || event.target.closest("dialog"))
		return;
	const types = event.target.matches && event.target.matches("input, textarea, select");
	if (event.key === "Escape")
		escape();
	else if (event.key === "/" && !types) {
		event.preventDefault();
		byId("search").focus();
		byId("search").select();
	} else if (event.key.startsWith("Arrow") && !types)
		moveInList(event);
});

addEventListener("hashchange", () => here.locked || openView());
setInterval(() => {
	if (live.lost)
		drawLink();
	else if (live.status && here.view && here.view.tick)
		here.view.tick();
}, 1000);
onChange(onLive);
openView();
poll();
