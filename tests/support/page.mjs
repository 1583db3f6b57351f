// SPDX-License-Identifier: Apache-2.0
// The cases of tests/system/page, which starts it:
//
//	node page.mjs MODULES BUILD DIR PORT NODES PEOPLE
//
// It starts and ends bringupd itself, changes nodes by the command line, and looks at what
// the page shows. Any error in the page's console, and any request to another host, fails.
import assert from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";

const [modules, build, dir, port, count, people] = process.argv.slice(2);
const require = createRequire(modules + "/node_modules/");
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const base = "http://127.0.0.1:" + port, tls = "https://127.0.0.1:" + people;
const NEXT_MS = 20000;
const views = ["#/", "#/node/n00001", "#/fabric", "#/rollouts", "#/rollouts/r-1", "#/images", "#/events", "#/site"];
const troubles = [];
let daemon = null, passed = 0;

function bringup(...args) {
	return execFileSync(build + "/bringup", [...args, "--socket", dir + "/sock"],
		{ encoding: "utf8", timeout: NEXT_MS });
}

async function start() {
	daemon = spawn(build + "/bringupd", ["-c", dir + "/conf"],
		{ stdio: ["ignore", "ignore", fs.openSync(dir + "/log", "a")] });
	for (let i = 0; i < 300; i++) {
		try {
			return await (await fetch(base + "/v1/status")).json();
		} catch {
			assert.equal(daemon.exitCode, null, "bringupd ended");
			await new Promise((resolve) => { setTimeout(resolve, 100); });
		}
	}
	throw new Error("bringupd does not answer");
}

const stop = () => new Promise((resolve) => {
	daemon.once("exit", resolve);
	daemon.kill("SIGTERM");
});

async function test(title, run) {
	await run();
	passed++;
	console.log("ok: " + title);
}

// Of nodes with a life alone.
const lived = (title, run) => count < 1000 ? test(title, run) : null;

async function open(browser, options = {}) {
	const { at = base, ...more } = options;
	const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ignoreHTTPSErrors: true, ...more });
	const page = await context.newPage();
	page.setDefaultTimeout(NEXT_MS);
	page.on("pageerror", (error) => troubles.push(error.stack));
	page.on("request", (request) => {
		if (!request.url().startsWith(base + "/") && !request.url().startsWith(tls + "/"))
			troubles.push("a request to " + request.url());
	});
	page.on("console", (message) => {
		if (/Content Security Policy/.test(message.text()))
			troubles.push(message.text());
	});
	await page.goto(at + "/");
	await page.waitForSelector(at === base ? ".nodes li" : "#token");
	return page;
}

/* The login, over TLS */

const tokens = {};
function tokenOf(role) {
	tokens[role] = tokens[role] || bringup("token", "create", role + "1", "--role", role).trim();
	return tokens[role];
}

async function logIn(page, role) {
	await page.fill("#token", tokenOf(role));
	await page.press("#token", "Enter");
	await page.waitForFunction(() => document.getElementById("link").textContent.includes("live"));
	await isThere(page, "#caller", role);
}

const labels = (page, selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));
const closeDialog = (page) => page.keyboard.press("Escape");

async function theLogin(browser) {
	const page = await open(browser, { at: tls });
	await page.goto(tls + "/#/node/n00004");
	await page.waitForSelector("#token");
	assert.equal(await page.evaluate(() => document.activeElement.id), "token");
	assert.equal(await page.isVisible("#search"), false);
	await page.fill("#token", "bringup_wrong");
	await page.press("#token", "Enter");
	await isThere(page, ".trouble", "this token is unknown here");
	await logIn(page, "viewer");
	await isThere(page, "h2.title", "n00004"); // the address has stayed
	assert.equal(await page.locator(".acts button").count(), 0, "a viewer has no buttons");
	const { cookies } = await page.context().storageState();
	assert.deepEqual(cookies.map((one) => [one.name, one.httpOnly, one.secure, one.sameSite]),
		[["__Host-bringup", true, true, "Strict"]]);
	assert.equal(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })), "{}");
	await page.reload();
	await isThere(page, "h2.title", "n00004");
	await page.click("#log-out");
	await isThere(page, "form.login", "You have logged out");
	assert.equal(await page.locator("#view .facts").count(), 0, "nothing stays that was shown");
	await page.reload();
	await page.waitForSelector("#token");
	await logIn(page, "viewer");
	bringup("token", "revoke", "viewer1");
	await isThere(page, "form.login", "was revoked");
	assert.equal(await hash(page), "#/node/n00004");
	delete tokens.viewer;
	await page.context().close();
}

