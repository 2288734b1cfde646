// What JavaScript workers offer: the functions of spec/conformance.md, and a desk on which references are kept by name.
import { setTimeout as sleep } from "node:timers/promises";
import { Trouble } from "./core.mjs";

const counts = new Map();
const desks = new WeakMap(); // worker -> what it holds, by name

export function deskOf(worker) {
  if (!desks.has(worker)) desks.set(worker, new Map());
  return desks.get(worker);
}
export function keepOnDesk(worker, name, ref) {
  const before = deskOf(worker).get(name);
  deskOf(worker).set(name, ref);
  before?.release();
  return null;
}

function count(worker, word) {
  counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts.get(word);
}
async function witness(worker, word, ...refs) {
  count(worker, word);
  return Promise.all(refs.map((ref) => ref.fetch()));
}
async function nest(worker, depth, here, there) {
  if (Number(depth) === 0) return 0;
  return 1 + (await worker.call(there, "js:nest", [Number(depth) - 1, there, here]));
}

const plain = {
  echo: (worker, value) => value,
  slow: (worker, seconds, value) => sleep(seconds * 1000, value),
  fail: (worker, message) => { throw Object.assign(new Error(message), { name: "ValueError", module: "builtins" }); },
  misuse: () => { throw new Trouble("refused", "this is no reference"); },
  value_of: (worker, ref) => ref.fetch(),
  pass_on: async (worker, ref, to) => { await worker.call(to, "js:value_of", [ref]); return ref.fetch(); },
  hold: (worker, ref, seconds) => sleep(seconds * 1000, true),
  later: async (worker, ref, seconds) => { await sleep(seconds * 1000); return ref.fetch(); },
  count,
  witness,
  unwritable: () => () => null,
  nest,
  keep: (worker, name, ref) => keepOnDesk(worker, name, ref.keep()),
  // what a program in another language may want of a JavaScript worker
  drop: (worker, name) => keepOnDesk(worker, name, undefined),
  give: (worker, name) => deskOf(worker).get(name),
  make: (worker, name, to, fn, args) => keepOnDesk(worker, name, worker.remote(to, fn, args)),
  ask: (worker, to, fn, args) => worker.call(to, fn, args),
  tables: (worker) => worker.tables(),
  cut: (worker, to) => worker.breakStreamTo(to),
};
export const functions = Object.fromEntries(Object.entries(plain).map(([name, one]) => [`js:${name}`, one]));
