// What stands beside the state: what can happen, what holds, what to look for, and which rules are followed.

import { counted, h } from "./dom.js";
import { holds } from "./source.js";

function section(title, ...content) {
  return h("section", { class: "panel" }, h("h2", {}, title), ...content);
}

const TURNS = 200; // more buttons than that are read by nobody

// Every action that can happen here, as a button with its sentence.
export function turnsView(node, taken, take) {
  const one = (turn, number) =>
    h("li", {}, h("button", {
      type: "button", class: turn.label === taken ? "turn taken" : "turn", "data-key": `turn ${turn.label}`, on: { click: () => take(turn.label) },
    }, h("b", {}, number < 9 ? `${number + 1} ` : "", turn.label), h("span", {}, turn.text)));
  const title = node.turns.length ? `What can happen now (${node.turns.length})` : "Nothing more can happen";
  const more = node.turns.length > TURNS && h("p", { class: "quiet" }, `The first ${TURNS} of ${node.turns.length} are shown.`);
  return section(title, more, h("ol", { class: "turns" }, node.turns.slice(0, TURNS).map(one)));
}

const NAMES = { holds: "✓ holds", broken: "✗ broken", open: "… not yet", never: "✗ and nothing more can happen" };

// How a sentence stands in a state. What must come true in the end is broken only where nothing more can happen.
export function standing(node, sentence) {
  if (holds(node, sentence)) return "holds";
  if (sentence.kind === "always") return "broken";
  return node.turns.length ? "open" : "never";
}

export function isBroken(told, node) {
  return told.sentences.some((one) => one.kind === "always" && one.id in node.broken);
}

// What is broken here, and for whom, in a line each.
export function alertsView(told, node) {
  const broken = told.sentences.filter((one) => ["broken", "never"].includes(standing(node, one)));
  const whom = (one) => node.broken[one.id].map((label) => label.split(": ")[1] ?? "the whole world").join(", ");
  return broken.map((one) => h("p", { class: "alert" }, h("b", {}, `✗ ${one.id} `), `is broken for ${whom(one)}: ${one.text}`));
}

function caseView(sentence, label) {
  const [name, about] = label.split(": ");
  return h("li", {}, h("b", {}, `for ${about ?? "the whole world"}: `), sentence.cases[label] || sentence.text, " ", h("code", {}, name));
}

function sentenceView(node, before, sentence) {
  const now = standing(node, sentence);
  const turned = before !== null && standing(before, sentence) !== now;
  const failing = now === "holds" ? [] : node.broken[sentence.id];
  return h("li", { class: `${now}${turned ? " turned" : ""}` },
    h("b", {}, `${sentence.id} `), h("small", {}, `${sentence.clause}, ${sentence.kind}`), " ", h("em", {}, NAMES[now], turned && ", since this step"),
    h("div", {}, sentence.text),
    failing.length > 0 && h("ul", {}, failing.map((label) => caseView(sentence, label))));
}

// How every property stands here: the broken ones first, then what is open.
export function sentencesView(told, node, before) {
  const order = ["broken", "never", "open", "holds"];
  const must = told.sentences.filter((one) => one.kind !== "sometimes");
  const sorted = [...must].sort((one, other) => order.indexOf(standing(node, one)) - order.indexOf(standing(node, other)));
  const wrong = must.filter((one) => ["broken", "never"].includes(standing(node, one))).length;
  const met = told.sentences.filter((one) => one.kind === "sometimes" && holds(node, one));
  return section(wrong ? `${counted(wrong, "sentence")} broken here` : "Nothing is broken here",
    h("ul", { class: "sentences" }, sorted.map((one) => sentenceView(node, before, one))),
    met.length > 0 && h("details", {}, h("summary", {}, `${counted(met.length, "situation")} met here`), h("ul", {}, met.map((one) => h("li", {}, `${one.id}: ${one.text}`)))));
}

// Look for the next state where a sentence turns, or for the shortest way to it from the beginning.
export function findView(told, chosen, choose, findNext, findFirst) {
  const group = (label, kinds) =>
    h("optgroup", { label }, told.sentences.filter((one) => kinds.includes(one.kind)).map((one) =>
      h("option", { value: one.id, selected: one.id === chosen }, `${one.id}: ${one.text}`)));
  return section("Find",
    h("label", { for: "sentence" }, "A state where this turns"),
    h("select", { id: "sentence", "data-key": "sentence", on: { change: (event) => choose(event.target.value) } },
      group("must hold", ["always", "eventually"]), group("some run must reach", ["sometimes"])),
    h("div", { class: "row" },
      h("button", { type: "button", id: "find-next", "data-key": "find-next", on: { click: findNext } }, "Next from here"),
      h("button", { type: "button", id: "find-first", "data-key": "find-first", on: { click: findFirst } }, "Shortest way from the beginning")));
}

// The rules as switches: what if one were off, or on, from here on?
export function rulesView(told, node, toggle) {
  if (!told.rules.length) return null;
  const one = (rule) => h("li", {}, h("label", {},
    h("input", { type: "checkbox", role: "switch", name: rule.name, "data-key": `rule ${rule.name}`, checked: !node.off.includes(rule.name), on: { change: () => toggle(rule.name) } }),
    h("span", {}, h("b", {}, `${rule.clause} `), rule.text, " ", h("code", {}, rule.name))));
  return h("details", { class: "panel", id: "rule-list", open: document.getElementById("rule-list")?.open ?? false },
    h("summary", {}, `Rules: ${node.off.length} of ${told.rules.length} are off. Switch one from here on`),
    h("p", { class: "quiet" }, "The steps after this one are taken again, as far as they can happen then."),
    h("ul", { class: "rules" }, told.rules.map(one)));
}
