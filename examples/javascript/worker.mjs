// A worker in JavaScript: it joins a world of Python and JavaScript workers in a directory, calls and is called.
//
//   node worker.mjs DIRECTORY RANK NAME SIZE     joins, offers the functions of functions.mjs, leaves when another one does
//
// The protocol is in core.mjs; here are promises, functions, timeouts and the order of leaving (R32).
import { pathToFileURL } from "node:url";
import { Core, Trouble } from "./core.mjs";
import { gather } from "./meeting.mjs";
import { Extension, pack, Slot } from "./msgpack.mjs";
import { frame, read, slots } from "./wire.mjs";

const TICK_MS = 50;

/** What the application holds: one handle. Whoever has it lets go with `release`. */
export class Ref {
  constructor(worker, at) { Object.assign(this, { worker, at, gone: false }); }
  get owner() { return this.worker.names[this.at.owner]; }
  get isOwner() { return this.at.fork === null; }
  confirmedByOwner() { return this.worker.core.confirmed(this.at); }
  fetch(options) { return this.worker.fetch(this, options); }
  keep() { this.worker.usable(this); this.worker.step((core) => core.keep(this.at)); return new Ref(this.worker, this.at); }
  release() { if (!this.gone) { this.gone = true; this.worker.step((core) => core.letGo(this.at)); } }
}

const refsIn = (value, found = []) => { // every Ref in a value
  if (value instanceof Ref) found.push(value);
  else if (value instanceof Map) for (const pair of value) refsIn(pair, found);
  else if (Array.isArray(value) || value instanceof Set) for (const one of value) refsIn(one, found);
  else if (value && Object.getPrototypeOf(value) === Object.prototype) refsIn(Object.values(value), found);
  return found;
};
const filled = (value, refs) => { // the same value with references in place of their numbers
  if (value instanceof Slot) return refs[value.number];
  if (!slots(value).size) return value;
  if (value instanceof Map) return new Map([...value].map((pair) => filled(pair, refs)));
  if (value instanceof Set) return new Set([...value].map((one) => filled(one, refs)));
  if (Array.isArray(value)) return value.constructor.from(value, (one) => filled(one, refs));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, refs)]));
};

// -- errors on the wire -------------------------------------------------------------------------------------------------
const errorOut = (error, name, fn) =>
  [error.module ?? "javascript", error.name ?? "Error", String(error.message ?? error), String(error.stack ?? ""), name, fn];
function errorIn(value) {
  const [module, name, message, traceback, worker, fn] = value;
  return Object.assign(new Error(message), { kind: "error", module, name, traceback, worker, function: fn });
}

export class Worker {
  /** Join a world. `functions` is what others may call, by name: `module:qualname` -> (worker, ...arguments). */
  static async join({ name, rank, size, directory, functions = {}, timeout = 60, meeting = 30 }) {
    const incarnation = BigInt(Date.now()) * 1_000_000n; // nanoseconds, greater each time (R2)
    const { links, names } = await gather({ directory, rank, name, size, incarnation, timeout: meeting });
    return new Worker({ name, rank, names, functions, timeout, incarnation, links });
  }

  constructor({ name, rank, names, functions, timeout, incarnation, links }) {
    Object.assign(this, { name, rank, names, functions, timeout, waits: new Map(), running: 0, faults: [], stopped: false });
    this.core = new Core(rank, incarnation, { names });
    this.links = new Map(links.map((link) => [link.rank, link]));
    this.reached = new Map(links.map((link) => [link.rank, 0]));
    this.someoneLeaves = new Promise((resolve) => { this.onLeaving = resolve; });
    for (const link of links) {
      this.core.control.incarnations.set(link.rank, link.incarnation);
      link.read((message) => this.arrives(link.rank, message)).then((reason) => this.lost(link.rank, reason));
    }
    this.timer = setInterval(() => this.step((core) => core.control.tick(Date.now())), TICK_MS);
  }

  // -- the core's effects -------------------------------------------------------------------------------------------------
  step(operation) { // one operation of the core, then what follows from it
    const result = operation(this.core);
    for (const effect of this.core.effects()) this[`do_${effect.do}`](effect);
    return result;
  }
  do_send({ to, message }) {
    const name = message.type === "Control" ? message.control.type : message.type;
    const fault = this.faults.find((one) => one.message === name);
    if (fault && --fault.times <= 0) this.faults.splice(this.faults.indexOf(fault), 1);
    if (!fault || fault.kind === "duplicate") this.transmit(to, message);
    if (fault && fault.kind !== "lose") setTimeout(() => this.transmit(to, message), fault.seconds * 1000);
  }
  transmit(to, message) {
    const bytes = frame(message);
    if (to === this.rank) setImmediate(() => this.arrives(to, read({ ...message })));
    else this.links.get(to)?.send(bytes);
  }
  do_answer({ number, ...answer }) { this.settleWait(`call ${number}`, answer); }
  do_fetched({ number, ...answer }) { this.settleWait(`fetch ${number}`, answer); }
  do_wake({ token, outcome }) {
    const wait = this.waits.get(token);
    this.waits.delete(token);
    if (outcome.error) wait?.reject(outcome.error);
    else wait?.resolve(outcome.value);
  }
  do_dropped({ outcome }) { for (const ref of refsIn(outcome.value)) ref.release(); }
  do_serve({ to, rref, fork, fetch, outcome }) {
    this.reply(to, outcome, "", (fields) => ({ type: "FetchReturn", rref, fork, fetch, ...fields }));
  }
  do_run({ work }) { this.run(work); }
  do_cut({ peer, reason }) {
    this.links.get(peer)?.cut();
    this.lost(peer, reason);
  }

