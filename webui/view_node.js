// SPDX-License-Identifier: Apache-2.0
// One node: its state, why, what to do, its way, machine, checks, fabric and events. Called
// by app.js. Invariant: the node is asked for again when it changed, at most once a second.
import { canDo, notice, verbButton } from "./acts.js";
import { bandwidth, bytesText, chip, command, dateEl, duration, el, empty, facts, keepFocus, nodeLink, plural, section,
	setText, table } from "./dom.js";
import { fetchJson, live, serverNow, toneFor } from "./live.js";
import { VERDICT_TONES, commandsOf, may, meta, notesOf, orderText, sentence, stateOf, verbsFor, verbsIn } from "./words.js";

const AGAIN_MS = 1000, EVENTS = 30, CONSOLE_LINES = 40, CHECKS_MAX = 60, BMC_WAIT_S = 60;

/* Why, and what to do */

function whySection(node) {
	const lines = (node.why || []).map((line) => el("li", {}, sentence(line)));
	const commands = commandsOf(node.why, node.name);
	const verbs = verbsFor(node);
	const named = verbsIn(commands);
	const isNamed = (verb) => named.has(verb.name);
	const done = (text) => notice(node.name + ": " + text);
	const buttons = verbs.filter(canDo).sort((a, b) => isNamed(b) - isNamed(a))
		.map((verb) => verbButton(verb, node, done, isNamed(verb) && !verb.grant && !verb.forgets));
	return section("Why", lines.length ? el("ul", { class: "lines" }, lines) : empty("Nothing is said of it."),
		buttons.length ? [el("h3", {}, "What to do"), el("div", { class: "acts", role: "group", "aria-label": "What to do" }, buttons)] : "",
		commands.length ? [el("h3", {}, "What to type"), el("ul", { class: "commands" },
			commands.map((text) => el("li", {}, command(text))))] : "",
		verbs.length ? el("details", {}, el("summary", {}, "All that its state allows (" + verbs.length + ")"),
			el("ul", { class: "commands" }, verbs.map((verb) => el("li", {}, command(verb.command),
				el("span", { class: "dim" }, verb.help))))) : "");
}

/* Its way: how long it was in each state since its order */

function stagesOf(node) {
	const spent = new Map();
	for (const stage of node.stages || [])
		spent.set(stage.state, (spent.get(stage.state) || 0) + stage.ms);
	const now = node.since_ms ? serverNow() - node.since_ms : 0;
	const names = [...new Set([...meta.track, ...spent.keys(), node.state])];
	return names.map((name) => ({ name, now: name === node.state,
		ms: (spent.get(name) || 0) + (name === node.state ? now : 0), known: spent.has(name) || name === node.state }));
}

function timeline(node) {
	const stages = stagesOf(node);
	const settled = (stage) => (meta.states.get(stage.name) || {}).settled;
	const longest = Math.max(1, ...stages.filter((stage) => !settled(stage)).map((stage) => stage.ms));
	return section("Its way", el("ol", { class: "way" }, stages.map((stage) => {
		const bar = el("span", { class: "bar" });
		bar.style.width = !stage.known ? "0" : settled(stage) ? "100%" :
			(stage.ms ? Math.max(1, 100 * stage.ms / longest) : 0) + "%";
		return el("li", { "data-tone": stage.now ? toneFor(live.byName.get(node.name) || node) :
			stage.known ? "done" : "todo", "aria-current": stage.now ? "step" : undefined,
			title: (meta.states.get(stage.name) || {}).help },
		el("span", {}, stage.name), el("span", { class: "gauge", "aria-hidden": "true" }, bar),
		el("span", { class: "figure" }, stage.known ? duration(stage.ms) : "–"));
	})));
}

/* Its machine */

function counted(list, nameOf) {
	const counts = new Map();
	for (const one of list || [])
		counts.set(nameOf(one), (counts.get(nameOf(one)) || 0) + 1);
	return [...counts].map(([name, count]) => count + " × " + name).join(", ");
}