// What another page could do with the cookie, if it got around the browser's rules.
async function noOtherPage(browser) {
	const page = await open(browser, { at: tls });
	await logIn(page, "operator");
	const status = (headers) => page.context().request.post(tls + "/v1/nodes/n00004/hold", { headers, data: { reason: "evil" } })
		.then((answer) => answer.status());
	assert.equal(await status({ Origin: "https://evil.example" }), 403);
	assert.equal(await status({}), 403);
	assert.equal(JSON.parse(bringup("node", "show", "n00004", "-o", "json")).held, undefined);
	await page.context().close();
}

// Buttons of a node by role: its state takes them, and the caller may.
async function roles(browser) {
	const buttons = {};
	for (const role of ["operator", "grant", "admin", "auditor"]) {
		const page = await open(browser, { at: tls });
		await logIn(page, role);
		await page.goto(tls + "/#/node/n00006");
		await isThere(page, "h2", "Last events");
		buttons[role] = await labels(page, ".acts .act");
		await page.goto(tls + "/#/events");
		await page.waitForSelector(".events li");
		assert.equal(await page.locator("#verify").count(), role === "admin" || role === "auditor" ? 1 : 0, role);
		await page.goto(tls + "/#/site");
		await isThere(page, "h2", "Appliance");
		await page.waitForTimeout(500);
		assert.equal(await page.locator("table[aria-label=Tokens]").count(), role === "admin" ? 1 : 0, role);
		await page.context().close();
	}
	for (const name of ["Hold", "Drain", "Validate", "Reboot", "Sensors"])
		assert.ok(buttons.operator.includes(name), name + " of " + buttons.operator);
	for (const name of ["Rebuild", "Release", "Resume"])
		assert.ok(!buttons.operator.includes(name), name + " of " + buttons.operator);
	assert.deepEqual(buttons.grant.filter((name) => !buttons.operator.includes(name)), ["Rebuild"]);
	assert.deepEqual(buttons.admin, buttons.grant);
	assert.deepEqual(buttons.auditor, []);
}

// Nothing is done by one click; what is refused says why; the log has the name.
async function remedies(browser) {
	const page = await open(browser, { at: tls });
	const shown = (node) => JSON.parse(bringup("node", "show", node, "-o", "json"));
	await logIn(page, "grant");
	await page.goto(tls + "/#/node/n00008");
	await page.click("#verb-hold");
	await isThere(page, "dialog .outcome", "held");
	await page.click("dialog .go");
	await isThere(page, "dialog .trouble", "say why");
	await page.fill("#reason", "DIMM A3");
	await page.press("#reason", "Enter");
	await isThere(page, "#notice", "n00008: held");
	assert.equal(shown("n00008").held.by, "token grant1");
	await page.waitForSelector("#verb-release.first"); // the remedy that the daemon names comes first
	assert.equal((await labels(page, ".acts .act"))[0], "Release");
	await page.click("#verb-release");
	await isThere(page, "dialog .outcome", "released");
	await page.click("dialog .go");
	await isThere(page, "#notice", "n00008: released");
	await page.click("#verb-drain");
	await isThere(page, "dialog .outcome", "ready -> draining, then parked");
	await closeDialog(page);
	assert.equal(await hash(page), "#/node/n00008", "Esc ends the dialog and not the view");
	assert.equal(shown("n00008").state, "ready", "a dialog alone does nothing");
	await page.click("#verb-rebuild");
	await page.selectOption("#grant", "wipe");
	await page.waitForTimeout(300);
	assert.equal(await page.isDisabled("dialog .go"), true, "no wipe without the name");
	await page.fill("#typed", "n00009");
	assert.equal(await page.isDisabled("dialog .go"), true, "nor by another name");
	await closeDialog(page);
	await page.click("#bmc-sensors");
	await isThere(page, "section .trouble", "a virtual machine has no BMC");
	assert.equal(shown("n00008").state, "ready");
	await page.context().close();
}

