// Figures about runs that were read: how many, how long, and when.

import { clock, duration, h, svg } from "./dom.js";

const BARS = 40;

/** The value that a share of sorted numbers does not exceed. */
export function percentile(sorted, share) {
  return sorted.length ? sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] : null;
}

const KINDS = { Finished: "ok", Faulted: "bad", Suspended: "open", Executing: "open", Pending: "open" };

/** Runs by state and their durations. */
export function figures(runs) {
  const by = {};
  for (const one of runs) by[one.subStatus] = (by[one.subStatus] ?? 0) + 1;
  const times = runs.filter((one) => one.subStatus === "Finished" && one.finishedAt).map((one) => new Date(one.finishedAt) - new Date(one.createdAt)).sort((a, b) => a - b);
  return { by, count: times.length, p50: percentile(times, 0.5), p95: percentile(times, 0.95), longest: times.at(-1) ?? null };
}

/** Starts over time as bars, stacked by how the runs ended. */
export function chart(runs) {
  const times = runs.map((one) => new Date(one.createdAt).getTime());
  const first = Math.min(...times);
  const last = Math.max(...times, first + 60_000);
  const slots = Array.from({ length: BARS }, () => ({ ok: 0, bad: 0, open: 0, other: 0 }));
  for (const one of runs) {
    const place = Math.min(BARS - 1, Math.floor(((new Date(one.createdAt).getTime() - first) / (last - first)) * BARS));
    slots[place][KINDS[one.subStatus] ?? "other"] += 1;
  }
  const most = Math.max(...slots.map((slot) => slot.ok + slot.bad + slot.open + slot.other));
  const step = (last - first) / BARS;
  const bars = slots.flatMap((slot, place) => {
    let top = 120;
    const from = new Date(first + place * step);
    const told = `${from.toLocaleString()}: ${slot.ok} finished, ${slot.bad} failed, ${slot.open} open, ${slot.other} cancelled`;
    return ["bad", "open", "other", "ok"].filter((kind) => slot[kind]).map((kind) => {
      const height = (slot[kind] / most) * 112;
      top -= height;
      return svg("rect", { class: kind, x: `${(place / BARS) * 100}%`, y: top, width: `${(1 / BARS) * 100 - 0.3}%`, height, rx: 1 }, svg("title", {}, told));
    });
  });
  const { by } = figures(runs);
  return h("div", { class: "panel" },
    svg("svg", { class: "chart", role: "img", "aria-label": `Starts over time: ${Object.entries(by).map(([name, count]) => `${count} ${name}`).join(", ")}` }, svg("line", { x1: 0, x2: "100%", y1: 120.5, y2: 120.5 }), bars),
    h("div", { class: "ticks soft" }, h("span", {}, clock(new Date(first).toISOString())), h("span", {}, `at most ${most} in ${duration(step)}`), h("span", {}, clock(new Date(last).toISOString()))));
}