function hardware(node) {
	const all = node.inventory;
	if (!all)
		return section("Machine", empty("Its agent has not reported what it is made of yet."));
	const { dmi = {}, cpu = {} } = all;
	return section("Machine", facts([
		["Model", [dmi.vendor, dmi.product].filter(Boolean).join(" ")],
		["Serial number", dmi.serial], ["UUID", dmi.uuid], ["Firmware", all.firmware],
		["Processor", cpu.model && (cpu.sockets || 1) + " × " + cpu.model + ", " + cpu.cores + " cores"],
		["Memory", all.memory_bytes && bytesText(all.memory_bytes)],
		["GPUs", counted(all.gpus, (gpu) => gpu.name || gpu.model || [gpu.driver, gpu.device].filter(Boolean).join(" "))],
		["Disks", counted(all.disks, (disk) => (disk.model || disk.name) + " " + bytesText(disk.size_bytes))],
		["Network ports", counted(all.nics, (nic) => [nic.driver, nic.speed_mbps > 0 &&
			bandwidth(nic.speed_mbps / 1000), nic.operstate].filter(Boolean).join(" "))],
		["Kernel", all.kernel],
		["BMC's firmware", counted(node.firmware_versions, (one) => one.name + " " + one.version)],
	]));
}

/* Checks and fabric */

function checksSection(shown) {
	const checks = ((shown.checks || {}).checks) || [];
	if (!checks.length)
		return section("Checks", empty("No checks have been reported."));
	const counts = new Map();
	for (const check of checks)
		counts.set(check.verdict, (counts.get(check.verdict) || 0) + 1);
	const rows = checks.filter((check) => VERDICT_TONES[check.verdict] !== "good");
	const cells = (check) => [chip(VERDICT_TONES[check.verdict] || "idle", check.verdict),
		check.id + (check.subject ? " " + check.subject : ""), check.text + (check.hint ? "; " + check.hint : ""),
		check.expected || "", check.seen || ""];
	return section("Checks", el("p", { class: "line" }, [...counts].map(([verdict, count]) =>
		chip(VERDICT_TONES[verdict] || "idle", count + " " + verdict)),
	el("span", { class: "dim" }, "of ", dateEl(shown.checks.at_ms))),
	rows.length ? table("Checks that do not pass", ["Verdict", "Check", "Finding", "Expected", "Seen"],
		rows.slice(0, CHECKS_MAX).map(cells)) : "");
}

// {rail: Gbit/s}: what the last certificate expects of each rail.
function expectations(certificates) {
	const expected = {};
	for (const one of certificates)
		for (const rail of one.rails || [])
			if (rail.expect)
				expected[rail.rail] = rail.expect.link_gbps * rail.expect.percent / 100;
	return expected;
}

function gauge(gbps, expected) {
	const top = Math.max(gbps || 0, expected || 0) * 1.1 || 1;
	const fill = el("span", { class: "fill", "data-tone": expected && gbps < expected ? "bad" : "good" });
	const goal = el("span", { class: "goal", hidden: !expected });
	fill.style.width = 100 * (gbps || 0) / top + "%";
	goal.style.left = 100 * (expected || 0) / top + "%";
	return el("span", { class: "measure" }, el("span", { class: "gauge", "aria-hidden": "true" }, fill, goal),
		bandwidth(gbps));
}

// [the worst of each rail, the others]
function worstByRail(results) {
	const least = ({ a_to_b: there, b_to_a: back }) => Math.min((there && there.bw_median_gbps) || 0, (back && back.bw_median_gbps) || 0);
	const passed = (result) => result.verdict && VERDICT_TONES[result.verdict] === "good" ? 1 : 0;
	const sorted = [...results].sort((a, b) => passed(a) - passed(b) || least(a) - least(b));
	const worst = new Map();
	for (const result of sorted)
		if (!worst.has(result.rail))
			worst.set(result.rail, result);
	const first = [...worst.values()].sort((a, b) => (a.rail || "") < (b.rail || "") ? -1 : 1);
	return [first, sorted.filter((result) => worst.get(result.rail) !== result)];
}

function fabricSection(node, shown, certificates) {
	const expected = expectations(certificates);
	const heads = ["Rail", "With", "To it", "From it", "Expected", "Latency", "Verdict"];
	const cells = (result) => {
		const first = result.a && result.a.node === node.name;
		const [out, back] = first ? [result.a_to_b, result.b_to_a] : [result.b_to_a, result.a_to_b];
		const other = first ? result.b : result.a;
		const latency = out && out.lat_median_us;
		return [result.rail || "–", other && other.node ? nodeLink(other.node) : "–",
			gauge(out && out.bw_median_gbps, expected[result.rail]),
			gauge(back && back.bw_median_gbps, expected[result.rail]),
			expected[result.rail] ? bandwidth(expected[result.rail]) : "–",
			latency > 0 ? latency.toFixed(1) + " µs" : "–",
			chip(VERDICT_TONES[result.verdict] || "idle", result.verdict || "–")];
	};
	const [first, rest] = worstByRail(shown.results || []);
	return section("Fabric", first.length ? table("What was measured in this boot, the worst of each rail", heads, first.map(cells)) :
		empty("Nothing was measured in its present boot."),
	rest.length ? el("details", {}, el("summary", {}, "The other " + plural(rest.length, "pair")),
		table("What was measured besides", heads, rest.map(cells))) : "");
}