// A change that no agent will take: the rollout goes on until a person ends it.
function beginRollout() {
	const file = dir + "/site/site.ini", text = fs.readFileSync(file, "utf8");
	fs.writeFileSync(file, text.replace("vm.swappiness=1", "vm.swappiness=2"));
	try {
		bringup("apply", dir + "/site", "--yes");
	} catch (error) {
		assert.match(error.stdout + error.stderr, /n00003/); // a held node is left out
	}
	const [last] = JSON.parse(bringup("rollout", "list", "-o", "json"));
	assert.equal(last.state, "running");
	return last.id;
}

async function aRollout(browser) {
	const id = beginRollout();
	const viewer = await open(browser, { at: tls }), page = await open(browser, { at: tls });
	await logIn(viewer, "viewer");
	await viewer.goto(tls + "/#/rollouts/" + id);
	await logIn(page, "operator");
	await page.goto(tls + "/#/rollouts/" + id);
	await isThere(page, "table[aria-label=Plan] td", "reconfigure");
	const order = async (word, shown, then) => {
		await page.click("#order-" + word);
		await isThere(page, "dialog .outcome", "nodes are done");
		await page.click("dialog .go");
		await isThere(page, "h2 .chip", shown);
		await page.waitForFunction((all) => [...document.querySelectorAll(".acts button")].map((one) => one.textContent).join() === all, then);
	};
	await order("pause", "paused", "Resume,Abort");
	await order("resume", "running", "Pause,Abort");
	await isThere(viewer, "h2 .chip", "running");
	assert.equal(await viewer.locator(".acts button").count(), 0, "a viewer orders nothing");
	await order("abort", "aborted", "");
	await isThere(viewer, "h2 .chip", "aborted");
	await viewer.context().close();
	await page.context().close();
}

async function audits(browser) {
	const page = await open(browser, { at: tls });
	await logIn(page, "admin");
	await page.goto(tls + "/#/events");
	await page.click("#verify");
	await isThere(page, "dd", "whole: ");
	await page.goto(tls + "/#/site");
	await isThere(page, "table[aria-label=Tokens] td", "auditor1");
	await isThere(page, "table[aria-label='Certificates of the appliance'] td", "server");
	await page.getByRole("button", { name: "Revoke auditor1" }).first().click();
	await isThere(page, "dialog .outcome", "No request with it");
	await page.click("dialog .go");
	await isThere(page, "#notice", "auditor1 is revoked");
	delete tokens.auditor;
	await page.context().close();
}

const names = (page) => page.$$eval(".nodes .name", (links) => links.map((link) => link.textContent));
const hash = (page) => page.evaluate(() => location.hash);
const isThere = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

// A picture of another colour than its corner is drawn on the canvas.
const isDrawn = (page, selector) => page.$eval(selector, (canvas) => {
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	return new Set(new Uint32Array(data.buffer)).size > 3;
});

async function overview(page) {
	assert.match(await page.textContent(".headline"), new RegExp("\\d+ / " + count));
	assert.match(await page.getAttribute(".grid canvas", "aria-label"), /^\d+ /);
	assert.ok(await isDrawn(page, ".grid canvas"));
	const [ready] = /\d+/.exec(await page.textContent(".headline"));
	const width = await page.$eval(".share [data-tone=good]", (bar) => bar.style.width);
	assert.ok(Math.abs(parseFloat(width) - 100 * ready / count) < 0.1, "the bar is what is ready: " + width);
}

