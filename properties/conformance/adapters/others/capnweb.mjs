// capnweb behind the kit's protocol: node capnweb.mjs, in a folder where npm has installed capnweb. Each worker is a thread; every two have
// a MessagePort and a session over it. A handle is a stub, a value is an RpcTarget, and it is there until its last stub is disposed of.
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel, Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const require = createRequire(join(process.cwd(), "here.js")); // as from the folder that one is in; it knows NODE_PATH too
const { RpcStub, RpcTarget, newMessagePortRpcSession } = require("capnweb");

// -- a worker ---------------------------------------------------------------------------------------------------------------
const owned = new Set();
const desk = new Map();
const counts = new Map();
const roots = new Map();

class Cell extends RpcTarget {
  #value;
  constructor(value) {
    super();
    this.#value = value;
    value.catch(() => {}); // whoever fetches gets its error
    owned.add(this);
  }
  get() { return this.#value; }
  [Symbol.dispose]() { owned.delete(this); }
}

const functions = {
  echo: (value) => value,
  slow: (seconds, value) => sleep(seconds * 1000, value),
  fail: (message) => { throw new TypeError(message); },
  value_of: (stub) => stub.get(),
  hold: (stub, seconds) => sleep(seconds * 1000, true),
  later: (stub, seconds) => sleep(seconds * 1000).then(() => stub.get()),
  count: (key) => { counts.set(key, (counts.get(key) ?? 0) + 1); return counts.get(key); },
  witness: (key, ...stubs) => { functions.count(key); return Promise.all(stubs.map((one) => one.get())); },
};

class Root extends RpcTarget {
  make(name, args) { // the arguments go when this returns, and the function has them for longer
    const kept = args.map((one) => (one instanceof RpcStub ? one.dup() : one));
    return new Cell(Promise.resolve().then(() => functions[name](...kept)).finally(() => release(kept)));
  }
  own(value) { return new Cell(Promise.resolve(value)); }
  async run(name, args) { return await functions[name](...args); }
  keep(name, stub) { put(name, stub.dup()); }
}

function release(stubs) {
  for (const one of stubs) if (one instanceof RpcStub) one[Symbol.dispose]();
}

function put(name, stub) {
  desk.get(name)?.[Symbol.dispose](); // what it had under that name before
  desk.set(name, stub);
}

function held(name) {
  if (!desk.has(name)) throw Object.assign(new Error(`${workerData.name} holds no ${name}`), { kind: "unknown" });
  return desk.get(name);
}

const given = (args) => args.map((one) => (one?.rref ? held(one.rref) : one));

const verbs = {
  create: async ({ name, owner, function: fn, args }) => {
    const there = roots.get(owner);
    put(name, await (fn === null ? there.own(args[0]) : there.make(fn, given(args))));
  },
  share: async ({ name, to }) => { await roots.get(to).keep(name, held(name)); },
  drop: ({ name }) => { held(name)[Symbol.dispose](); desk.delete(name); },
  fetch: async ({ name }) => await held(name).get(),
  call: async ({ to, function: fn, args }) => await roots.get(to).run(fn, given(args)),
  probe: () => ({ owned: owned.size }),
};

function work() {
  const here = new Root();
  roots.set(workerData.name, new RpcStub(here)); // a worker calls itself without a port
  for (const [name, port] of Object.entries(workerData.ports)) roots.set(name, newMessagePortRpcSession(port, here));
  parentPort.on("message", async ({ id, verb, ...request }) => {
    try {
      parentPort.postMessage({ id, ok: JSON.parse(JSON.stringify((await verbs[verb](request)) ?? null)) });
    } catch (error) {
      parentPort.postMessage({ id, error: { kind: error.kind ?? "error", type: error.name, message: String(error.message) } });
    }
  });
  parentPort.postMessage("ready");
}

// -- the adapter: starts and ends workers, and hands on what is for one of them ------------------------------------------------
let workers = new Map();

async function start(names) {
  const ports = Object.fromEntries(names.map((name) => [name, {}]));
  names.forEach((one, place) => names.slice(place + 1).forEach((other) => {
    const { port1, port2 } = new MessageChannel();
    ports[one][other] = port1;
    ports[other][one] = port2;
  }));
  for (const name of names) {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { name, ports: ports[name] }, transferList: Object.values(ports[name]), stdout: true,
    });
    await once(worker, "message"); // it is ready: a slow beginning is not taken for a slow call
    const open = new Set();
    worker.on("message", (answer) => { open.delete(answer.id); say(answer); });
    worker.on("exit", () => open.forEach((id) => say({ id, error: dead(name) })));
    workers.set(name, { worker, open, lives: true });
  }
}

async function end(name) {
  workers.get(name).lives = false;
  await workers.get(name).worker.terminate();
}

const dead = (name) => ({ kind: "dead", type: "Error", message: `worker ${name} has died` });
const say = (answer) => console.log(JSON.stringify(answer));

const own = {
  hello: () => ({
    name: "capnweb", version: require(join(require.resolve("capnweb"), "..", "..", "package.json")).version,
    capabilities: ["create", "share", "drop", "fetch", "call", "probe", "probe.owned", "concurrent", "local", "fault.kill", "relay",
      "reclaims", "several", ...Object.keys(functions).map((name) => `function.${name}`)],
  }),
  start: (request) => start(request.workers),
  fault: (request) => end(request.worker),
  stop: async () => { await Promise.all([...workers.keys()].map(end)); workers.clear(); return []; },
};

async function answer(line) {
  const request = JSON.parse(line);
  const { id, verb, worker } = request;
  try {
    if (verb in own) say({ id, ok: (await own[verb](request)) ?? null });
    else if (!worker) say({ id, error: { kind: "unsupported", type: "Error", message: `there is no verb ${verb}` } });
    else if (!workers.get(worker)?.lives) say({ id, error: dead(worker) });
    else {
      workers.get(worker).open.add(id);
      workers.get(worker).worker.postMessage(request);
    }
  } catch (error) {
    say({ id, error: { kind: "error", type: error.name, message: error.message } });
  }
}

if (isMainThread) createInterface({ input: process.stdin }).on("line", answer).on("close", () => process.exit(0));
else work();
