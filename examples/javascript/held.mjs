// The core driven one step at a time (step verbs of spec/conformance.md): farref conform -- node examples/javascript/held.mjs
//
// Several cores in this process. Every message is held in a list until the kit says what becomes of it; there is no clock, and
// a function ends when it is told to. The application does nothing by itself: it keeps what it is given.
import { createInterface } from "node:readline";
import { Core } from "./core.mjs";
import { key } from "./ids.mjs";

const NOTHING_NEW = ["create", "wrap", "pass", "give", "fetch"]; // what nobody begins who is leaving (R32)
const idOf = (text) => text.split(".").map(Number);
const wrong = (kind, message) => Object.assign(new Error(message), { kind });

class World {
  constructor(names) {
    Object.assign(this, { names, sent: 0, waits: 0, flights: new Map(), handles: new Map() });
    this.cores = names.map((_, rank) => new Core(rank, 1, { names }));
    this.gone = names.map(() => []);
  }
  rankOf(name) {
    if (!this.names.includes(name)) throw wrong("unknown", `there is no worker ${name}`);
    return this.names.indexOf(name);
  }
  refOf({ rref, fork }, rank) {
    if (!fork) return { rref: idOf(rref), owner: rank, fork: null };
    const user = this.cores[rank].users.get(fork);
    return { rref: idOf(rref), owner: user?.owner ?? null, fork: idOf(fork) };
  }

  // -- steps of a core, and what follows from them ------------------------------------------------------------------------
  step(rank, operation) {
    const result = operation(this.cores[rank]);
    for (const effect of this.cores[rank].effects()) this[effect.do]?.(rank, effect);
    return result;
  }
  send(from, { to, message }) { this.flights.set(++this.sent, { id: this.sent, from, to, message }); }
  run(rank, { work }) {
    for (const ref of work.refs) this.holds(rank, ref);
    for (const ref of work.refs) if (!ref.fork) this.step(rank, (core) => core.await(ref, ++this.waits)); // R21
  }
  serve(rank, { to, rref, fork, fetch }) {
    this.send(rank, { to, message: { type: "FetchReturn", rref, fork, fetch, failed: false, forks: [], value: null } });
  }
  answer(rank, { refs }) { for (const ref of refs) this.holds(rank, ref); }
  dropped(rank, { rref }) { this.gone[rank].push(key(rref)); }

  placeOf(rank, { rref, fork }) { return `${rank} ${key(fork ?? rref)}`; }
  holds(rank, ref) {
    const place = this.placeOf(rank, ref);
    this.handles.set(place, [...(this.handles.get(place) ?? []), ref]);
    return ref;
  }

  // -- what the application begins ----------------------------------------------------------------------------------------
  begin({ worker, what, to, ...request }) {
    const rank = this.rankOf(worker);
    if (NOTHING_NEW.includes(what)) this.cores[rank].mayBegin();
    const ref = request.rref && this.refOf(request, rank);
    const beginnings = {
      create: () => this.made(rank, (core) => (to === worker ? core.createOnSelf() : core.createRemote(this.rankOf(to), "make", [], null))),
      wrap: () => this.made(rank, (core) => core.createLocal(null)),
      finish: () => this.step(rank, (core) => core.finish(ref.rref, { value: null })),
      pass: () => this.passed(rank, ref, this.rankOf(to)),
      give: () => this.given(rank, ref, this.rankOf(to)),
      fetch: () => this.step(rank, (core) => core.fetch(ref)) && null,
      "let go": () => this.letGo(rank, ref),
      leave: () => { this.cores[rank].leaving = true; },
    };
    if (!beginnings[what]) throw wrong("unsupported", `nobody can begin ${what}`);
    return beginnings[what]();
  }
  made(rank, operation) {
    const { rref, fork } = this.holds(rank, this.step(rank, operation));
    return { rref: key(rref), fork: fork && key(fork) };
  }
  passed(rank, ref, to) {
    const fork = this.step(rank, (core) => core.share(ref, to));
    this.step(rank, (core) => core.call(to, "keep", [fork], null));
    return { fork: key(fork.fork) };
  }
  given(rank, ref, to) { // the other one has called for it, and the call has arrived
    const call = this.cores[to].call(rank, "give", [], null);
    this.cores[to].effects();
    const fork = this.step(rank, (core) => core.share(ref, to));
    this.send(rank, { to, message: { type: "Return", call, failed: false, forks: [fork], value: null } });
    return { fork: key(fork.fork) };
  }
  letGo(rank, ref) {
    const held = this.handles.get(this.placeOf(rank, ref));
    if (!held) throw wrong("unknown", `${this.names[rank]} was never given this reference`);
    this.handles.delete(this.placeOf(rank, ref));
    for (const one of held) this.step(rank, (core) => core.letGo(one));
  }

