// Who may do what: API keys, users and roles, and the audit log. Parts that the user may not read are left out.

import { api, may, me, token } from "./session.js";
import { action, again, clock, few, h, link, moment, nothing, say, table, whole } from "./dom.js";
import { confirmed, dialog, field, line } from "./dialog.js";

const AUDIT_SIZE = 50;
const DAY_MS = 86_400_000;

/** Shows a secret that the server tells only once. */
const once = (title, secret) => dialog({
  title, ok: "Copy", close: "Close",
  body: [h("p", {}, "It is shown only now. Store it where you keep secrets."), h("input", { readonly: true, value: secret, "aria-label": title })],
  work: async (form, element) => {
    try { await navigator.clipboard.writeText(secret); } catch { element.querySelector("input").select(); throw new Error("The browser does not allow copying here. The text is selected: press Ctrl+C."); }
    say("Copied.");
    return true;
  },
});

const rolesField = (roles, chosen = []) => h("fieldset", { class: "field" }, h("legend", {}, "Roles"), h("span", {}, roles.map((one) => h("label", { class: "tick" }, h("input", { type: "checkbox", name: "roles", value: one.id, checked: chosen.includes(one.id) }), ` ${one.name} `))));

const known_as = { application: "API key", external: "account elsewhere" };

const words = (text) => String(text).split(/[\s,]+/).filter(Boolean);
const required = (form, name, label) => {
  const text = form.get(name).trim();
  if (!text) throw Object.assign(new Error(`${label}: a value is required.`), { field: name });
  return text;
};

async function makeKey(roles) {
  const made = await dialog({
    title: "Make an API key", ok: "Make the key",
    body: [line("Name", "name", { required: true, maxlength: 200 }, "The program that uses it"), rolesField(roles),
      line("Permissions", "permissions", { placeholder: "exec:workflow-definitions read:workflow-instances" }, "Besides those of the roles"),
      field("Valid for", h("select", { name: "days" }, [["", "ever"], [30, "30 days"], [90, "90 days"], [365, "a year"]].map(([days, name]) => h("option", { value: days, selected: days === 90 }, name))))],
    work: (form) => api("POST", "/identity/applications", {
      name: required(form, "name", "Name"), roles: form.getAll("roles"), permissions: words(form.get("permissions")),
      ...(form.get("days") ? { expiresInMs: Number(form.get("days")) * DAY_MS } : {}),
    }),
  });
  if (!made) return;
  await once(`The API key of ${made.name}`, made.apiKey);
  again();
}

async function putUser(roles, user = null) {
  const made = await dialog({
    title: user ? `Change ${user.name}` : "Add a user", ok: user ? "Change" : "Add",
    body: [user ? "" : line("Name", "name", { required: true }),
      line("Password", "password", { type: "password", autocomplete: "new-password" }, user ? "Empty: it stays" : "Empty: the server makes one"), rolesField(roles, user?.roles)],
    work: (form) => {
      const body = { roles: form.getAll("roles"), ...(form.get("password") ? { password: form.get("password") } : {}) };
      return user ? api("PUT", `/identity/users/${encodeURIComponent(user.id)}`, body) : api("POST", "/identity/users", { ...body, name: required(form, "name", "Name") });
    },
  });
  if (!made) return;
  if (!user && made.password) await once(`The password of ${made.name}`, made.password);
  again();
}

async function putRole(role = null) {
  const made = await dialog({
    title: role ? `Change ${role.name}` : "Add a role", ok: role ? "Change" : "Add",
    body: [line("Name", "name", { required: true, value: role?.name ?? "" }), field("Permissions", h("textarea", { name: "permissions", rows: 6, spellcheck: "false", value: (role?.permissions ?? []).join("\n") }), "One a line. * grants everything, read:* the catalogues of the designer")],
    work: (form) => {
      const body = { name: required(form, "name", "Name"), permissions: words(form.get("permissions")) };
      return role ? api("PUT", `/identity/roles/${encodeURIComponent(role.id)}`, body) : api("POST", "/identity/roles", body);
    },
  });
  if (made) again();
}

const remove = (what, name, path, told) => action("Delete", async () => {
  if (!(await confirmed(`Delete the ${what} ${name}?`, told, "Delete"))) return;
  await api("DELETE", path);
  say(`${name} was deleted.`);
  again();
}, { class: "danger" });

