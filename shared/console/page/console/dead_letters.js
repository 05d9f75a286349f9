// Dead letters: work that could not be delivered, to be replayed or deleted, one or many at a time.

import { api, may } from "./session.js";
import { action, again, few, h, instanceLink, json, link, moment, nothing, say, table, whole } from "./dom.js";
import { confirmed } from "./dialog.js";
import { bulk } from "./bulk.js";

const SIZE = 25;
const ALL_MAX = 1_000;
const selected = new Map();
const path = (id) => `/bookmark-queue/dead-letters/${encodeURIComponent(id)}`;

/** Replays a letter. One that some recipients may have had already is replayed only if that is allowed. */
async function replay(id, mayRepeat) {
  await api("POST", `${path(id)}/replay${mayRepeat ? "?mayRepeat=true" : ""}`);
  return "queued again";
}

async function replayOne(letter) {
  try {
    await replay(letter.id, false);
  } catch (problem) {
    if (problem.code !== "mayRepeat") throw problem;
    if (!(await confirmed("Replay an old event?", "This event came more than a day ago. Instances that have received it already receive it again if they wait for it now.", "Replay"))) return;
    await replay(letter.id, true);
  }
  say("It is queued for delivery again.");
  again();
}

async function removeOne(letter) {
  if (!(await confirmed("Delete this dead letter?", "Its content is lost.", "Delete"))) return;
  await api("DELETE", path(letter.id));
  again();
}

const count = (number) => `${number.toLocaleString("en")} dead ${number === 1 ? "letter" : "letters"}`;

async function replayMany() {
  const items = [...selected.keys()];
  const chosen = await confirmed(`Replay ${count(items.length)}?`, "Each is queued for delivery again. An event of more than a day ago is left here, because instances could receive it twice: replay such an event by itself.", "Replay", false);
  if (!chosen) return;
  const names = new Map(selected);
  await bulk({ title: `Replaying ${count(items.length)}`, items, name: (id) => names.get(id), work: (id) => replay(id, false) });
  selected.clear();
  again();
}

async function deleteMany() {
  const items = [...selected.keys()];
  if (!(await confirmed(`Delete ${count(items.length)}?`, "Their content is lost.", "Delete"))) return;
  const names = new Map(selected);
  await bulk({ title: `Deleting ${count(items.length)}`, items, name: (id) => names.get(id), work: async (id) => { await api("DELETE", path(id)); return "deleted"; } });
  selected.clear();
  again();
}

const nameOf = (letter) => `${letter.reason} (${letter.kind}, ${new Date(letter.deadLetteredAt).toLocaleString()})`;

export async function page(query) {
  const cursor = query.get("cursor");
  const [found, mayReplay, mayDelete] = await Promise.all([
    api("GET", `/bookmark-queue/dead-letters?pageSize=${SIZE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`),
    may("replay:bookmark-queue:dead-letters"), may("delete:bookmark-queue:dead-letters"),
  ]);
  const tools = h("div", {});
  const showTools = () => tools.replaceChildren(...(selected.size ? [h("div", { class: "tools selection", role: "group", "aria-label": "Selected dead letters" },
    h("b", {}, `${count(selected.size)} selected`),
    mayReplay ? action("Replay…", replayMany, { class: "main" }) : "", mayDelete ? action("Delete…", deleteMany, { class: "danger" }) : "",
    found.totalCount > selected.size ? action(`Select all ${Math.min(found.totalCount, ALL_MAX).toLocaleString("en")}`, async () => {
      const all = await api("GET", `/bookmark-queue/dead-letters?pageSize=${ALL_MAX}`);
      for (const letter of all.items) selected.set(letter.id, nameOf(letter));
      again();
    }) : "",
    action("Clear selection", () => { selected.clear(); again(); }))] : []));
  const choose = (letter, isChosen) => { if (isChosen) selected.set(letter.id, nameOf(letter)); else selected.delete(letter.id); };
  const tick = (letter) => h("input", { type: "checkbox", "data-id": letter.id, "aria-label": `Select: ${nameOf(letter)}`, checked: selected.has(letter.id), onchange: (event) => { choose(letter, event.target.checked); showTools(); } });
  const all = h("input", { type: "checkbox", "aria-label": "Select this page", onchange: (event) => {
    for (const letter of found.items) choose(letter, event.target.checked);
    for (const box of list.querySelectorAll("[data-id]")) box.checked = event.target.checked;
    showTools();
  } });
  showTools();
  const list = found.items.length ? table([all, "When", "Reason", "For", ""], found.items.map((letter) => [
    few(tick(letter)), few(moment(letter.deadLetteredAt)),
    whole(letter.reason, h("details", {}, h("summary", { class: "soft" }, `${letter.kind}, tried ${letter.deliveryAttempts} times`), json(letter.payload))),
    letter.workflowInstanceId ? instanceLink(letter.workflowInstanceId, letter.workflowInstanceId) : letter.correlationId ?? "",
    h("td", { class: "few buttons" }, mayReplay ? action("Replay", () => replayOne(letter)) : "", mayDelete ? action("Delete", () => removeOne(letter), { class: "danger" }) : ""),
  ])) : nothing("There are no dead letters.", "Everything was delivered.");
  return [
    h("h1", {}, "Dead letters"),
    h("p", { class: "soft" }, "Events that no instance took in time, and work that could not be delivered. Correct the cause, then replay them."),
    tools, list,
    h("p", {}, cursor ? link("dead-letters", "Newest") : "", " ", found.cursor && found.items.length ? link(`dead-letters?cursor=${encodeURIComponent(found.cursor)}`, "Older") : ""),
  ];
}
