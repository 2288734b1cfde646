// The adapter of the JavaScript workers (spec/conformance.md): farref conform -- node examples/javascript/adapter.mjs
//
// Each worker is a process of its own (this file again, with the word `worker`), and they talk over the wire of spec/wire.md.
// Verbs reach them as messages of Node. Not declared: gradients, and what needs them (there is no autograd here); `busy`, as a
// function that never waits would stop the only thread of a worker, answers included; and logs.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { deskOf, functions, keepOnDesk } from "./functions.mjs";
import { Extension, Float } from "./msgpack.mjs";
import { Worker } from "./worker.mjs";

const FUNCTIONS = ["echo", "slow", "fail", "misuse", "value_of", "pass_on", "hold", "later", "count", "witness", "unwritable",
  "nest", "missing"];
const CAPABILITIES = ["create", "share", "drop", "fetch", "call", "probe", "argument.unwritable", "argument.unreadable",
  "concurrent", "local", "timeout", "confirmed", "probe.owned", "probe.forks", "probe.pending", "probe.children", "fault.kill",
  "fault.pause", "fault.lose", "fault.delay", "fault.duplicate", "fault.cut", "stop.graceful", "restart", "silence", "reclaims",
  ...FUNCTIONS.map((name) => `function.${name}`)];
const STOP_SECONDS = 5;

const troubleOf = (error) => ({ kind: error.kind ?? "error", type: error.name, message: error.message });
const death = (name) => raised({ kind: "dead", type: "PeerDied", message: `${name} has died` });
const raised = (trouble) => Object.assign(new Error(trouble.message), { kind: trouble.kind, name: trouble.type });

// -- in the process of a worker -------------------------------------------------------------------------------------------
let worker;

function held(name) {
  const ref = deskOf(worker).get(name);
  if (!ref) throw Object.assign(new Error(`${worker.name} holds no ${name}`), { kind: "unknown", name: "LookupError" });
  return ref;
}
const argument = (one) => {
  if (one?.rref) return held(one.rref);
  if (one?.unwritable) return () => null;
  return one?.unreadable ? new Extension(10, Buffer.from("no")) : one; // a pickle, which nobody reads here
};
const shown = (value) => JSON.parse(JSON.stringify(value ?? null, (_, one) => (one instanceof Float ? Number(one) : one)));

const inWorker = {
  join: async (options) => { worker = await Worker.join({ ...options, functions }); },
  create: ({ name, owner, function: fn, args, timeout }) => {
    const given = args.map(argument);
    keepOnDesk(worker, name, fn === null ? worker.rref(given[0]) : worker.remote(owner, `js:${fn}`, given, { timeout }));
  },
  share: ({ name, to }) => worker.call(to, "js:keep", [name, held(name)]),
  drop: ({ name }) => { held(name); keepOnDesk(worker, name, undefined); deskOf(worker).delete(name); },
  fetch: async ({ name, timeout }) => shown(await held(name).fetch({ timeout })),
  call: async ({ to, function: fn, args, timeout }) =>
    shown(await worker.call(to, `js:${fn}`, args.map(argument), { timeout })),
  probe: ({ name }) => (name ? { confirmed: held(name).confirmedByOwner() } : probed(worker.tables())),
  fault: ({ kind, details }) => {
    if (kind === "cut") worker.breakStreamTo(details.to);
    else worker.faults.push({ kind, times: 1, seconds: 0, ...details });
  },
  leave: () => worker.shutdown({ timeout: STOP_SECONDS }),
};
const probed = ({ owned, forks, pending, children }) => ({ owned, forks, pending, children });

function serve() {
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ id, verb, ...request }) => {
    try {
      process.send({ id, ok: (await inWorker[verb](request)) ?? null });
    } catch (error) {
      process.send({ id, error: troubleOf(error) });
    }
  });
}

// -- in the process of the adapter ----------------------------------------------------------------------------------------
let workers = new Map(); // by name; they outlive `stop` if the next `start` is to be in them
let directory = null;
let again = false;
let asked = 0;

function spawn(name) {
  const child = fork(fileURLToPath(import.meta.url), ["worker"], { stdio: ["ignore", 2, 2, "ipc"] });
  const one = { child, waits: new Map(), dead: false };
  child.on("message", ({ id, ok, error }) => {
    const { resolve, reject } = one.waits.get(id);
    one.waits.delete(id);
    if (error) reject(raised(error)); else resolve(ok);
  });
  child.on("exit", () => {
    one.dead = true;
    for (const { reject } of one.waits.values()) reject(death(name));
  });
  return one;
}
function ask(name, verb, request = {}) {
  const one = workers.get(name);
  if (!one) throw raised({ kind: "unknown", type: "LookupError", message: `there is no worker ${name}` });
  if (one.dead) throw death(name);
  return new Promise((resolve, reject) => {
    const id = ++asked;
    one.waits.set(id, { resolve, reject });
    one.child.send({ id, verb, ...request });
  });
}
async function ended(one) {
  if (one.dead) return;
  const over = new Promise((resolve) => one.child.once("exit", resolve));
  one.child.kill("SIGKILL");
  await over;
}

async function start({ workers: names, options }) {
  again = options.again ?? false;
  directory = mkdtempSync(join(tmpdir(), "farref-js-"));
  for (const name of workers.keys()) if (!names.includes(name)) { await ended(workers.get(name)); workers.delete(name); }
  for (const name of names) if (!workers.has(name) || workers.get(name).dead) workers.set(name, spawn(name));
  const world = { size: names.length, directory, timeout: options.timeout ?? 60, silence: options.silence ?? 30 };
  await Promise.all(names.map((name, rank) => ask(name, "join", { name, rank, ...world })));
}
async function leave(name) { // what it could not release
  try {
    return (await ask(name, "leave")).map((line) => `${name}: ${line}`);
  } catch (error) {
    return [`${name}: ${error.message}`];
  }
}
async function stop() {
  const alive = [...workers].filter(([, one]) => !one.dead);
  for (const [, one] of alive) one.child.kill("SIGCONT");
  const left = directory ? await Promise.all(alive.map(([name]) => leave(name))) : [];
  if (!again) { await Promise.all([...workers.values()].map(ended)); workers = new Map(); }
  if (directory) rmSync(directory, { recursive: true, force: true });
  directory = null;
  return left.flat();
}
async function fault({ kind, worker: name, details }) {
  const { child } = workers.get(name);
  if (kind === "kill") return ended(workers.get(name));
  if (kind !== "pause") return ask(name, "fault", { kind, details });
  child.kill("SIGSTOP");
  setTimeout(() => child.kill("SIGCONT"), details.seconds * 1000);
}

const verbs = { hello: () => ({ name: "JavaScript workers", version: "1", capabilities: CAPABILITIES }), start, stop, fault };
for (const verb of ["create", "share", "drop", "fetch", "call", "probe"])
  verbs[verb] = ({ worker: name, ...request }) => ask(name, verb, request);

async function answer({ id, verb, ...request }) {
  try {
    const carryOut = verbs[verb];
    if (!carryOut) throw raised({ kind: "unsupported", type: "Error", message: `there is no verb ${verb}` });
    console.log(JSON.stringify({ id, ok: (await carryOut(request)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ id, error: troubleOf(error) }));
  }
}

if (process.argv[2] === "worker") serve();
else
  createInterface({ input: process.stdin })
    .on("line", (line) => answer(JSON.parse(line)))
    .on("close", async () => { await Promise.all([...workers.values()].map(ended)); process.exit(0); });
