// A worker in JavaScript: it joins a world of Python and JavaScript workers in a directory, calls and is called.
//
//   node worker.mjs DIRECTORY RANK NAME SIZE     joins, offers the functions of functions.mjs, leaves when another one does
//
// The protocol is in core.mjs; here are promises, functions and timeouts. Broken streams and the order of leaving (R32) are in
// streams.mjs.
// Left out: TCP, shared memory and autograd; a limit on what is kept for a peer; to join a world that has met (R44); and, as
// rank 0, to admit others and to be started again with what the authority had decided (R35).
import { readFileSync } from "node:fs";
import { join as joined } from "node:path";
import { pathToFileURL } from "node:url";
import { Core, Trouble } from "./core.mjs";
import { Link } from "./links.mjs";
import { gather } from "./meeting.mjs";
import { pack } from "./msgpack.mjs";
import { Streams } from "./streams.mjs";
import { errorIn, errorOut, filled, filledAnew, Ref, refsIn } from "./values.mjs";
import { frame, read, slots } from "./wire.mjs";

const TICK_MS = 50;
const STOPPED_MS = 1000; // so long between two ticks, and this worker was stopped itself

export class Worker extends Streams {
  /** Join a world. `functions` is what others may call, by name: `module:qualname` -> (worker, ...arguments). */
  static async join({ name, rank, size, directory, functions = {}, timeout = 60, meeting = 30, silence = 30 }) {
    const incarnation = BigInt(Date.now()) * 1_000_000n; // nanoseconds, greater each time (R2)
    const met = await gather({ directory, rank, name, size, incarnation, timeout: meeting });
    return new Worker({ name, rank, functions, timeout, incarnation, directory, silence, ...met });
  }

  constructor({ name, rank, names, functions, timeout, incarnation, links, me, server, directory, silence }) {
    super();
    Object.assign(this, { name, rank, names, functions, timeout, waits: new Map(), running: 0, faults: [], stopped: false });
    Object.assign(this, { me, server, directory, silence: silence * 1000, suspected: new Set(), ticked: Date.now() });
    this.core = new Core(rank, incarnation, { names });
    this.links = new Map(links.map((link) => [link.rank, link]));
    this.reached = new Map(links.map((link) => [link.rank, 0]));
    this.someoneLeaves = new Promise((resolve) => { this.onLeaving = resolve; });
    for (const link of links) {
      this.core.control.incarnations.set(link.rank, link.incarnation);
      this.readFrom(link);
    }
    server.removeAllListeners("connection").on("connection", (socket) => this.heardAtTheDoor(socket));
    this.timer = setInterval(() => this.tick(Date.now()), TICK_MS);
  }
  tick(now) {
    this.step((core) => core.control.tick(now));
    const wasStopped = now - this.ticked > STOPPED_MS;
    this.ticked = now;
    if (!this.silence || this.stopping) return;
    for (const link of this.links.values()) { // section Silence
      if (wasStopped) link.listened = now;
      if (link.works && now - link.spoke > this.silence / 4) link.sayHeard();
      if (link.rank !== 0 && now - link.listened > this.silence) this.suspect(link.rank, "it has said nothing for too long");
    }
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
    this.suspect(peer, reason);
  }
  do_lost({ peer }) { // R37
    this.links.get(peer)?.cut();
    this.links.delete(peer);
    if (!this.links.size) this.onLeaving(); // nobody is left
    this.checkLeaving?.();
  }
  do_joined({ worker }) { // R44: it connects
    this.names[worker] = readFileSync(joined(this.directory, `${worker}.name`), "utf8");
    this.links.set(worker, new Link(worker));
    this.reached.set(worker, 0);
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
    if (message.type === "Heard") return this.links.get(from)?.forget(message.taken);
    if (message.type === "HungUp") throw Object.assign(new Error(message.reason), { broken: true });
    if (message.type === "Known") return; // whoever meets in a directory looks there
    if (message.type === "Returned") throw new Error("it returns memory that it was not lent");
    this.examine(from, message.message ?? message);
    this.step((core) => core.receive(from, message));
  }
  examine(from, message) { // before anything of it takes effect (R28)
    if (message.rooms?.length) this.transmit(from, { type: "Returned", places: message.rooms });
    if (message.fn === undefined || message.unreadable) return;
    if (!Object.hasOwn(this.functions, message.fn)) message.unreadable = `${this.name} has no function ${message.fn}`;
    else if (!Array.isArray(message.value?.[0])) message.unreadable = "arguments are not a list and a map";
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
  usable(ref) { this.mustTakePart(); if (ref.gone || this.closed) throw new Trouble("refused", "this reference was let go"); }
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
    const rank = typeof to === "number" ? to : this.names.lastIndexOf(to); // the last one has joined anew
    if (rank < 0 || rank >= this.names.length) throw new Trouble("unknown", `there is no worker ${to}`);
    return rank;
  }
  mustTakePart() { if (this.core.fenced) throw this.core.fencedError(); } // R38
  mayBegin() { this.core.mayBegin(this.running > 0); }
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
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { functions } = await import("./functions.mjs");
  const [directory, rank, name, size] = process.argv.slice(2);
  const worker = await Worker.join({ directory, name, rank: Number(rank), size: Number(size), functions });
  await worker.someoneLeaves;
  const left = await worker.shutdown({ timeout: 60 }); // as others who only serve say at once that they would leave
  for (const one of left) console.error(one);
  process.exit(left.length ? 1 : 0);
}