async function searching(page) {
	await page.keyboard.press("/");
	assert.equal(await page.evaluate(() => document.activeElement.id), "search");
	await page.keyboard.type("s00017");
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length === 1);
	assert.deepEqual(await names(page), ["n00017"]);
	assert.match(await hash(page), /q=s00017/);
	await page.reload();
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length === 1);
	assert.equal(await page.inputValue("#search"), "s00017");
	await page.goBack();
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length > 1);
	await page.fill("#search", "r1/3");
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length === 1);
	assert.deepEqual(await names(page), ["n00019"]);
	await page.fill("#search", "no such thing");
	await isThere(page, ".empty", "No node fits");
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length > 1);
}

async function byKeys(page) {
	await page.goto(base + "/#/");
	await page.waitForSelector(".grid canvas");
	await page.keyboard.press("/");
	await page.keyboard.type("n00005");
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length === 1);
	await page.keyboard.press("Enter");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => location.hash === "#/node/n00005");
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => location.hash === "#/");
	await page.waitForSelector(".nodes li");
	await page.focus(".grid canvas");
	for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"])
		await page.keyboard.press(key);
	await page.waitForFunction(() => document.getElementById("say").textContent.startsWith("n00002"));
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => location.hash === "#/node/n00002");
	await page.goBack();
	await page.waitForSelector(".grid canvas");
}

async function oneNode(page) {
	await page.goto(base + "/#/node/n00001");
	for (const title of ["Why", "Its way", "Fabric", "Certificates of its fabric", "Checks", "Machine", "Last events"])
		await isThere(page, "h2", title);
	await isThere(page, ".facts dd", "S00001");
	await isThere(page, ".lines li", "n00001 is ready");
	const rails = await page.$$eval("table[aria-label^='What was measured'] tbody tr", (rows) =>
		rows.map((row) => row.textContent));
	assert.deepEqual(await labels(page, "table[aria-label*='worst of each rail'] td[data-head=Rail]"), ["rail0", "rail1", "rail2", "rail3"]);
	assert.ok(rails.length >= 8 && rails.every((row) => /360 Gbit\/s/.test(row)), rails.join());
	assert.equal(await page.locator(".way li").count(), await page.locator(".way .figure").count());
	await page.locator("summary", { hasText: "state allows" }).click();
	await isThere(page, ".commands code", "bringup node reboot n00001");
	await page.goto(base + "/#/node/nowhere");
	await isThere(page, ".empty", "There is no node nowhere");
}

async function changes(page) {
	await page.goto(base + "/#/");
	await page.waitForSelector(".nodes li");
	const began = Date.now();
	bringup("node", "hold", "n00003", "--reason", "<img src=x onerror=alert(1)> DIMM A3");
	await isThere(page, ".need", "<img src=x onerror=alert(1)> DIMM A3");
	console.log("  a hold is seen after " + (Date.now() - began) + " ms, with the command's own time");
	await isThere(page, ".need .command code", "bringup node release n00003");
	assert.equal(await page.locator("#view img").count(), 0);
	bringup("node", "drain", "n00005", "--reason", "kernel");
	const row = page.locator(".nodes li", { hasText: "draining" }).first();
	await row.waitFor();
	assert.ok(["busy", "rest"].includes(await row.getAttribute("data-tone")), "a drain is nothing wrong");
	await overview(page); // the bar, now that not all are ready
	await page.click("#only-draining");
	await page.waitForFunction(() => location.hash.includes("state=draining"));
	assert.deepEqual(await names(page), ["n00005"]);
	assert.equal(await page.getAttribute("#only-draining", "aria-current"), "true");
	await page.goBack();
	await page.waitForFunction(() => document.querySelectorAll(".nodes li").length > 1);
}

