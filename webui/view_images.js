// SPDX-License-Identifier: Apache-2.0
// Images: which one runs where, which one was ordered, and what the profile says. Called by
// app.js. Invariant: an image is its digest; a name may have meant several.
import { chip, el, empty, nodeLink, plural, section, table } from "./dom.js";
import { fetchJson, live } from "./live.js";

const AGAIN_MS = 5000, NAMES = 6;
const WHYS = [["installed", "Installed"], ["ordered", "Ordered"], ["other-root", "Other root"]];

// [{image, digest, pools: Set, nodes: {why: [name]}}], what most nodes have first.
function byDigest(uses) {
	const images = new Map();
	for (const use of uses) {
		const key = use.image + " " + use.digest;
		if (!images.has(key))
			images.set(key, { image: use.image, digest: use.digest, pools: new Set(), nodes: {} });
		const one = images.get(key);
		one.pools.add(use.pool || "no pool");
		(one.nodes[use.why] = one.nodes[use.why] || []).push(use.node);
	}
	const most = (one) => (one.nodes.installed || []).length;
	return [...images.values()].sort((a, b) => most(b) - most(a) || (a.image < b.image ? -1 : 1));
}

const namesOf = (nodes) => nodes.length > NAMES ? String(nodes.length) :
	nodes.map((name, i) => [i ? ", " : "", nodeLink(name)]);

function imagesTable(images, total) {
	return table("Images by digest", ["Image", "Digest", "Share", ...WHYS.map(([, words]) => words), "Pools"],
		images.map((one) => {
			const count = (one.nodes.installed || []).length;
			return [el("a", { href: "#/?q=" + encodeURIComponent(one.image) }, one.image), el("code", {}, one.digest.slice(0, 12)),
				el("progress", { max: total || 1, value: count, "aria-label": count + " of " + plural(total, "node") }),
				...WHYS.map(([why]) => one.nodes[why] ? namesOf(one.nodes[why]) : ""), [...one.pools].join(", ")];
		}));
}

// Of each pool: what the profile names, and how many of its nodes have another image.
function poolsTable(pools, uses) {
	const rows = Object.entries(pools).map(([pool, names]) => {
		const [[installed]] = WHYS;
		const have = uses.filter(({ pool: of, why: kind }) => of === pool && kind === installed);
		const others = have.filter((use) => !names.includes(use.image));
		return [pool, names.join(", "), String(have.length - others.length),
			others.length ? [chip("wait", String(others.length)), " ", namesOf(others.map((use) => use.node))] : "0"];
	});
	return section("What the profile says", rows.length ? table("Images of pools", ["Pool", "Images", "Nodes that have it",
		"Nodes that have another"], rows) : empty("No pool of the applied profile names an image of the store."));
}

export function images() {
	const body = el("div", {}, empty("Asking the appliance."));
	const root = el("div", {}, el("h2", { class: "title" }, "Images"), body);
	let askedMs = 0, timer = null, closed = false;

	async function refresh() {
		timer = null;
		askedMs = Date.now();
		try {
			const { uses, pools } = await fetchJson("/v1/images");
			if (!closed && live.status)
				body.replaceChildren(uses.length ? imagesTable(byDigest(uses), live.status.nodes.length) :
					empty("No node has an image yet."), poolsTable(pools, uses));
		} catch {
			// The frame says that the appliance does not answer.
		}
	}
	return { root, title: "images", close() { closed = true; clearTimeout(timer); },
		update(change) {
			if ((change.whole || change.nodes.length || !askedMs) && !timer)
				timer = setTimeout(refresh, Math.max(0, askedMs + AGAIN_MS - Date.now()));
		} };
}
