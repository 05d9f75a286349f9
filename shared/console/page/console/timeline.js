// When each activity of an instance ran and waited, as bars over time.

import { clock, duration, h, svg } from "./dom.js";
import { STATES, stateOf } from "./graph.js";

const ROWS_MAX = 200;
const TICKS = 4;
const percent = (part) => `${Math.min(100, Math.max(0, part * 100)).toFixed(3)}%`;

/**
 * The timeline of executions. `tries`: times of failed attempts by the execution's id. `name(id)`: an activity's name.
 * It ends at `now` if the instance has not ended.
 */
export function timeline(executions, tries, name, { begin, end, hasEnded, pick }) {
  if (!executions.length) return h("p", { class: "soft" }, "No activity has run yet.");
  const first = new Date(begin).getTime();
  const last = Math.max(end ? new Date(end).getTime() : Date.now(), first + 1);
  const at = (text) => (new Date(text).getTime() - first) / (last - first);
  const rows = executions.slice(0, ROWS_MAX).map((one) => {
    const state = stateOf(one, hasEnded);
    const isOpen = !one.completedAt && ["running", "waiting", "cancelled"].includes(state);
    const until = one.completedAt ? at(one.completedAt) : isOpen ? 1 : at(one.startedAt);
    const ms = (one.completedAt ? new Date(one.completedAt).getTime() : isOpen ? last : new Date(one.startedAt).getTime()) - new Date(one.startedAt).getTime();
    const word = STATES[state][0];
    const failed = tries.get(one.id) ?? [];
    return h("tr", {},
      h("th", { scope: "row" }, h("button", { type: "button", class: "plain activity", title: `Activity ${one.activityId}. Show its journal`, onclick: () => pick(one.activityId) }, name(one.activityId))),
      h("td", { class: "bar" }, svg("svg", { class: "span", role: "img", "aria-label": `${word} for ${duration(ms)}${failed.length ? `, ${failed.length} failed attempts` : ""}` },
        svg("title", {}, `${word}, ${duration(ms)}`),
        svg("rect", { class: `${state}${one.hasBookmarks ? " wait" : ""}`, x: percent(at(one.startedAt)), y: 3, width: percent(until - at(one.startedAt)), height: 12, rx: 2 }),
        // A bar that is too short to see still has its beginning.
        svg("rect", { class: state, x: percent(Math.min(at(one.startedAt), 0.995)), y: 3, width: 4, height: 12, rx: 2 }),
        failed.map((time) => svg("circle", { class: "try", cx: percent(at(time)), cy: 9, r: 4 }, svg("title", {}, "failed attempt"))))),
      h("td", { class: "few" }, h("span", { class: state === "failed" ? "bad" : "soft" }, isOpen ? `${word} ${duration(ms)}` : duration(ms))));
  });
  const ticks = Array.from({ length: TICKS + 1 }, (_, place) => h("span", {}, clock(new Date(first + ((last - first) * place) / TICKS).toISOString())));
  return h("div", { class: "scroll timeline" },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Activity"), h("th", { scope: "col", class: "bar" }, h("div", { class: "ticks" }, ticks)), h("th", { scope: "col" }, "Took"))),
      h("tbody", {}, rows)),
    executions.length > ROWS_MAX ? h("p", { class: "soft note" }, `The first ${ROWS_MAX} of ${executions.length.toLocaleString("en")} executions.`) : "");
}
