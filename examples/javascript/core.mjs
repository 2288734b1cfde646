// The RRef protocol of spec/rref.md as it is on one worker, without I/O: operations and messages go in, effects come out.
//
// After each operation the caller takes `effects()` and carries them out in order:
//   send {to, message}                  hand a message to the transport; one to oneself comes back in
//   run {work}                          run a function, then `finish` or answer, and `letGo` of `work.refs`
//   serve {to, rref, fork, fetch, outcome}   answer a fetch
//   answer {call, ...}, fetched {fetch, ...}, wake {token, outcome}   tell code that waits
//   cut {peer, reason}                  end the link to a peer for good, and advise the authority
//   lost {peer}, joined {worker}        a view excludes a peer: end the link to it; or has a new worker
//   dropped {rref, outcome}             the value has gone, and lets go of the references in it
// A reference is {rref, owner, fork}; on the owner `fork` is null. Clauses of spec/rref.md are named where they are kept.
import { Contexts } from "./contexts.mjs";
import { Control } from "./control.mjs";
import { key } from "./ids.mjs";
import { Members } from "./members.mjs";
import { Tables, Trouble } from "./tables.mjs";

export { Trouble };

export class Core extends Tables {
  constructor(rank, incarnation, { names = [], random = Math.random } = {}) {
    super(rank, incarnation, names);
    this.control = new Control(this, random);
    this.contexts = new Contexts(this);
    this.members = new Members(this, names.length);
  }

  // -- calls and fetches ------------------------------------------------------------------------------------------------
  call(to, fn, forks, body) {
    const call = ++this.counter;
    this.calls.set(call, { to, abandoned: false });
    this.send(to, "Call", { call, fn, forks, body });
    return call;
  }
  fetch(ref) { // R20: it pins its user
    const user = this.user(ref);
    const fetch = ++this.counter;
    user.fetches += 1;
    this.fetches.set(fetch, { user, abandoned: false });
    this.send(user.owner, "FetchCall", { rref: user.rref, fork: user.fork, fetch });
    return fetch;
  }
  abandon(table, number) { if (table.has(number)) table.get(number).abandoned = true; } // R27

  // -- messages ---------------------------------------------------------------------------------------------------------
  // `message.unreadable` says why its function or its body cannot be taken; its ids and forks could be read.
  receive(from, message) {
    if (this.fenced || this.dead.has(from)) return; // R34, R37, R38: nothing is heard of it any more
    if (message.forks) message.unreadable ??= this.refusal(message.forks);
    this[`on${message.type}`](from, message);
  }
  refusal(forks) { // R34: nobody is handed a reference to what a dead worker owned
    const lost = forks.find((one) => this.dead.has(one.owner));
    if (lost) return this.deadError(lost.owner).message;
    const unborn = forks.find((one) => [one.rref, one.fork, one.parent].some((id) => id && this.control.isUnborn(id)));
    return unborn && "a fork names a life that has not begun"; // R2
  }
  takeOn(forks) { // R15, R16, R19
    return forks.map((one) => {
      if (one.owner === this.rank) return this.comeHome(one);
      this.addUser({ ...one, confirmed: one.parent === null });
      if (one.parent) this.control.tell(one.owner, { type: "ForkRequest", rref: one.rref, fork: one.fork });
      return { rref: one.rref, owner: one.owner, fork: one.fork };
    });
  }
  comeHome({ rref, fork, parent }) { // R19: first held, then no longer counted
    const entry = this.entry(rref);
    if (entry.phase === "ABSENT") entry.phase = "EXPECTED"; // R21
    entry.held += 1;
    if (parent) this.control.tell(fork[0], { type: "ChildAccept", rref, fork });
    else entry.forks.delete(key(fork));
    this.orphaned(entry);
    return { rref, owner: this.rank, fork: null };
  }
  begin(work, forks) { // R16: no function before all of its arguments are confirmed
    work.refs = this.takeOn(forks);
    const waits = new Set(work.refs.filter((ref) => !this.confirmed(ref)).map((ref) => key(ref.fork)));
    const call = { work, waits };
    if (waits.size) this.parked.add(call);
    else this.unpark(call);
  }
  onRemoteCall(from, message) { // R10, R11: one step
    const { rref, fork, fn, forks, value, unreadable } = message;
    const entry = this.entry(rref);
    entry.forks.set(key(fork), from);
    this.send(from, "UserAccept", { rref, fork });
    if (unreadable !== undefined) { // R29: a creation with an error, and cargo that has failed
      if (forks.length) this.send(from, "CallFailed", { call: null, forks, reason: unreadable });
      return this.ready(entry, { error: new Trouble("error", unreadable) });
    }
    Object.assign(entry, { phase: "CREATED", running: true });
    this.begin({ from, rref, fn, value }, forks);
  }
  onUserAccept(from, { fork }) {
    const user = this.users.get(key(fork));
    if (user && !user.confirmed && user.owner === from) this.confirm(user);
  }
  onCall(from, { call, fn, forks, value, unreadable }) {
    if (unreadable !== undefined) this.send(from, "CallFailed", { call, forks, reason: unreadable }); // R28
    else this.begin({ from, call, fn, value }, forks);
  }
  onReturn(from, message) { this.answered("answer", this.calls, message.call, from, message); }
  onFetchReturn(from, message) { // R20
    const { user } = this.fetches.get(message.fetch) ?? {};
    this.answered("fetched", this.fetches, message.fetch, from, message);
    if (user) { user.fetches -= 1; this.release(user); }
  }
  answered(what, table, number, from, { forks, failed, value, unreadable }) {
    const asked = table.get(number);
    table.delete(number);
    if (!asked) return;
    if (unreadable !== undefined) {
      if (forks.length) this.send(from, "CallFailed", { call: null, forks, reason: unreadable });
      return this.emit(what, { number, failed: true, refs: [], error: new Trouble("error", unreadable) });
    }
    const refs = this.takeOn(forks);
    if (asked.abandoned) for (const ref of refs) this.letGo(ref); // R27
    else this.emit(what, { number, failed, value, refs });
  }
  onCallFailed(from, { call, forks, reason }) { // R28
    for (const fork of forks) if (fork.fork[0] === this.rank) this.withdraw(fork);
    if (call !== null && this.calls.get(call)?.to === from) this.failCall(call, new Trouble("refused", reason));
  }
  failCall(call, error) {
    this.calls.delete(call);
    this.emit("answer", { number: call, failed: true, refs: [], error });
  }
  onFetchCall(from, { rref, fork, fetch }) { // R20: answered, or parked
    const entry = this.entry(rref);
    entry.fetches.push({ to: from, fork, fetch });
    this.orphaned(entry);
    if (entry.phase === "READY") { this.ready(entry, entry.outcome); this.settle(entry); }
  }
  onForwardCall(from, forward) {
    const refused = this.contexts.came(from, forward);
    if (refused) forward.message.unreadable = refused;
    this.receive(from, forward.message);
  }
  onExcluded(from, { number, reason }) { this.members.fence(number, reason); } // R38
  onControl(from, message) { this.control.arrives(from, message); }
  onAck(from, message) { this.control.answered(from, message); }
  onAcks(from, { answers }) { for (const one of answers) this.control.answered(from, one); }

