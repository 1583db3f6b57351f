// SPDX-License-Identifier: Apache-2.0
// The browser's part of tests/bench/page, which starts it:
//
//	node page-bench.mjs MODULES PORT SOCKET
//
// Times are those of the browser and of this process on one machine: they have one clock.
import http from "node:http";
import { createRequire } from "node:module";

const [modules, port, socketPath] = process.argv.slice(2);
const require = createRequire(modules + "/node_modules/");
const { chromium } = require("playwright-core");
const TIMES = 5, CHANGES = 8, PICTURES = process.env.PICTURES;

const best = (list) => Math.min(...list);
const say = (name, value, goal) => console.log(name + ": " + value.toFixed(0) + " ms (goal " + goal + ")");

function post(path, body) {
	return new Promise((resolve, reject) => {
		const text = JSON.stringify(body);
		http.request({ socketPath, path, method: "POST", headers: { Host: "localhost", "Content-Length": Buffer.byteLength(text) } },
			(answer) => { answer.resume(); answer.on("end", () => resolve(answer.statusCode)); }).on("error", reject).end(text);
	});
}

// In the page: when the first list stood and was painted, and how long tasks were.
const watch = () => {
	globalThis.tasks = [];
	new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((one) => one.duration)))
		.observe({ type: "longtask", buffered: true });
	const painted = () => requestAnimationFrame(() => setTimeout(() => { globalThis.paintedMs = performance.now(); }));
	const look = new MutationObserver(() => {
		if (document.querySelector(".nodes li") && document.querySelector(".grid canvas[aria-label]")) {
			look.disconnect();
			painted();
		}
	});
	addEventListener("DOMContentLoaded", () => look.observe(document.body, { childList: true, subtree: true, attributes: true }));
};

async function load(browser) {
	const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
	await page.addInitScript(watch);
	await page.goto("http://127.0.0.1:" + port + "/");
	await page.waitForFunction(() => globalThis.paintedMs > 0, null, { timeout: 60000 });
	return page;
}

// From the request that changes the node until its words were painted.
async function change(page, number) {
	const node = "n" + String(number).padStart(5, "0"), reason = "bench " + number;
	const seen = page.evaluate((text) => new Promise((resolve) => {
		const look = new MutationObserver(() => {
			if (!document.getElementById("view").textContent.includes(text))
				return;
			look.disconnect();
			requestAnimationFrame(() => setTimeout(() => resolve(Date.now())));
		});
		look.observe(document.getElementById("view"), { childList: true, subtree: true, characterData: true });
	}), reason);
	await new Promise((resolve) => { setTimeout(resolve, 700); });
	const began = Date.now();
	const status = await post("/v1/nodes/" + node + "/hold", { reason });
	if (status !== 200)
		throw new Error(node + ": " + status);
	return await seen - began;
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const paints = [], loads = [];
let page = null;
for (let i = 0; i < TIMES; i++) {
	if (page)
		await page.close();
	page = await load(browser);
	paints.push(await page.evaluate(() => globalThis.paintedMs));
	await page.waitForTimeout(1000);
	loads.push(Math.max(0, ...await page.evaluate(() => globalThis.tasks)));
}
say("first paint", best(paints), 1000);
say("longest task while it loads", best(loads), 50);
await page.evaluate(() => { globalThis.tasks.length = 0; });
const changes = [], tasks = [];
for (let i = 1; i <= CHANGES; i++) {
	changes.push(await change(page, i));
	tasks.push(Math.max(0, ...await page.evaluate(() => globalThis.tasks.splice(0))));
}
say("event to pixel", best(changes), 200);
say("event to pixel, the middle one", changes.sort((a, b) => a - b)[CHANGES / 2], 200);
say("longest task of a change", tasks.sort((a, b) => a - b)[CHANGES / 2], 50);
if (PICTURES) {
	await page.screenshot({ path: PICTURES + "/many.png" });
	const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
	await phone.goto("http://127.0.0.1:" + port + "/");
	await phone.waitForSelector(".nodes li");
	await phone.waitForTimeout(1000);
	await phone.screenshot({ path: PICTURES + "/many-phone.png" });
}
await browser.close();
