// What surrounds every page: the bar with its links, the keys, the sign-in.

import { h, say } from "./dom.js";
import { claims, login, logout, token, ways } from "./session.js";

// Each with its key.
const PAGES = [
  ["/#/", "Overview", "1"],
  ["/#/inbox", "Inbox", "2"],
  ["/#/instances", "Instances", "3"],
  ["/#/incidents", "Incidents", "4"],
  ["/#/definitions", "Workflows", "5"],
  ["/#/schedules", "Schedules", "0"],
  ["/#/dead-letters", "Dead letters", "6"],
  ["/#/cluster", "Cluster", "7"],
  ["/#/access", "Access", "8"],
  ["/workflows/definitions", "Studio", "9"],
];

// Whether the keys work. They do not beside Studio, where people type into editors that are no input elements.
let hasKeys = false;

async function leave() {
  const isOfIssuer = (claims(token()).sub ?? "").startsWith("oidc:");
  const { oidc } = await ways();
  await logout();
  location.assign(oidc && isOfIssuer ? oidc.signOut : "/");
}

/** The name leads to the overview, without loading the console again where it is open already. */
function home(event) {
  if (location.pathname !== "/" || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  location.hash = "/";
}

// Made once: the picture is not loaded again with each page.
const name = h("a", { class: "name", href: "/", onclick: home }, h("img", { src: "/console/icon.svg", alt: "" }), "Dormouse");

/** Draws the bar; `here` is the link of the page that is shown. */
export function bar(here) {
  const links = PAGES.map(([href, name, key]) =>
    h("a", { href, "aria-current": href === here ? "page" : null, title: hasKeys ? `Key ${key}` : null }, name));
  const out = token() && h("button", { type: "button", onclick: leave }, "Log out");
  const guide = h("a", { class: "guide-link", href: "/guide" }, "Guide");
  document.getElementById("bar").replaceChildren(name, guide, h("nav", { "aria-label": "Pages" }, links), ...(out ? [out] : []));
  document.querySelector("#bar [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

/** Keys: a digit opens a page, `/` goes to the search, `?` lists the keys. */
export function keys() {
  hasKeys = true;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, select, textarea, dialog, [contenteditable], [role=textbox]")) return;
    const page = PAGES.find(([, , key]) => key === event.key);
    if (page) location.assign(page[0]);
    else if (event.key === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) { event.preventDefault(); search.focus(); }
    } else if (event.key === "?") say(`${PAGES.map(([, name, key]) => `${key} ${name}`).join("  ·  ")}  ·  / search`);
  });
}

/** The sign-in form; `said` is what went wrong before. */
export async function loginForm(then, said = "") {
  const { users, oidc } = await ways();
  document.title = "Log in · Dormouse";
  const wrong = h("p", { class: "bad", role: "alert" }, said);
  const issuer = oidc && h("p", {}, h("a", { class: "button main", href: oidc.signIn }, `Sign in with ${new URL(oidc.issuer).host}`));
  const noWay = !issuer && h("p", {}, "This server accepts no sign-in of users. Start it with ", h("code", {}, "--authentication users,apiKeys"), " or with an OpenID provider.");
  if (!users) return h("div", { class: "login" }, h("h1", {}, "Log in"), issuer || noWay, wrong);
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
