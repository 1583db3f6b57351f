// SPDX-License-Identifier: Apache-2.0
// The site itself: the appliance, its conditions, brakes, certificates, backup, agents,
// clusters, unknown machines, tokens and the log. Called by app.js.
import { actButton, notice } from "./acts.js";
import { bytesText, chip, dateEl, duration, el, empty, facts, keepFocus, section, table } from "./dom.js";
import { fetchJson, live, post, serverNow } from "./live.js";
import { may, meta, sentence } from "./words.js";

const AGAIN_MS = 10000;

function applianceSection(status, log) {
	const appliance = status.appliance || {};
	const end = log && log.events[log.events.length - 1];
	return section("Appliance", facts([["Version", appliance.version],
		["Up for", Number.isFinite(appliance.uptime_s) && duration(appliance.uptime_s * 1000)],
		["Epoch", status.epoch], ["Site", status.site], ["Revision", status.revision && status.revision.slice(0, 16)],
		["Commit", status.commit && status.commit.slice(0, 16)],
		["Log", end && el("span", {}, "row " + end.seq.toLocaleString("en") + ", of ", dateEl(end.time_ms))],
		["Its clock", dateEl(serverNow())]]));
}

function conditionsSection(status) {
	const rows = (status.conditions || []).map((one) => {
		const row = meta.conditions.get(one.name) || {};
		return [chip("bad", row.words || one.name), one.since_ms ? dateEl(one.since_ms) : "–", sentence(one.detail),
			row.cleared || ""];
	});
	const brakes = (status.brakes || []).map((one) => el("li", {}, sentence(one.said)));
	const warnings = (status.warnings || []).map((one) => el("li", {}, sentence(one)));
	return section("Conditions", rows.length ? table("Conditions of the site",
		["Condition", "Since", "Detail", "It ends when"], rows) : empty("None: the site is as it should be."),
	brakes.length ? [el("h3", {}, "Brakes"), el("ul", { class: "lines" }, brakes)] : "",
	warnings.length ? [el("h3", {}, "Warnings"), el("ul", { class: "lines" }, warnings)] : "");
}

const LATE_MS = 30 * 86400000;

function certificatesSection({ appliance }) {
	const rows = ((appliance || {}).certificates || []).map((one) => {
		const left = one.until_ms - serverNow();
		return [one.name, dateEl(one.from_ms), duration(serverNow() - one.from_ms), dateEl(one.until_ms),
			chip(left < 0 ? "bad" : left < LATE_MS ? "wait" : "good", left < 0 ? "over" : duration(left) + " left")];
	});
	return rows.length ? section("Certificates of the appliance", table("Certificates of the appliance",
		["Certificate", "Made", "Age", "Ends", ""], rows)) : "";
}

const TOKEN_TONES = { live: "good", expired: "idle", revoked: "idle" };

// For those who may make and revoke them.
function tokensSection(tokens, again) {
	if (!tokens)
		return "";
	const revoke = (one) => one.state === "live" ? actButton("Revoke " + one.name, { title: "Revoke the token " + one.name + "?",
		look: async () => "No request with it is answered from then on, and its sessions of the page end.",
		run: () => post("/v1/tokens/" + encodeURIComponent(one.name) + "/revoke"),
		done: () => { notice("The token " + one.name + " is revoked."); again(); } }) : "";
	return section("Tokens", tokens.length ? table("Tokens", ["Token", "Role", "State", "Made by", "Made", "Ends", ""],
		[...tokens].reverse().map((one) => [one.name, one.role, chip(TOKEN_TONES[one.state] || "wait", one.state), one.by, dateEl(one.made_ms),
			dateEl(one.until_ms), revoke(one)])) : empty("There is no token: bringup token create NAME makes one."));
}

function backupSection({ backup }) {
	if (!backup)
		return "";
	const state = backup.running ? chip("busy", "under way") : backup.error ? chip("bad", "the last try failed") :
		backup.at_ms ? chip("good", duration(serverNow() - backup.at_ms) + " old") :
			chip(backup.wanted ? "wait" : "idle", "none was made");
	return section("Backup", facts([["State", state], ["Made", backup.at_ms ? dateEl(backup.at_ms) : ""],
		["Place", backup.to], ["Size", backup.bytes ? bytesText(backup.bytes) : ""], ["Error", backup.error],
		["Planned", backup.wanted ? "" : "no: [site] backup names no place"]]));
}

function agentsSection({ agents }) {
	if (!agents)
		return "";
	return section("Agents", facts([["Version", agents.version || "none is served"], ["Have it", String(agents.have)],
		["Have another", String(agents.others)], ["Change now", (agents.changing || []).join(", ")],
		["Trouble", sentence(agents.trouble)]]));
}

function clustersSection(nodes) {
	const clusters = new Map();
	for (const { cluster } of nodes) {
		if (!cluster)
			continue;
		const one = clusters.get(cluster.name) || { nodes: 0, known: 0, answers: 0, jobs: 0 };
		one.nodes++;
		one.known += cluster.known ? 1 : 0;
		one.answers += cluster.responds ? 1 : 0;
		one.jobs += cluster.jobs ? 1 : 0;
		clusters.set(cluster.name, one);
	}
	return section("Clusters", clusters.size ? table("Clusters", ["Cluster", "Nodes", "It knows", "Respond", "With jobs"],
		[...clusters].map(([name, one]) => [name, one.nodes, one.known, one.answers, one.jobs].map(String))) :
		empty("No cluster has answered for a node yet."));
}

function machinesSection(unknown, nowMs) {
	if (!unknown.length)
		return "";
	return section("Unknown machines", table("Machines that booted and are not in the profile",
		["MAC", "Serial number", "Seen"], unknown.map((one) => [el("code", {}, one.mac || ""), one.serial || "",
			one.last_seen_ms ? duration(nowMs - one.last_seen_ms) + " ago" : ""])));
}

export function site() {
	const root = el("div");
	let tokens = null, unknown = [], log = null, askedMs = 0, timer = null, closed = false;
	const orNone = (promise, none) => promise.catch(() => none);

	function draw() {
		const { status } = live;
		if (!status)
			return;
		keepFocus(() => root.replaceChildren(...[el("h2", { class: "title" }, "Site " + (status.site || "")),
			conditionsSection(status), applianceSection(status, log), certificatesSection(status), backupSection(status), agentsSection(status),
			clustersSection(status.nodes), tokensSection(tokens, refresh), machinesSection(unknown, serverNow())].filter(Boolean)));
	}

	async function refresh() {
		timer = null;
		askedMs = Date.now();
		const [kept, machines, events] = await Promise.all([may("admin") ? orNone(fetchJson("/v1/tokens"), {}) : {},
			orNone(fetchJson("/v1/machines"), {}), orNone(fetchJson("/v1/events?limit=1"), null)]);
		tokens = kept.tokens || null;
		unknown = machines.unknown || [];
		log = events;
		if (!closed)
			draw();
	}
	return { root, title: "site", close() { closed = true; clearTimeout(timer); },
		update(change) {
			if (change.whole)
				draw();
			if (!timer)
				timer = setTimeout(refresh, Math.max(0, askedMs + AGAIN_MS - Date.now()));
		} };
}
