// The walk: where it is, what it is compared with, and what keys and buttons do to it.

import { counted, h, show } from "./dom.js";
import { graphView } from "./graph.js";
import { moveText, runView } from "./lanes.js";
import { fromFragment, toFragment } from "./link.js";
import { alertsView, findView, isBroken, rulesView, sentencesView, turnsView } from "./panels.js";
import { SWITCH, holds, isSwitch, openSource } from "./source.js";
import { stateView } from "./tables.js";

const byId = (id) => document.getElementById(id);
const walk = { source: null, told: null, moves: [], nodes: [], at: 0, other: null, isCompared: false, chosen: null, fragment: "" };

function say(text) {
  byId("said").textContent = text;
}

// -- going somewhere ---------------------------------------------------------------------------------------------------

async function go(moves, at, said = "") {
  const { nodes, stopped } = await walk.source.walk(moves);
  walk.moves = moves.slice(0, nodes.length - 1);
  walk.nodes = nodes;
  walk.at = Math.min(Math.max(at, 0), walk.moves.length);
  say([said, stopped].filter(Boolean).join(" "));
  await render();
}

function jump(at) {
  walk.at = Math.min(Math.max(at, 0), walk.moves.length);
  say("");
  return render();
}

function keepOther() {
  if (walk.moves.length) walk.other = { moves: walk.moves, nodes: walk.nodes };
}

function take(label) {
  if (walk.moves[walk.at] === label) return jump(walk.at + 1);
  if (walk.at < walk.moves.length) keepOther();
  return go([...walk.moves.slice(0, walk.at), label], walk.at + 1);
}

// Switch a rule from here on, and take the rest of the run as far as it can happen then.
function toggle(rule) {
  const move = SWITCH + rule, rest = walk.moves.slice(walk.at);
  keepOther();
  if (walk.moves[walk.at - 1] === move) return go([...walk.moves.slice(0, walk.at - 1), ...rest], walk.at - 1);
  return go([...walk.moves.slice(0, walk.at), move, ...rest], walk.at + 1);
}

// -- looking for something ---------------------------------------------------------------------------------------------

function sentenceChosen() {
  return walk.told.sentences.find((one) => one.id === walk.chosen);
}

async function findFrom(at) {
  const sentence = sentenceChosen(), moves = walk.moves.slice(0, at);
  say("Searching …");
  const found = await walk.source.search(moves, walk.nodes.slice(0, at + 1), sentence);
  if (found.moves === null) return say(`${sentence.id} does not turn ${found.said}`.replace(/\.?$/, "."));
  keepOther();
  return go([...moves, ...found.moves], at + found.moves.length, `${sentence.id} turns here, ${counted(found.moves.length, "step")} on.`);
}

function findNext() {
  const sentence = sentenceChosen(), now = holds(walk.nodes[walk.at], sentence);
  const later = walk.nodes.findIndex((node, place) => place > walk.at && holds(node, sentence) !== now);
  if (later < 0) return findFrom(walk.at);
  return jump(later).then(() => say(`${sentence.id} turns at step ${later}.`));
}

// -- drawing -----------------------------------------------------------------------------------------------------------

// The place in the other run after as many actions; switches are not counted.
function otherAt() {
  const actions = walk.moves.slice(0, walk.at).filter((move) => !isSwitch(move)).length;
  let place = 0;
  for (let taken = 0; place < walk.other.moves.length && taken < actions; place += 1) taken += !isSwitch(walk.other.moves[place]);
  return place;
}

function comparison(node) {
  const place = otherAt(), other = walk.other.nodes[place], lanes = walk.told.lanes;
  const last = place > 0 ? moveText(walk.told.rules, walk.other.nodes[place - 1], walk.other.moves[place - 1]) : "the beginning";
  const title = (text, one) => h("h3", {}, text, isBroken(walk.told, one) && h("span", { class: "alarm" }, " ✗ broken"));
  return h("div", { class: "both" },
    h("div", {}, title(`This run, step ${walk.at}`, node), stateView(lanes, node, other)),
    h("div", {}, title(`The run before, step ${place}`, other), h("p", { class: "quiet" }, last), stateView(lanes, other, node)));
}

function stateParts(node, before) {
  const title = walk.at ? "The state, and what this step changed" : "The state at the beginning";
  const view = walk.isCompared && walk.other !== null ? comparison(node) : stateView(walk.told.lanes, node, before);
  return h("section", { class: "panel" }, h("h2", {}, walk.isCompared && walk.other ? "Two runs side by side" : title), view, graphView(walk.told.lanes, node));
}