const heading = (text, ...more) => h("div", { class: "tools" }, h("h2", {}, text), h("span", { class: "end" }, more));

/** What the user may read, or null. */
const part = async (permission, path) => ((await may(permission)) ? api("GET", path) : null);

export async function page(query) {
  const cursor = query.get("cursor");
  const kinds = ["application", "user", "role"];
  const [who, keys, users, roles, audit, ...mays] = await Promise.all([
    me(), part("read:application", "/identity/applications"), part("read:user", "/identity/users"), part("read:role", "/identity/roles"),
    part("read:audit", `/audit?pageSize=${AUDIT_SIZE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`),
    ...kinds.flatMap((kind) => ["create", "update", "delete"].map((verb) => may(`${verb}:${kind}`))),
  ]);
  const can = Object.fromEntries(kinds.map((kind, place) => [kind, { create: mays[place * 3], update: mays[place * 3 + 1], delete: mays[place * 3 + 2] }]));
  const known = roles?.items ?? [];
  const role = (id) => known.find((one) => one.id === id)?.name ?? id;
  return [
    h("h1", {}, "Access"),
    h("p", {}, token() ? ["You are ", h("b", {}, who.name), ". "] : "This server has no access control. ", h("span", { class: "soft" }, who.permissions.includes("*") ? token() ? "You may do everything." : "Everybody who reaches it may do everything." : `Your permissions: ${who.permissions.join(", ") || "none"}.`)),
    keys && [heading("API keys", can.application.create ? action("Make an API key…", () => makeKey(known), { class: "main" }) : ""),
      table(["Name", "Grants", "Made", "Expires", ""], keys.items.map((one) => [
        whole(h("b", {}, one.name), h("div", { class: "soft" }, h("code", {}, one.clientId))), [...one.roles.map(role), ...one.permissions].join(", ") || h("span", { class: "soft" }, "nothing"), few(moment(one.createdAt)),
        few(one.expiresAt ? moment(one.expiresAt) : "never"), few(can.application.delete ? remove("API key", one.name, `/identity/applications/${encodeURIComponent(one.id)}`, "Programs that use it are rejected from now on.") : ""),
      ]), [h("b", {}, "There are no API keys."), h("p", {}, "A program authenticates with one.")])],
    users && [heading("Users", can.user.create ? action("Add a user…", () => putUser(known)) : ""),
      table(["Name", "Roles", ""], users.items.map((one) => [
        whole(h("b", {}, one.name)), one.roles.map(role).join(", ") || h("span", { class: "soft" }, "none"),
        few(can.user.update ? action("Change…", () => putUser(known, one)) : "", " ", can.user.delete && one.name !== who.name ? remove("user", one.name, `/identity/users/${encodeURIComponent(one.id)}`, "Their sessions end.") : ""),
      ]), "There are no local users.")],
    roles && [heading("Roles", can.role.create ? action("Add a role…", () => putRole()) : ""),
      table(["Name", "Permissions", ""], known.map((one) => [
        few(h("b", {}, one.name)), whole(one.permissions.join(", ") || h("span", { class: "soft" }, "none")),
        few(can.role.update ? action("Change…", () => putRole(one)) : "", " ", can.role.delete ? remove("role", one.name, `/identity/roles/${encodeURIComponent(one.id)}`, "A role that someone has cannot be deleted.") : ""),
      ]), "There are no roles.")],
    audit && [heading("Audit log of this month"),
      table(["When", "Who", "Action", "What", "Result", "From"], audit.items.map((one) => [few(clock(one.at)), whole(one.who, known_as[one.kind] ? h("div", { class: "soft" }, known_as[one.kind]) : ""), few(one.action), h("code", {}, one.subject.replace("/elsa/api", "")), few(h("span", { class: one.status >= 400 ? "bad" : "" }, String(one.status))), few(one.address ?? "")]), "Nothing was recorded."),
      h("p", {}, cursor ? link("access", "Newest") : "", " ", audit.cursor && audit.items.length ? link(`access?cursor=${encodeURIComponent(audit.cursor)}`, "Older") : "")],
    !keys && !users && !roles && !audit ? nothing("You may not read accounts.", "Ask an operator for the permissions read:application, read:user, read:role or read:audit.") : "",
  ].flat().filter(Boolean);
}
