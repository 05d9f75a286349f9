// What stands around every page: the bar with its links, the keys, the login.

import { h, say } from "./dom.js";
import { login, logout, token, ways } from "./session.js";

const PAGES = [
  ["/#/", "Overview"],
  ["/#/instances", "Instances"],
  ["/#/incidents", "Incidents"],
  ["/#/dead-letters", "Dead letters"],
  ["/#/definitions", "Workflows"],
  ["/#/cluster", "Cluster"],
  ["/workflows/definitions", "Studio"],
];

// Whether the keys work: not beside Studio, where people type into editors that are no input elements.
let hasKeys = false;

async function leave() {
  const { oidc } = await ways();
  const isOfIssuer = nameOf(token()).startsWith("oidc:");
  await logout();
  location.assign(oidc && isOfIssuer ? oidc.signOut : "/");
}

function nameOf(text) {
  try {
    return JSON.parse(atob(text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))).sub ?? "";
  } catch {
    return "";
  }
}

/** Draws the bar; `here` is the link of the page that is shown. */
export function bar(here) {
  const links = PAGES.map(([href, name], place) =>
    h("a", { href, "aria-current": href === here ? "page" : null, title: hasKeys ? `Key ${place + 1}` : null }, name));
  const out = token() && h("button", { type: "button", onclick: leave }, "Log out");
  const name = h("a", { class: "name", href: "/#/" }, h("img", { src: "/console/icon.svg", alt: "" }), "Dormouse");
  document.getElementById("bar").replaceChildren(name, h("nav", { "aria-label": "Pages" }, links), ...(out ? [out] : []));
  document.querySelector("#bar [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

/** Keys: digits choose a page, `/` the search, `?` tells them. */
export function keys() {
  hasKeys = true;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, select, textarea, [contenteditable], [role=textbox]")) return;
    const page = PAGES[Number(event.key) - 1];
    if (page) location.assign(page[0]);
    else if (event.key === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) { event.preventDefault(); search.focus(); }
    } else if (event.key === "?") say(`${PAGES.map(([, name], place) => `${place + 1} ${name}`).join("  ·  ")}  ·  / search`);
  });
}

/** The form that asks who it is; `said` is what went wrong before. */
export async function loginForm(then, said = "") {
  const { users, oidc } = await ways();
  const wrong = h("p", { class: "bad", role: "alert" }, said);
  const issuer = oidc && h("p", {}, h("a", { class: "button main", href: oidc.signIn }, `Sign in with ${new URL(oidc.issuer).host}`));
  if (!users) return h("div", { class: "login" }, h("h1", {}, "Log in"), issuer, wrong);
  const form = h("form", { class: "login", onsubmit: async (event) => {
    event.preventDefault();
    const { username, password } = Object.fromEntries(new FormData(form));
    wrong.textContent = "";
    try {
      if (await login(username, password)) then();
      else wrong.textContent = "The name or the password is wrong.";
    } catch (error) {
      wrong.textContent = error.message;
    }
  } },
    h("h1", {}, "Log in"),
    h("label", {}, "Name", h("input", { name: "username", autocomplete: "username", required: true, autofocus: true })),
    h("label", {}, "Password", h("input", { name: "password", type: "password", autocomplete: "current-password", required: true })),
    h("button", { class: "main" }, "Log in"),
    issuer,
    wrong);
  return form;
}