function button(id, label, act, isDisabled = false) {
  return h("button", { type: "button", id, "data-key": id, disabled: isDisabled, on: { click: act } }, label);
}

function barView() {
  const { at, moves } = walk;
  return [
    button("first", "|◀", () => jump(0), at === 0), button("back", "◀ Back", () => jump(at - 1), at === 0),
    h("input", { type: "range", id: "place", "data-key": "place", min: 0, max: moves.length, value: at, "aria-label": "Step", on: { input: (event) => jump(Number(event.target.value)) } }),
    h("output", { id: "where" }, `step ${at} of ${moves.length}`),
    button("forward", "Forward ▶", () => jump(at + 1), at === moves.length), button("last", "▶|", () => jump(moves.length), at === moves.length),
    button("compare", walk.isCompared ? "Stop comparing" : "Compare with the run before", compare, walk.other === null),
    button("reset", "The run it opened with", () => { keepOther(); return go(walk.told.run, 0); }),
    button("copy", "Copy link", copyLink),
  ];
}

// Bring a row into sight within its list: the page itself stays where the reader has put it.
function bringUp(list, row) {
  const heads = list.firstElementChild.offsetHeight, top = row.offsetTop - list.firstElementChild.offsetTop;
  const above = top - heads, below = top + row.offsetHeight - list.clientHeight;
  if (list.scrollTop > above) list.scrollTop = above;
  else if (list.scrollTop < below) list.scrollTop = below;
}

async function render() {
  const { told, nodes, at } = walk, node = nodes[at], before = at > 0 ? nodes[at - 1] : null;
  show(byId("bar"), barView());
  show(byId("run"), runView(told, walk.moves, nodes, at, (one) => isBroken(told, one), jump));
  show(byId("alerts"), alertsView(told, node));
  show(byId("turns"), turnsView(node, walk.moves[at], take));
  show(byId("state"), stateParts(node, before));
  show(byId("sentences"), sentencesView(told, node, before));
  show(byId("find"), findView(told, walk.chosen, (id) => { walk.chosen = id; }, findNext, () => findFrom(0)));
  show(byId("rules"), rulesView(told, node, toggle));
  bringUp(byId("run"), byId("run").querySelector("li.at"));
  const fragment = await toFragment(told.world, at, walk.moves);
  if (at === walk.at && walk.nodes === nodes) {
    walk.fragment = fragment;
    history.replaceState(null, "", `#${fragment}`);
  }
}

function compare() {
  walk.isCompared = !walk.isCompared;
  return render();
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied: whoever opens it is here, on this step.");
  } catch {
    say("The address of this page is the link: copy it from the browser.");
  }
}

// -- beginning ---------------------------------------------------------------------------------------------------------

const KEYS = { ArrowLeft: () => jump(walk.at - 1), ArrowRight: () => jump(walk.at + 1), Home: () => jump(0), End: () => jump(walk.moves.length) };

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("select, input")) return;
  const turn = /^[1-9]$/.test(event.key) ? walk.nodes[walk.at].turns[Number(event.key) - 1] : undefined;
  if (!(event.key in KEYS) && turn === undefined) return;
  event.preventDefault();
  if (turn === undefined) KEYS[event.key](); else take(turn.label);
}

async function openFragment() {
  const fragment = location.hash.slice(1);
  if (fragment === walk.fragment && fragment) return;
  if (!fragment) return go(walk.told.run, 0);
  const linked = await fromFragment(fragment);
  if (linked === null) return go(walk.told.run, 0, "The link is damaged: it says no run.");
  if (linked.world !== walk.told.world) return go(walk.told.run, 0, "The link is of another world: other bounds, or other rules.");
  return go(linked.moves, linked.at);
}

async function begin() {
  walk.source = await openSource();
  walk.told = walk.source.told;
  walk.chosen = walk.told.sentences[0]?.id ?? null;
  byId("title").textContent = document.title = walk.told.title;
  show(byId("notes"), walk.told.notes.map((note) => h("p", {}, note)),
    h("p", { class: "quiet" }, "Arrow keys go back and forth, Home and End to the ends, 1 to 9 take a turn."));
  await openFragment();
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", openFragment);
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => say(`This page cannot be shown: ${error.message}`));