  // -- what control messages do, once each (R5) -----------------------------------------------------------------------------
  effectOf(from, control) {
    const { type, rref, fork, reason, context } = control;
    if (type === "ForkRequest") { // R16: created or not
      this.entry(rref).forks.set(key(fork), from);
      this.orphaned(this.entry(rref));
    } else if (type === "ChildAccept") this.childGone(key(fork)); // R24
    else if (type === "UserDelete") { // R26; and of one's own forks only (R34)
      const entry = this.entries.get(key(rref));
      if (entry?.forks.get(key(fork)) === from) { entry.forks.delete(key(fork)); this.settle(entry); }
    } else if (type === "CreateFailed") { // R29
      this.entry(rref).forks.set(key(fork), from);
      this.ready(this.entry(rref), { error: new Trouble("error", reason) });
    } else if (type === "CleanupContext") this.contexts.close(context);
    else if (type === "Forget") this.contexts.forget(context, control.dead);
    else if (["View", "ViewSettled", "Buried", "Suspect"].includes(type)) this.members.arrives(from, control);
    // other controls of autograd are answered, and do nothing here
  }
  acknowledged(control) {
    const user = control.fork && this.users.get(key(control.fork));
    if (!user || user.confirmed || !["ForkRequest", "CreateFailed"].includes(control.type)) return;
    if (control.type === "ForkRequest") // R17, R18: now, and before any function
      this.control.tell(user.fork[0], { type: "ChildAccept", rref: user.rref, fork: user.fork });
    this.confirm(user);
  }

  // -- losses (R34, R37) --------------------------------------------------------------------------------------------------
  lose(lost) { // some workers, each with the reason, all at once
    for (const [peer, reason] of lost) {
      this.dead.set(peer, reason);
      this.control.forget(peer);
      this.emit("lost", { peer });
    }
    for (const [peer] of lost) this.endWaits(peer);
    this.contexts.forgetThoseOf(this.dead);
  }
  reclaim(gone) { // R41, R42
    for (const entry of [...this.entries.values()]) {
      for (const [fork, holder] of entry.forks) if (gone.has(holder)) entry.forks.delete(fork);
      this.settle(entry);
    }
    const children = [...this.users.values()].flatMap((user) => [...user.children]);
    for (const [fork, holder] of children) if (gone.has(holder)) this.childGone(fork);
  }
  endWaits(rank) {
    const error = this.deadError(rank);
    for (const [call, { to }] of this.calls) if (to === rank) this.failCall(call, error);
    for (const call of this.parked) this.failParked(call, error, rank);
    for (const [fetch, { user }] of this.fetches) {
      if (user.owner !== rank) continue;
      this.fetches.delete(fetch);
      user.fetches -= 1;
      this.emit("fetched", { number: fetch, failed: true, refs: [], error });
    }
    for (const user of [...this.users.values()]) if (user.owner === rank) this.release(user);
    for (const entry of [...this.entries.values()]) { this.orphaned(entry); this.forgetFetches(entry, rank); }
  }
  failParked(call, error, rank) { // R16: it must not run at all
    if (!call.work.refs.some((ref) => ref.owner === rank)) return;
    this.parked.delete(call);
    this.emit("run", { work: { ...call.work, error } });
  }
  forgetFetches(entry, rank) {
    entry.fetches = entry.fetches.filter(({ to }) => to !== rank);
    this.settle(entry);
  }
}
