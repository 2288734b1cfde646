// The run as lanes: a lifeline for each worker, a row for each step, time downwards. A message runs down beside the lifeline of
// its sender until the row in which it arrives, so one sees what overtook it.

import { h, s } from "./dom.js";
import { SWITCH, isSwitch } from "./source.js";

const WIDE = 92, NARROW = 34, ALL = 480, ROWS = 80, LEVEL = 24, FIRST = 8, NEXT = 5, LETTER = 6.4;
const LOST = ["dropped", "failed"];

// How wide a lane is: many of them share the room.
function laneWidth(names) {
  return Math.max(NARROW, Math.min(WIDE, ALL / names.length));
}

function place(names, name) {
  const found = names.indexOf(name);
  return found < 0 ? null : laneWidth(names) * (found + 0.5);
}

// Give each message that is under way a track beside its sender, the same for as long as it is under way.
function tracksOf(nodes) {
  let taken = new Map();
  return nodes.map((node) => {
    const kept = new Map();
    for (const one of node.flying) if (taken.has(one.label)) kept.set(one.label, taken.get(one.label));
    for (const one of node.flying) {
      if (kept.has(one.label)) continue;
      const used = node.flying.filter((other) => other.source === one.source && kept.has(other.label)).map((other) => kept.get(other.label).number);
      let number = 0;
      while (used.includes(number)) number += 1;
      kept.set(one.label, { ...one, number });
    }
    taken = kept;
    return kept;
  });
}

function trackX(names, track) {
  const from = place(names, track.source), to = place(names, track.target);
  if (from === null || to === null) return null;
  return from + (to >= from ? 1 : -1) * (FIRST + NEXT * track.number);
}

function arrow(names, turn, track) {
  const to = place(names, turn.message.target);
  const from = track ? trackX(names, track) : place(names, turn.message.source) ?? to;
  if (to === null || from === null) return null;
  const lost = LOST.includes(turn.fate);
  const end = lost ? (from + to) / 2 : to;
  const back = end + (from <= end ? -8 : 8);
  const kind = lost ? "arrow lost" : turn.fate === "duplicated" ? "arrow copied" : "arrow";
  const half = (turn.message.label.length * LETTER) / 2;
  const width = laneWidth(names) * names.length;
  const middle = Math.min(Math.max((from + end) / 2, half + 2), width - half - 2);
  return s("g", { class: kind },
    s("line", { x1: from, y1: LEVEL, x2: end, y2: LEVEL }),
    lost ? s("path", { d: `M${end - 5},${LEVEL - 5}l10,10m0,-10l-10,10` })
         : s("polygon", { points: `${end},${LEVEL} ${back},${LEVEL - 4} ${back},${LEVEL + 4}` }),
    half * 2 < width && s("text", { x: middle, y: LEVEL - 7, "text-anchor": "middle" }, turn.message.label));
}

function rowPicture(names, turn, before, after) {
  const lines = names.map((name) => s("line", { class: "life", x1: place(names, name), y1: 0, x2: place(names, name), y2: "100%" }));
  for (const [label, track] of new Map([...before, ...after])) {
    const x = trackX(names, track);
    if (x === null) continue;
    const ends = [before.has(label) ? 0 : LEVEL, after.has(label) ? "100%" : LEVEL];
    lines.push(s("line", { class: "track", x1: x, y1: ends[0], x2: x, y2: ends[1] }));
  }
  const mark = turn?.message ? arrow(names, turn, before.get(turn.message.label))
    : turn && place(names, turn.worker) !== null ? s("circle", { class: "dot", cx: place(names, turn.worker), cy: LEVEL, r: 5 }) : null;
  const room = h("div", { class: "lanes" }, s("svg", { width: laneWidth(names) * names.length, "aria-hidden": "true" }, lines, mark));
  room.style.width = `${laneWidth(names) * names.length}px`;
  return room;
}

// Say in a sentence what a move is.
export function moveText(rules, node, move) {
  if (!isSwitch(move)) return node.turns.find((turn) => turn.label === move)?.text ?? move;
  const rule = rules.find((one) => one.name === move.slice(SWITCH.length));
  const off = node.off.includes(rule.name);
  return `From here on ${rule.name} (${rule.clause}) is ${off ? "followed" : "not followed"}.`;
}

function headView(lane, names) {
  const head = h("span", { title: lane.name }, lane.name, lane.note && h("small", {}, lane.note));
  head.style.width = `${laneWidth(names)}px`;
  return head;
}

function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

// Show a run; a click on a row leads to the state after it.
export function runView(told, moves, nodes, at, isBroken, jump) {
  const names = told.lanes.map((lane) => lane.name);
  const tracks = tracksOf(nodes);
  const heads = h("div", { class: "heads", "aria-hidden": "true" }, told.lanes.map((lane) => headView(lane, names)));
  const row = (number, text, picture, kind) =>
    h("li", { class: kind },
      picture,
      h("button", { type: "button", "data-key": `step ${number}`, "aria-current": number === at ? "step" : null, on: { click: () => jump(number) } },
        h("b", {}, String(number)), " ", capital(text)));
  const from = Math.max(0, at - ROWS), to = Math.min(moves.length, at + ROWS); // of a long run what is near
  const rows = moves.slice(from, to).map((move, offset) => {
    const number = from + offset + 1, before = nodes[number - 1];
    const turn = before.turns.find((one) => one.label === move);
    const kind = [number === at && "at", number > at && "ahead", isSwitch(move) && "switch", isBroken(nodes[number]) && "broken"].filter(Boolean).join(" ");
    return row(number, moveText(told.rules, before, move), rowPicture(names, turn, tracks[number - 1], tracks[number]), kind);
  });
  const start = from === 0 && row(0, "the beginning: nothing has happened yet", rowPicture(names, undefined, new Map(), tracks[0]), at === 0 ? "at" : "");
  const cut = (number, text) => h("button", { type: "button", "data-key": text, on: { click: () => jump(number) } }, text);
  return [heads, from > 0 && cut(from, `${from} earlier steps`), h("ol", {}, start, rows), to < moves.length && cut(to, `${moves.length - to} later steps`)];
}