  settleWait(token, { failed, value, refs, error }) {
    const wait = this.waits.get(token);
    this.waits.delete(token);
    const held = refs.map((at) => new Ref(this, at));
    if (!wait) for (const ref of held) ref.release();
    else if (error) wait.reject(error);
    else if (failed) wait.reject(errorIn(value));
    else {
      const used = slots(value);
      held.forEach((ref, number) => { if (!used.has(number)) ref.release(); }); // nobody else can
      wait.resolve(filled(value, held));
    }
  }

  // -- messages -----------------------------------------------------------------------------------------------------------
  arrives(from, message) {
    if (message.type === "Reached") return this.peerReached(from, message.step);
    if (message.type === "Returned") return this.links.get(from).cut(); // it was lent nothing
    this.examine(from, message.message ?? message);
    this.step((core) => core.receive(from, message));
  }
  examine(from, message) { // before anything of it takes effect (R28)
    if (message.rooms?.length) this.transmit(from, { type: "Returned", places: message.rooms });
    if (message.fn === undefined || message.unreadable) return;
    if (!Object.hasOwn(this.functions, message.fn)) message.unreadable = `${this.name} has no function ${message.fn}`;
    else if (!Array.isArray(message.value?.[0])) message.unreadable = "arguments are not a list and a map";
  }
  lost(rank, reason) { // R34, unless it has left in order
    this.links.delete(rank);
    if (this.stopped || this.reached.get(rank) >= 4) return this.checkLeaving?.();
    this.step((core) => core.died(rank, reason));
    if (!this.links.size) this.onLeaving(); // nobody is left
    this.checkLeaving?.();
  }

  // -- values in messages ---------------------------------------------------------------------------------------------------
  written(value, to) { // R28: what was shared is withdrawn if the rest cannot be written
    const forks = [];
    const refer = (one) => {
      if (!(one instanceof Ref)) return undefined;
      this.usable(one);
      forks.push(this.core.share(one.at, to));
      return forks.length - 1;
    };
    try {
      this.core.mustLive(to);
      return { forks, body: pack(value, refer) };
    } catch (error) {
      this.step((core) => forks.forEach((fork) => core.withdraw(fork)));
      throw error instanceof Trouble ? error : new Trouble("error", `this cannot be written: ${error.message}`, error.name);
    }
  }
  usable(ref) { if (ref.gone || this.closed) throw new Trouble("refused", "this reference was let go"); }
  reply(to, outcome, fn, message) {
    let fields;
    try {
      if (outcome.error) throw outcome.error;
      fields = { failed: false, ...this.written(outcome.value, to) };
      frame(message(fields));
    } catch (error) {
      if (this.core.dead.has(to)) return;
      fields = { failed: true, forks: [], body: pack(errorOut(error, this.name, fn)) };
    }
    this.do_send({ to, message: message(fields) });
  }

  // -- functions ----------------------------------------------------------------------------------------------------------
  async run(work) {
    const { from, rref, call, fn, value, refs } = work;
    const held = refs.map((at) => new Ref(this, at));
    const outcome = work.error ? { error: work.error } : await this.outcomeOf(fn, filled(value, held));
    if (rref) this.finish(rref, outcome);
    else this.reply(from, outcome, fn, (fields) => ({ type: "Return", call, ...fields }));
    for (const ref of held) ref.release();
  }
  async outcomeOf(fn, [args, named]) {
    this.running += 1;
    try {
      const given = Object.keys(named ?? {}).length ? [...args, named] : args;
      return { value: await this.functions[fn](this, ...given) };
    } catch (error) {
      return { error };
    } finally {
      this.running -= 1;
    }
  }
  finish(rref, outcome) { // the value holds its references itself
    if (outcome.value !== undefined) outcome = { value: filledAnew(outcome.value) };
    this.step((core) => core.finish(rref, outcome));
  }