async function theFabric(page) {
	await page.goto(base + "/#/fabric");
	await page.waitForFunction(() => /^Heat map/.test(document.querySelector(".heat canvas").ariaLabel ||
		document.querySelector(".heat canvas").getAttribute("aria-label") || ""));
	await isThere(page, "table[aria-label='The worst pairs'] td", "Gbit/s");
	assert.ok(await isDrawn(page, ".heat canvas"));
	await page.click("#rail-rail1");
	await page.waitForFunction(() => location.hash.includes("rail=rail1"));
	await page.waitForSelector("#rail-rail1[data-chosen]");
	const rails = await page.$$eval("td[data-head=Rail]", (cells) => cells.map((cell) => cell.textContent));
	assert.deepEqual([...new Set(rails)], ["rail1"]);
	await page.focus(".heat canvas");
	await page.keyboard.press("ArrowDown");
	await page.waitForFunction(() => / → .*(Gbit|not measured)/.test(document.getElementById("say").textContent));
}

async function theRest(page) {
	await page.goto(base + "/#/rollouts");
	await page.click("td a");
	await isThere(page, ".line", count + " done of " + count + " nodes");
	await isThere(page, "h2", "Plan");
	await page.goto(base + "/#/images");
	await isThere(page, "table[aria-label='Images by digest'] td", "debian");
	await page.goto(base + "/#/site");
	for (const title of ["Conditions", "Appliance", "Certificates of the appliance", "Backup", "Agents", "Clusters"])
		await isThere(page, "h2", title);
	assert.equal(await page.isVisible("#log-out"), false, "nobody has logged in here");
	await isThere(page, "#may", "only shows");
	await page.goto(base + "/#/events");
	await page.waitForSelector(".events li");
	bringup("node", "hold", "n00007", "--reason", "a live row");
	await isThere(page, ".events li:first-child, .events li:nth-child(2)", "a live row");
	await page.fill("#events-of", "n00003");
	await page.press("#events-of", "Enter");
	await page.waitForFunction(() => location.hash.includes("node=n00003") &&
		[...document.querySelectorAll(".events .name")].length > 0 &&
		[...document.querySelectorAll(".events .name")].every((link) => link.textContent === "n00003"));
}

async function restart(page) {
	await page.goto(base + "/#/");
	await page.waitForSelector(".nodes li");
	await stop();
	await isThere(page, "#link", "connection lost");
	await isThere(page, "#lost-why", "does not answer");
	assert.ok((await names(page)).length > 1, "what was known stays");
	await start();
	await isThere(page, "#link", "live");
	bringup("node", "hold", "n00009", "--reason", "after the restart");
	await isThere(page, ".need, .nodes li", "after the restart");
}

async function fits(page, where) {
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(wide <= 390, where + " is " + wide + " px wide");
}

// To be looked at by a person: PICTURES=DIR.
async function picture(page, kind, view) {
	if (process.env.PICTURES)
		await page.screenshot({ path: process.env.PICTURES + "/" + kind + "-" + (view.replace(/[^a-z0-9]+/g, "-") || "overview") + ".png",
			fullPage: true });
}

async function phone(browser) {
	const page = await open(browser, { viewport: { width: 390, height: 844 }, colorScheme: "dark", at: tls });
	await fits(page, "the login");
	await logIn(page, "admin");
	for (const view of views) {
		await page.goto(tls + "/" + view);
		await page.waitForTimeout(1200);
		await fits(page, view);
		await picture(page, "phone", view);
	}
	await page.goto(tls + "/#/node/n00006");
	await page.click("#verb-drain");
	await isThere(page, "dialog .outcome", "then parked");
	await fits(page, "a dialog");
	await picture(page, "phone", "dialog");
	await closeDialog(page);
	await page.goto(tls + "/#/");
	await page.waitForSelector(".nodes .why:not([hidden])");
	const width = await page.$eval(".nodes .why:not([hidden])", (why) => why.getBoundingClientRect().width);
	assert.ok(width > 250, "a reason has " + width + " px");
	await page.context().close();
}