  // -- what becomes of messages -------------------------------------------------------------------------------------------
  flight(id) {
    if (!this.flights.has(id)) throw wrong("unknown", `no message ${id} is under way`);
    return this.flights.get(id);
  }
  taken(id) { const flight = this.flight(id); this.flights.delete(id); return flight; }
  arrive({ from, to, message }, more = {}) { this.step(to, (core) => core.receive(from, { ...message, ...more })); }
  deliver({ message }) { this.arrive(this.taken(message)); }
  copy({ message }) { this.arrive(this.flight(message)); }
  lose({ message }) { this.taken(message); }
  fail({ message: id, by }) {
    const flight = this.taken(id);
    const { from, to, message } = flight;
    const reason = "it failed";
    if (by === "receiver") this.arrive(flight, { unreadable: reason });
    else if (message.type === "RemoteCall") this.step(from, (core) => core.remoteFailed({ ...message, owner: to }, reason));
    else this.step(from, (core) => core.receive(to, { type: "CallFailed", call: message.type === "Call" ? message.call : null, forks: message.forks, reason }));
  }

  // -- timers -------------------------------------------------------------------------------------------------------------
  expire({ worker, timer, rref, fork }) {
    const rank = this.rankOf(worker);
    if (timer === "creation") return this.step(rank, (core) => core.timeOutCreation({ rref: idOf(rref), fork: idOf(fork) }));
    if (timer === "fetch") return this.giveUp(rank, fork);
    for (const [to, { waiting }] of this.cores[rank].control.channels)
      for (const [number, { control }] of waiting)
        if (control.type === timer && key(control.fork) === fork) return this.step(rank, (core) => core.control.transmit(to, number));
    throw wrong("unknown", `${worker} has no ${timer} about ${fork} to send again`);
  }
  giveUp(rank, fork) {
    const { fetches } = this.cores[rank];
    for (const [number, { user }] of fetches) if (key(user.fork) === fork) this.step(rank, (core) => core.abandon(fetches, number));
  }

  // -- what there is ------------------------------------------------------------------------------------------------------
  look() {
    const workers = this.cores.map((core, rank) => [this.names[rank], this.tables(core, this.gone[rank])]);
    return { messages: [...this.flights.values()].map((one) => this.shown(one)), workers: Object.fromEntries(workers) };
  }
  shown({ id, from, to, message }) {
    const about = message.control ?? message;
    const fork = about.fork ?? about.forks?.[0]?.fork;
    const where = { id, kind: about.type, from: this.names[from], to: this.names[to] };
    return { ...where, fork: fork ? key(fork) : null, number: message.number ?? null };
  }
  tables(core, dropped) {
    return {
      owned: [...core.entries.values()].map((one) => this.entry(one)),
      users: [...core.users.values()].map((one) => this.user(core, one)),
      unanswered: core.control.unanswered().map(({ to, control }) =>
        ({ kind: control.type, fork: key(control.fork), to: this.names[to] })),
      dropped,
      leaving: core.leaving,
    };
  }
  entry({ rref, phase, forks, running, held, waiters, fetches }) {
    return {
      rref: key(rref), value: phase.toLowerCase(), forks: this.holders(forks), running, held: held > 0,
      waiting: waiters.length > 0, fetches: fetches.map(({ fork }) => key(fork)),
    };
  }
  user(core, one) {
    const { fork, rref, confirmed, handles, timedOut, children } = one;
    const parked = [...core.parked].some(({ waits }) => waits.has(key(fork)));
    const held = parked ? "parked" : timedOut ? "timed out" : "held";
    const asked = [...core.fetches.values()].filter(({ user }) => user === one).map(({ abandoned }) => abandoned);
    const fetch = asked.includes(false) ? "waiting" : asked.length ? "abandoned" : "none";
    return { fork: key(fork), rref: key(rref), confirmed, handle: handles ? held : "none", fetch, children: this.holders(children) };
  }
  holders(forks) { return Object.fromEntries([...forks].map(([fork, rank]) => [fork, this.names[rank]])); }
}

// -- the protocol -----------------------------------------------------------------------------------------------------------
let world = null;
const verbs = {
  hello: () => ({ name: "JavaScript core", version: "1", capabilities: ["lockstep"] }),
  start: ({ workers }) => { world = new World(workers); },
  stop: () => { world = null; return []; },
};
for (const verb of ["begin", "deliver", "copy", "lose", "fail", "expire", "look"]) verbs[verb] = (request) => world[verb](request);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, verb, ...request } = JSON.parse(line);
  try {
    if (!verbs[verb]) throw wrong("unsupported", `there is no verb ${verb}`);
    console.log(JSON.stringify({ id, ok: verbs[verb](request) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ id, error: { kind: error.kind ?? "error", type: error.name, message: error.message } }));
  }
});