  // -- what the application does --------------------------------------------------------------------------------------------
  rankOf(to) {
    const rank = typeof to === "number" ? to : this.names.indexOf(to);
    if (rank < 0 || rank >= this.names.length) throw new Trouble("unknown", `there is no worker ${to}`);
    return rank;
  }
  mayBegin() { if (this.stopping && !this.running) throw new Trouble("refused", `${this.name} is leaving`); } // R32, step 1
  wait(token, seconds, onTimeout) {
    return new Promise((resolve, reject) => {
      const limit = seconds ?? this.timeout;
      const timer = limit > 0 && setTimeout(() => {
        this.waits.delete(token);
        this.step(onTimeout);
        reject(new Trouble("timeout", `no answer within ${limit} s`));
      }, limit * 1000);
      const over = (then) => (what) => { clearTimeout(timer); then(what); };
      this.waits.set(token, { resolve: over(resolve), reject: over(reject) });
    });
  }
  /** Call a function on a worker and get its result. */
  async call(to, fn, args = [], { timeout } = {}) {
    this.mayBegin();
    const rank = this.rankOf(to);
    const { forks, body } = this.written([args, {}], rank);
    const call = this.step((core) => core.call(rank, fn, forks, body));
    return this.wait(`call ${call}`, timeout, (core) => core.abandon(core.calls, call)); // R27
  }
  /** Let a worker run a function and keep the result: a Ref, at once (R10, R12). */
  remote(to, fn, args = [], { timeout } = {}) {
    this.mayBegin();
    const rank = this.rankOf(to);
    if (rank === this.rank) return this.remoteOnSelf(fn, args);
    const { forks, body } = this.written([args, {}], rank);
    const ref = new Ref(this, this.step((core) => core.createRemote(rank, fn, forks, body)));
    const limit = timeout ?? this.timeout;
    if (limit > 0) setTimeout(() => this.step((core) => core.timeOutCreation(ref.at)), limit * 1000).unref(); // R27
    return ref;
  }
  remoteOnSelf(fn, args) {
    if (!Object.hasOwn(this.functions, fn)) throw new Trouble("refused", `${this.name} has no function ${fn}`);
    const kept = filledAnew(args);
    const ref = new Ref(this, this.step((core) => core.createOnSelf()));
    this.outcomeOf(fn, [kept, {}]).then((outcome) => {
      this.finish(ref.at.rref, outcome);
      for (const one of refsIn(kept)) one.release();
    });
    return ref;
  }
  /** A reference to a value of one's own (R13). */
  rref(value) { return new Ref(this, this.step((core) => core.createLocal(filledAnew(value)))); }
  /** The value of a reference; on its owner without a message (R20, R21). */
  async fetch(ref, { timeout } = {}) {
    this.mayBegin();
    this.usable(ref);
    if (ref.isOwner) {
      const token = Symbol();
      const answer = this.wait(token, timeout, (core) => core.giveUp(ref.at, token));
      this.step((core) => core.await(ref.at, token));
      return answer;
    }
    const fetch = this.step((core) => core.fetch(ref.at));
    return this.wait(`fetch ${fetch}`, timeout, (core) => core.abandon(core.fetches, fetch));
  }
  tables() { return this.core.tables(); }

  // -- leaving (R32) --------------------------------------------------------------------------------------------------------
  peerReached(from, step) {
    this.reached.set(from, Math.max(step, this.reached.get(from)));
    this.onLeaving();
    this.checkLeaving?.();
  }
  reach(step) { for (const link of this.links.values()) link.send(frame({ type: "Reached", step })); }
  othersAt(step) { return [...this.links.keys()].every((rank) => this.core.dead.has(rank) || this.reached.get(rank) >= step); }
  async until(holds, deadline) {
    while (!holds() && Date.now() < deadline)
      await new Promise((resolve) => { this.checkLeaving = resolve; setTimeout(resolve, 5); });
  }
  /** Leave the world together with the others; gives what could not be released. */
  async shutdown({ timeout = 10 } = {}) {
    const deadline = Date.now() + timeout * 1000;
    const idle = () => !this.running && !this.core.busy();
    this.stopping = true;
    this.reach(1);
    await this.until(() => idle() && this.othersAt(1), deadline);
    this.reach(2);
    await this.until(() => idle() && this.othersAt(2), deadline);
    this.closed = true;
    this.step((core) => core.letGoOfAll());
    await this.until(() => this.core.onlyTheDeadKeep(), deadline);
    this.reach(4);
    await this.until(() => this.othersAt(4), deadline);
    return this.leave();
  }
  leave() { // at once
    this.stopped = true;
    clearInterval(this.timer);
    for (const link of this.links.values()) link.end();
    for (const { reject } of this.waits.values()) reject(new Trouble("refused", `${this.name} has left`));
    return this.core.left();
  }
}

const filledAnew = (value) => { // the same value with handles of its own
  if (value instanceof Ref) return value.keep();
  if (!refsIn(value).length || value instanceof Extension) return value;
  if (value instanceof Map) return new Map([...value].map(filledAnew));
  if (value instanceof Set) return new Set([...value].map(filledAnew));
  if (Array.isArray(value)) return value.constructor.from(value, filledAnew);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filledAnew(one)]));
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { functions } = await import("./functions.mjs");
  const [directory, rank, name, size] = process.argv.slice(2);
  const worker = await Worker.join({ directory, name, rank: Number(rank), size: Number(size), functions });
  await worker.someoneLeaves;
  const left = await worker.shutdown();
  for (const one of left) console.error(one);
  process.exit(left.length ? 1 : 0);
}