async function axeSays(page, where) {
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => globalThis.axe.run());
	const serious = violations.filter((one) => one.impact === "serious" || one.impact === "critical");
	assert.deepEqual(serious.map((one) => one.id + ": " + one.nodes.map((node) => node.html).slice(0, 3).join(" ")), [], where);
}

async function judged(browser, colorScheme) {
	const page = await open(browser, { colorScheme, bypassCSP: true, at: tls });
	await axeSays(page, "the login in " + colorScheme);
	await picture(page, colorScheme, "login");
	await logIn(page, "admin");
	const paint = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	assert.equal(/^rgb\((1?\d|2\d), /.test(paint), colorScheme === "dark", paint);
	for (const view of views) {
		await page.goto(tls + "/" + view);
		await page.waitForTimeout(1200);
		await picture(page, colorScheme, view);
		await axeSays(page, view + " in " + colorScheme);
	}
	await page.goto(tls + "/#/node/n00006");
	await page.click("#verb-rebuild");
	await page.waitForTimeout(500);
	await picture(page, colorScheme, "dialog");
	await axeSays(page, "a dialog in " + colorScheme);
	await page.context().close();
}

async function small() {
	const files = ["", "style.css", "icon.svg", "app.js", ...new Set((await Promise.all(["app.js", "view_overview.js"]
		.map(async (file) => (await fetch(base + "/" + file)).text()))).join("\n").match(/[a-z_]+\.js(?=")/g))];
	let bytes = 0;
	for (const file of files) {
		const answer = await fetch(base + "/" + file);
		assert.equal(answer.status, 200, file);
		bytes += (await answer.arrayBuffer()).byteLength;
	}
	assert.ok(bytes > 50000 && bytes < 150000, bytes + " bytes");
}

// What README.md shows: some nodes at work, one that a person holds, one that is accused.
async function readme(page) {
	bringup("node", "hold", "n00012", "--reason", "DIMM A3, ticket 4711");
	bringup("node", "drain", "n000[20-23]", "--reason", "kernel update");
	bringup("node", "service", "n00040", "--reason", "NIC firmware");
	execFileSync("curl", ["-sS", "--fail", "--unix-socket", dir + "/sock", "-X", "PUT", "-d", JSON.stringify({
		verdict: "fail", text: "row remapping failed on GPU 3" }),
	"http://localhost/v1/nodes/n00033/verdicts/dcgm"]);
	await isThere(page, ".need", "n00012");
	await page.waitForTimeout(3000);
	await page.screenshot({ path: process.env.PICTURE });
}

await start();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
let failure = null;
try {
	const page = await open(browser);
	if (process.env.PICTURE) {
		await test("a picture", () => readme(page));
		throw null;
	}
	await test("the page is small and whole", small);
	await test("the overview counts and draws", () => overview(page));
	await test("changes come by themselves, as text", () => changes(page));
	await test("search, address and back", () => searching(page));
	await test("keys", () => byKeys(page));
	await lived("a node", () => oneNode(page));
	await lived("the fabric", () => theFabric(page));
	await lived("rollouts, site and events", () => theRest(page));
	await test("the login: a wrong token, the address, a reload, log out, a revoked token", () => theLogin(browser));
	await test("a cookie serves no other page", () => noOtherPage(browser));
	await lived("each role has its buttons", () => roles(browser));
	await lived("remedies ask first, and say what is refused", () => remedies(browser));
	await lived("a rollout is paused, resumed and aborted", () => aRollout(browser));
	await lived("the chain and the tokens", () => audits(browser));
	await test("a restart under the page", () => restart(page));
	await test("a phone", () => phone(browser));
	await test("axe-core, light", () => judged(browser, "light"));
	await test("axe-core, dark", () => judged(browser, "dark"));
	await test("no error, no other host, no breach of the policy", () => assert.deepEqual(troubles, []));
} catch (error) {
	failure = error;
	if (error)
		console.error(error.stack, troubles.join("\n"));
} finally {
	await browser.close();
	await stop();
}
console.log(passed + " passed, " + (failure ? 1 : 0) + " failed");
process.exit(failure ? 1 : 0);
