// The graph of a workflow as a drawing, with the state of each activity. The server lays it out; the command line draws the same.

import { h, svg } from "./dom.js";

/** States of activities: the word, and the sign beside the name, so that colour is not needed to tell them apart. */
export const STATES = {
  plain: ["", ""],
  idle: ["not reached", ""],
  done: ["done", "✓"],
  running: ["running", "▶"],
  waiting: ["waiting", "◷"],
  failed: ["failed", "✕"],
  cancelled: ["cancelled", "–"],
  added: ["added", "+"],
  changed: ["changed", "±"],
};
const NAME_MAX = 21;
const cut = (text) => (text.length > NAME_MAX ? `${text.slice(0, NAME_MAX - 1)}…` : text);

/** The state of an execution of an activity. One that was open when its instance ended was cancelled with it. */
export function stateOf(execution, hasEnded = false) {
  if (execution.status === "Completed") return "done";
  if (execution.status === "Faulted") return "failed";
  if (execution.status === "Canceled" || execution.status === "Cancelled") return "cancelled";
  if (hasEnded) return "cancelled";
  return execution.hasBookmarks ? "waiting" : "running";
}

/** The state of each activity by its id: that of its last execution. */
export function statesOf(executions, hasEnded) {
  const states = new Map();
  for (const one of executions) states.set(one.activityId, stateOf(one, hasEnded));
  return states;
}

/** An arrow between two boxes, from the sides that face each other; one that leads back runs above them. */
function way(from, to, width, height) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  if (Math.abs(dx) < width && dy > height) {
    const [x1, y1, x2, y2] = [from.x + width / 2, from.y + height, to.x + width / 2, to.y];
    const bend = (y2 - y1) / 2;
    return [`M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, (x1 + x2) / 2, (y1 + y2) / 2];
  }
  if (dx < width) {
    const [x1, y1, x2, y2] = [from.x + width / 2, from.y, to.x + width / 2, to.y];
    const top = Math.min(y1, y2) - 26;
    return [`M${x1} ${y1}C${x1} ${top} ${x2} ${top} ${x2} ${y2}`, (x1 + x2) / 2, top + 8];
  }
  const [x1, y1, x2, y2] = [from.x + width, from.y + height / 2, to.x, to.y + height / 2];
  const bend = Math.max((x2 - x1) / 2, 20);
  return [`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, (x1 + x2) / 2, (y1 + y2) / 2];
}

/** Draws a graph. `states`: by activity id; the others are in the state `rest`. `pick(id)`: an activity was chosen. */
export function drawing(graph, { states = new Map(), rest = "plain", pick = null } = {}) {
  if (!graph?.nodes.length) return h("p", { class: "soft" }, "This workflow has no activities to draw.");
  const { nodes, arrows, nodeWidth, nodeHeight } = graph;
  const known = (node) => states.get(node.id) ?? rest;
  const counts = Object.entries(STATES).map(([name, [word, sign]]) => ({ name, word, sign, count: nodes.filter((node) => known(node) === name).length })).filter((one) => one.count && one.word);
  const lines = arrows.map((arrow) => {
    const [path, x, y] = way(nodes[arrow.from], nodes[arrow.to], nodeWidth, nodeHeight);
    const isPassed = !arrow.isInner && known(nodes[arrow.from]) === "done" && known(nodes[arrow.to]) !== "idle";
    return [svg("path", { class: `arrow${arrow.isInner ? " inner" : ""}${isPassed ? " passed" : ""}`, d: path, "marker-end": "url(#arrow-end)" }),
      arrow.label ? svg("text", { class: "label", x, y: y - 5, "text-anchor": "middle" }, arrow.label) : ""];
  });
  const boxes = nodes.map((node) => {
    const state = known(node);
    const [word, sign] = STATES[state];
    const chosen = () => pick?.(node.id);
    return svg("g", { class: `node ${state}`, "data-activity": node.id, ...(pick ? { tabindex: 0, role: "button", onclick: chosen, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chosen(); } } } : {}) },
      svg("rect", { x: node.x, y: node.y, width: nodeWidth, height: nodeHeight, rx: 8 }, svg("title", {}, `${node.name}${word ? `: ${word}` : ""}\n${node.type}, activity ${node.id}`)),
      svg("text", { x: node.x + 12, y: node.y + 21 }, cut(node.name)),
      svg("text", { class: "kind", x: node.x + 12, y: node.y + 38 }, cut(node.type)),
      sign ? svg("text", { class: "sign", x: node.x + nodeWidth - 12, y: node.y + 22, "text-anchor": "end" }, sign) : "");
  });
  const picture = svg("svg", { viewBox: `0 0 ${graph.width} ${graph.height}`, role: "group", "aria-label": "Graph of the workflow" },
    svg("defs", {}, svg("marker", { id: "arrow-end", viewBox: "0 0 8 8", refX: 8, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 10, markerHeight: 10, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z" }))),
    lines, boxes);
  // A large graph shrinks to fit as long as it can be read; then it scrolls.
  picture.style.maxWidth = `${graph.width}px`;
  picture.style.minWidth = `${Math.round(graph.width * 0.7)}px`;
  return h("figure", { class: "graph" },
    h("div", { class: "canvas", tabindex: 0, role: "region", "aria-label": "Graph, scrollable" }, picture),
    counts.length ? h("figcaption", {}, counts.map(({ name, word, sign, count }) => h("span", { class: `key ${name}` }, `${sign || "○"} ${count} ${word}`))) : "");
}