function certificatesSection(certificates) {
	if (!certificates.length)
		return section("Certificates of its fabric", empty("It has none in its present boot."));
	return section("Certificates of its fabric", table("Certificates", ["Kind", "Issued", "Age", "Partners", "Rails"],
		certificates.map((one) => [one.kind, dateEl(Date.parse(one.issued)),
			duration(serverNow() - Date.parse(one.issued)), (one.partners || []).flatMap((name, i) =>
				[i ? ", " : "", nodeLink(name)]), (one.rails || []).map((rail) =>
				chip(VERDICT_TONES[rail.verdict] || "idle", rail.rail))])));
}

function parseCertificates(node) {
	return (node.certificates || []).flatMap(({ text }) => {
		try {
			return [JSON.parse(text).cert || {}];
		} catch {
			return [];
		}
	});
}

/* Conditions, order, power, events */

function conditionsSection(node) {
	if (!(node.conditions || []).length)
		return "";
	return section("Conditions", table("Conditions", ["Condition", "Since", "Detail", "It ends when"],
		node.conditions.map((one) => {
			const row = meta.conditions.get(one.name) || {};
			return [chip(one.away ? "bad" : "wait", row.words || one.name), dateEl(one.since_ms), sentence(one.detail),
				row.cleared || ""];
		})));
}

function stateFacts(node) {
	const power = node.power || {}, step = node.step || {}, agent = node.agent || {};
	return facts([
		["Pool", node.pool], ["Rack", node.rack && node.rack + (node.slot ? ", slot " + node.slot : "")],
		["Serial number", node.serial], ["Machine", node.machine],
		["Image", node.image && node.image + (node.root_slot ? " in slot " + node.root_slot : "")],
		["Other image", node.other_image], ["Commit", node.commit && node.commit.slice(0, 12)],
		["Order", orderText(node.order)],
		["Rollout", node.order && node.order.rollout && el("a", { href: "#/rollouts/" +
			encodeURIComponent(node.order.rollout) }, node.order.rollout)],
		["Step", step.action && step.action + ", attempt " + step.attempt + ", " + step.status],
		["Power", [power.power || (power.seen || {}).power, power.op && power.op + " by " + power.by + ": " +
			(power.result || "under way"), power.detail].filter(Boolean).join("; ")],
		["Agent", agent.version && agent.version + (agent.trial ? ", on trial" : "")],
		["Last heard", node.last_seen_ms > 0 && dateEl(node.last_seen_ms)],
		["Cluster", node.cluster && node.cluster.name + ": " + (node.cluster.state || (node.cluster.known ?
			"known" : "unknown")) + (node.cluster.jobs ? ", has jobs" : "")],
		["Repeats", node.repeats > 0 && String(node.repeats)],
	]);
}

export function eventRows(events) {
	return el("ol", { class: "events" }, events.map((event) => el("li", {}, dateEl(event.time_ms),
		event.node ? nodeLink(event.node) : el("span", { class: "dim" }, "site"),
		el("span", {}, event.text || event.kind || ""))));
}

function eventsSection(node, events) {
	return section("Last events", events.length ? [eventRows([...events].reverse()),
		el("p", {}, el("a", { href: "#/events?node=" + encodeURIComponent(node.name) }, "All its events"))] :
		empty("Nothing has happened to it yet."));
}

function consoleSection(part) {
	if (!part)
		return "";
	const bytes = Uint8Array.from(atob(part.bytes || ""), (letter) => letter.charCodeAt(0));
	const text = new TextDecoder().decode(bytes).replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "");
	return section("Console", text ? el("pre", { class: "console", tabindex: "0", "aria-label": "Console" }, text) :
		empty(part.words || "Nothing was written to it."));
}

/* What its BMC says now: asked for by a person, since each question goes to the BMC */

const reading = (one) => typeof one.value === "number" ? Number(one.value.toFixed(2)) + " " + (one.unit || "") :
	one.state === "absent" ? "absent" : "no reading";
const BMC_TABLES = {
	sensors: [["Sensor", "Reading", "Health"], (one) => [one.name, reading(one), one.health || ""]],
	events: [["When", "Severity", "Log", "Event"], (one) => [one.at_ms > 0 ? dateEl(one.at_ms) : "no time", one.severity || "",
		one.log || "", one.text || ""]],
	firmware: [["Part", "Version"], (one) => [one.name, one.version]],
};

