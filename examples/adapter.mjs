// A backend in JavaScript, and its adapter: farref conform -- node examples/adapter.mjs
//
// The backend: workers that share one event loop, and count the references to what they keep. The adapter: one JSON line for
// each request and each answer (spec/conformance.md). What is not there, such as gradients, is not declared.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

// -- the backend ------------------------------------------------------------------------------------------------------
let workers = {};

class Entry { // a value on its owner, there as long as anybody refers to it
  constructor(owner, value) {
    Object.assign(this, { owner, value, references: 0 });
    workers[owner].owned.add(this);
    this.during(value).catch(() => {}); // the function itself refers to it; whoever fetches gets its error
  }
  take() { this.references += 1; return this; }
  release() { if (--this.references === 0) workers[this.owner].owned.delete(this); }
  async during(work) {
    this.take();
    try { return await work; } finally { this.release(); }
  }
}

const functions = {
  echo: (worker, value) => value,
  slow: (worker, seconds, value) => sleep(seconds * 1000, value),
  fail: (worker, message) => { throw Object.assign(new Error(message), { name: "ValueError" }); },
  value_of: (worker, entry) => entry.value,
  pass_on: async (worker, entry, to) => { await call(to, "value_of", [entry]); return entry.value; },
  hold: (worker, entry, seconds) => sleep(seconds * 1000, true),
  later: (worker, entry, seconds) => sleep(seconds * 1000).then(() => entry.value),
  count: (worker, key) => { worker.calls[key] = (worker.calls[key] ?? 0) + 1; return worker.calls[key]; },
};

async function call(to, name, args) {
  let work = (async () => functions[name](workers[to], ...args))();
  for (const one of args) if (one instanceof Entry) work = one.during(work);
  return work;
}

// -- the adapter ------------------------------------------------------------------------------------------------------
function held(worker, name) {
  const entry = workers[worker].held.get(name);
  if (!entry) throw Object.assign(new Error(`${worker} holds no ${name}`), { kind: "unknown" });
  return entry;
}
const resolved = (worker, args) => args.map((one) => (one?.rref ? held(worker, one.rref) : one));

const verbs = {
  hello: () => ({
    name: "one event loop", version: "1",
    capabilities: ["create", "share", "drop", "fetch", "call", "probe", "probe.owned", "concurrent", "local",
      ...Object.keys(functions).map((name) => `function.${name}`)],
  }),
  start: (request) => {
    workers = Object.fromEntries(request.workers.map((name) => [name, { held: new Map(), owned: new Set(), calls: {} }]));
  },
  create: ({ worker, name, owner, function: fn, args }) => {
    const value = fn === null ? Promise.resolve(args[0]) : call(owner, fn, resolved(worker, args));
    workers[worker].held.set(name, new Entry(owner, value).take());
  },
  share: ({ worker, name, to }) => {
    const entry = held(worker, name).take();
    workers[to].held.get(name)?.release(); // what it had under that name before
    workers[to].held.set(name, entry);
  },
  drop: ({ worker, name }) => { held(worker, name).release(); workers[worker].held.delete(name); },
  fetch: ({ worker, name }) => { const entry = held(worker, name); return entry.during(entry.value); },
  call: ({ worker, to, function: fn, args }) => call(to, fn, resolved(worker, args)),
  probe: ({ worker }) => ({ owned: workers[worker].owned.size }),
  stop: () => [],
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, verb, ...request } = JSON.parse(line);
  try {
    const carryOut = verbs[verb];
    if (!carryOut) throw Object.assign(new Error(`there is no verb ${verb}`), { kind: "unsupported" });
    console.log(JSON.stringify({ id, ok: (await carryOut(request)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ id, error: { kind: error.kind ?? "error", type: error.name, message: error.message } }));
  }
});
