// What was given up on: to be delivered anew, or deleted.

import { api } from "./session.js";
import { action, few, h, json, link, moment, say, table, whole } from "./dom.js";
import { rows } from "./data.js";

export async function deadLetters(query) {
  const cursor = query.get("cursor");
  const found = await api("GET", `/bookmark-queue/dead-letters?pageSize=25${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
  const again = () => dispatchEvent(new HashChangeEvent("hashchange"));
  const path = (letter) => `/bookmark-queue/dead-letters/${encodeURIComponent(letter.id)}`;
  const deliver = async (letter) => {
    try {
      await api("POST", `${path(letter)}/replay`);
    } catch (problem) {
      if (problem.code !== "mayRepeat") throw problem;
      if (!confirm("This event came more than a day ago. Instances that have had it then get it again if they wait for it now. Replay it?")) return;
      await api("POST", `${path(letter)}/replay?mayRepeat=true`);
    }
    say("It is being delivered anew.");
    again();
  };
  const replay = (letter) => action("Replay", () => deliver(letter));
  const remove = (letter) => action("Delete", async () => {
    if (!confirm("Delete this dead letter? What it carries is lost.")) return;
    await api("DELETE", path(letter));
    again();
  }, { class: "danger" });
  return [
    h("h1", {}, "Dead letters"),
    h("p", { class: "soft" }, "Events that nobody took in time, and work that could not be delivered. Nothing here is lost: replay it when its cause is mended."),
    table(["When", "Why", "For", ""], rows(found.items, (letter) => [
      few(moment(letter.deadLetteredAt)),
      whole(letter.reason, h("details", {}, h("summary", { class: "soft" }, `${letter.kind}, tried ${letter.deliveryAttempts} times`), json(letter.payload))),
      letter.workflowInstanceId ? link(`instances/${encodeURIComponent(letter.workflowInstanceId)}`, letter.workflowInstanceId) : letter.correlationId ?? "",
      few(replay(letter), " ", remove(letter)),
    ]), "There are none."),
    found.cursor && found.items.length ? h("p", {}, h("a", { href: `/#/dead-letters?cursor=${encodeURIComponent(found.cursor)}` }, "Older")) : "",
  ];
}