function bmcSection(name) {
	const answer = el("div", { "aria-live": "polite" });
	const root = section("Its BMC", el("div", { class: "acts", role: "group", "aria-label": "Ask its BMC" }, Object.keys(BMC_TABLES).map((what) => {
		const button = el("button", { type: "button", class: "act", id: "bmc-" + what }, what.charAt(0).toUpperCase() + what.slice(1));
		button.addEventListener("click", async () => {
			answer.replaceChildren(empty("Asking its BMC …"));
			try {
				const said = await fetchJson("/v1/nodes/" + encodeURIComponent(name) + "/bmc/" + what, BMC_WAIT_S);
				const [heads, cells] = BMC_TABLES[what], rows = (said[what] || []).map(cells);
				answer.replaceChildren(rows.length ? table("BMC: " + what, heads, rows) : empty("It has none."),
					el("p", { class: "dim" }, said.more ? "There are more. " : "", said.full ? "Its log is full. " : "", "Of ", dateEl(said.at_ms)));
			} catch (error) {
				answer.replaceChildren(el("p", { class: "trouble", role: "alert" }, error.message));
			}
		});
		return button;
	})), answer);
	return root;
}

/* The view */

const orNone = (promise, none) => promise.catch(() => none);

const askConsole = async (path) => may("operate") ? orNone(fetchJson(path + "/console?lines=" + CONSOLE_LINES), null) : null;

async function ask(name) {
	const path = "/v1/nodes/" + encodeURIComponent(name);
	const node = await fetchJson(path);
	const [shown, events, part] = await Promise.all([orNone(fetchJson(path + "/fabric"), {}),
		orNone(fetchJson("/v1/events?limit=" + EVENTS + "&node=" + encodeURIComponent(name)), {}),
		askConsole(path)]);
	return { node, shown, events: events.events || [], console: part };
}

export function nodeView(page) {
	const name = page.argument;
	const since = el("span", { class: "dim" }), state = el("span"), note = el("p", { class: "why" });
	const progress = el("div"), body = el("div", {}, el("p", { class: "empty" }, "Asking the appliance."));
	const root = el("div", { class: "one" }, el("p", { class: "crumbs" }, el("a", { href: "#/" }, "Overview"), " / node"),
		el("h2", { class: "title" }, name, " ", state, " ", since), note, progress, body, may("operate") ? bmcSection(name) : "");
	let asked = null, askedMs = 0, timer = null, closed = false;

	function head() {
		const node = live.byName.get(name);
		if (!node)
			return;
		state.replaceChildren(chip(toneFor(node), stateOf(node)));
		setText(since, node.since_ms ? "for " + duration(serverNow() - node.since_ms) : "");
		setText(note, notesOf(node)[0] || "");
		const now = node.progress;
		progress.replaceChildren(now && now.total_bytes > 0 ? el("p", { class: "line" },
			el("progress", { max: now.total_bytes, value: now.done_bytes, "aria-label": now.stage }),
			now.stage + ", " + bytesText(now.done_bytes) + " of " + bytesText(now.total_bytes)) : "");
	}

	function draw({ node, shown, events, console: part }) {
		const certificates = parseCertificates(node);
		const open = [...body.querySelectorAll("details")].map((one) => one.open);
		keepFocus(() => body.replaceChildren(...[stateFacts(node), whySection(node), conditionsSection(node), timeline(node),
			fabricSection(node, shown, certificates), certificatesSection(certificates), checksSection(shown),
			(node.drift || []).length ? section("Drift", el("ul", { class: "lines" }, node.drift.map((one) =>
				el("li", {}, sentence(one.said))))) : "", hardware(node), eventsSection(node, events), consoleSection(part)]
			.filter(Boolean)));
		body.querySelectorAll("details").forEach((one, i) => { one.open = Boolean(open[i]); });
	}

	async function refresh() {
		timer = null;
		askedMs = Date.now();
		try {
			const answer = await ask(name);
			if (!closed)
				draw(answer);
		} catch (error) {
			if (closed)
				return;
			if (error.status === 404)
				body.replaceChildren(empty("There is no node " + name + " here (any more)."));
			asked = null; // again with the next change
		}
	}

	return { root, title: name, tick: head, close() { closed = true; clearTimeout(timer); },
		update(change) {
			const node = live.byName.get(name) || null;
			head();
			if ((node !== asked || change.whole) && !timer) {
				asked = node;
				timer = setTimeout(refresh, Math.max(0, askedMs + AGAIN_MS - Date.now()));
			}
			if (!node && live.status)
				setText(note, plural(live.status.nodes.length, "node") + " here; none is called " + name);
		} };
}
