// SPDX-License-Identifier: Apache-2.0
// Who uses the page: the login, and the name beside it. Used by app.js. Invariants: the
// token is sent once and kept nowhere; the address stays, so that the view is there after
// the login.
import { byId, el, setText, show } from "./dom.js";
import { live, logIn, logOut } from "./live.js";
import { meta } from "./words.js";

export function loginView() {
	const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true,
		spellcheck: "false", "aria-describedby": "token-how" });
	const user = el("input", { type: "text", autocomplete: "username", value: "bringup", hidden: true, "aria-hidden": "true", tabindex: "-1" });
	const go = el("button", { type: "submit", class: "go" }, "Log in");
	const trouble = el("p", { class: "trouble", role: "alert" });
	const form = el("form", { class: "login" }, el("h2", { class: "title" }, "Log in"), live.answeredMs ? el("p", { role: "status" }, live.locked) : "", user,
		el("p", {}, el("label", { for: "token" }, "Token")), el("p", {}, token), el("p", {}, go), trouble,
		el("p", { class: "dim", id: "token-how" }, "An administrator makes one on the appliance: ",
			el("code", {}, "bringup token create NAME --role operator")));
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		go.disabled = true;
		setText(trouble, "");
		try {
			await logIn(token.value.trim());
		} catch (error) {
			setText(trouble, error.status ? error.message : "The appliance does not answer.");
			token.select();
		}
		go.disabled = false;
	});
	return { root: form, title: "log in", focus: () => token.focus() };
}

/* The name beside the state of the connection */

export function drawCaller() {
	const { caller } = meta;
	show(byId("caller"), Boolean(live.status));
	show(byId("log-out"), caller.session);
	setText(byId("caller-name"), caller.session ? caller.name.replace(/^token /, "") : "");
	setText(byId("caller-role"), caller.role + (caller.may.length > 1 || caller.session ? "" : ", only looks"));
	setText(byId("may"), caller.may.length > 1 ? "" : "This page only shows; commands are for a terminal." +
		(caller.session ? "" : " The page at people_listen has a login."));
}

byId("log-out").addEventListener("click", () => logOut().catch(() => {}));
