// The RRef protocol of spec/rref.md as it is on one worker, without I/O: operations and messages go in, effects come out.
//
// After each operation the caller takes `effects()` and carries them out in order:
//   send {to, message}                  hand a message to the transport; one to oneself comes back in
//   run {work}                          run a function, then `finish` or answer, and `letGo` of `work.refs`
//   serve {to, rref, fork, fetch, outcome}   answer a fetch
//   answer {call, ...}, fetched {fetch, ...}, wake {token, outcome}   tell code that waits
//   cut {peer, reason}                  end the link to a peer for good, and advise the authority
//   lost {peer}, joined {worker}        a view excludes a peer: end the link to it; or has a new worker
//   dropped {outcome}                   the value has gone, and lets go of the references in it
// A reference is {rref, owner, fork}; on the owner `fork` is null. Clauses of spec/rref.md are named where they are kept.
import { Contexts } from "./contexts.mjs";
import { Control } from "./control.mjs";
import { key } from "./ids.mjs";
import { Members } from "./members.mjs";

export class Trouble extends Error { // what the protocol itself refuses; `kind` is one of spec/conformance.md
  constructor(kind, message, name = kind === "timeout" ? "RpcTimeout" : kind === "dead" ? "PeerDied" : "Refused") {
    super(message);
    Object.assign(this, { kind, name });
  }
}

export class Core {
  constructor(rank, incarnation, { names = [], random = Math.random } = {}) {
    Object.assign(this, { rank, incarnation, names, counter: 0, out: [], dead: new Map(), fenced: null });
    this.entries = new Map(); // R8, by RRefId
    this.users = new Map(); // R9, by ForkId
    this.parents = new Map(); // child's ForkId -> the user that waits for it (R24)
    this.calls = new Map(); // own calls without an answer
    this.fetches = new Map(); // own fetches without an answer
    this.parked = new Set(); // calls of others that wait for confirmations (R16)
    this.control = new Control(this, random);
    this.contexts = new Contexts(this);
    this.members = new Members(this, names.length);
  }

  effects() { return this.out.splice(0); }
  emit(what, fields) { this.out.push({ do: what, ...fields }); }
  send(to, type, fields) { this.emit("send", { to, message: { type, ...fields } }); }
  mint() { return [this.rank, this.incarnation, ++this.counter]; } // R2
  fencedError() { return new Trouble("dead", this.fenced, "WasExcluded"); } // R38
  deadError(rank) {
    if (this.fenced) return this.fencedError();
    return new Trouble("dead", `worker ${this.names[rank] ?? rank} died: ${this.dead.get(rank)}`);
  }
  mustLive(rank) { if (this.dead.has(rank)) throw this.deadError(rank); }

  // -- creation -------------------------------------------------------------------------------------------------------
  createRemote(owner, fn, forks, body) { // R10
    const [rref, fork] = [this.mint(), this.mint()];
    this.addUser({ rref, fork, owner, confirmed: false });
    this.send(owner, "RemoteCall", { rref, fork, fn, forks, body });
    return { rref, owner, fork };
  }
  createOnSelf() { // R12
    const rref = this.mint();
    Object.assign(this.entry(rref), { phase: "CREATED", running: true, held: 1 });
    return { rref, owner: this.rank, fork: null };
  }
  createLocal(value) { // R13
    const rref = this.mint();
    Object.assign(this.entry(rref), { phase: "READY", outcome: { value }, held: 1 });
    return { rref, owner: this.rank, fork: null };
  }
  remoteFailed({ owner, rref, fork }, reason) { this.control.tell(owner, { type: "CreateFailed", rref, fork, reason }); } // R29
  timeOutCreation(ref) { // R27: only an answer; a confirmed user is not touched
    const user = this.users.get(key(ref.fork));
    if (user && !user.confirmed) user.timedOut = true;
  }

  // -- the owner's entries (R8) -----------------------------------------------------------------------------------------
  entry(rref) {
    let entry = this.entries.get(key(rref));
    if (!entry) {
      entry = { rref, phase: "ABSENT", forks: new Map(), fetches: [], running: false, held: 0, waiters: [], outcome: null };
      this.entries.set(key(rref), entry);
    }
    return entry;
  }
  orphaned(entry) { // R34: a creation that was lost with its creator ends as an error
    const open = entry.phase === "ABSENT" || entry.phase === "EXPECTED";
    if (!open || !this.dead.has(entry.rref[0])) return;
    if (this.members.keeps(entry.rref[0])) entry.forks.set("its creator's", entry.rref[0]); // R37
    this.ready(entry, { error: this.deadError(entry.rref[0]) });
  }
  ready(entry, outcome) { // R23: all who wait are answered
    Object.assign(entry, { phase: "READY", outcome });
    for (const fetch of entry.fetches.splice(0)) this.emit("serve", { ...fetch, rref: entry.rref, outcome });
    for (const token of entry.waiters.splice(0)) this.emit("wake", { token, outcome });
  }
  settle(entry) { // R22, and R21: what is expected stays
    if (entry.forks.size || entry.fetches.length || entry.running || entry.held || entry.waiters.length) return;
    if (entry.phase === "EXPECTED" || !this.entries.delete(key(entry.rref))) return;
    if (entry.outcome) this.emit("dropped", { outcome: entry.outcome });
  }
  finish(rref, outcome) { // R23
    const entry = this.entry(rref);
    entry.running = false;
    this.ready(entry, outcome);
    this.settle(entry);
  }
  await(ref, token) { // code on the owner asks for the value (R21)
    const entry = this.entry(ref.rref);
    if (entry.phase === "READY") this.emit("wake", { token, outcome: entry.outcome });
    else entry.waiters.push(token);
  }
  giveUp(ref, token) { // R27: it waits no longer
    const entry = this.entry(ref.rref);
    entry.waiters = entry.waiters.filter((one) => one !== token);
    this.settle(entry);
  }

  // -- the user's records (R9) ------------------------------------------------------------------------------------------
  addUser({ rref, fork, owner, confirmed }) {
    this.users.set(key(fork), { rref, fork, owner, confirmed, handles: 1, children: new Map(), fetches: 0, timedOut: false });
  }
  user(ref) {
    const user = this.users.get(key(ref.fork));
    if (!user) throw new Trouble("refused", "this reference was let go");
    if (user.timedOut) throw new Trouble("refused", "the creation of this reference timed out"); // R27
    this.mustLive(user.owner);
    return user;
  }
  confirm(user) { // R31
    user.confirmed = true;
    for (const call of this.parked) if (call.waits.delete(key(user.fork)) && !call.waits.size) this.unpark(call);
    this.release(user);
    this.members.settle(); // R39
  }
  unpark(call) { this.parked.delete(call); this.emit("run", { work: call.work }); }
  release(user) { // R24, R25, R26, R20; from a dead owner nothing is waited for (R34)
    const dead = this.dead.has(user.owner);
    if (user.handles || user.fetches || (!dead && (!user.confirmed || user.children.size))) return;
    if (!this.users.delete(key(user.fork))) return;
    this.control.tell(user.owner, { type: "UserDelete", rref: user.rref, fork: user.fork });
  }

  // -- references that the application holds ------------------------------------------------------------------------------
  keep(ref) { if (ref.fork) this.user(ref).handles += 1; else this.entry(ref.rref).held += 1; }
  letGo(ref) { // R22, R26; after shutdown its end counts nothing (R32)
    const holder = ref.fork ? this.users.get(key(ref.fork)) : this.entries.get(key(ref.rref));
    if (!holder) return;
    if (ref.fork) { holder.handles = Math.max(0, holder.handles - 1); this.release(holder); }
    else { holder.held = Math.max(0, holder.held - 1); this.settle(holder); }
  }
  confirmed(ref) { return ref.fork === null || (this.users.get(key(ref.fork))?.confirmed ?? false); } // R31
  share(ref, to) { // R14: counted before it is sent; R16: noted before it leaves
    const fork = this.mint();
    if (!ref.fork) this.entry(ref.rref).forks.set(key(fork), to);
    else {
      const user = this.user(ref);
      user.children.set(key(fork), to);
      this.parents.set(key(fork), user);
    }
    return { owner: ref.owner, rref: ref.rref, fork, holder: to, parent: ref.fork };
  }
  withdraw(fork) { // R28
    if (fork.parent) return this.childGone(key(fork.fork));
    const entry = this.entries.get(key(fork.rref));
    if (entry?.forks.delete(key(fork.fork))) this.settle(entry);
  }
  childGone(fork) { // by the key of its id
    const user = this.parents.get(fork);
    this.parents.delete(fork);
    if (user?.children.delete(fork)) this.release(user);
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

  // -- what is there ------------------------------------------------------------------------------------------------------
  letGoOfAll() { // R32, step 3
    for (const user of [...this.users.values()]) { user.handles = 0; this.release(user); }
    for (const entry of [...this.entries.values()]) { entry.held = 0; this.settle(entry); }
  }
  busy() { // R32, step 2
    const parked = [...this.entries.values()].some((one) => one.running || one.fetches.length || one.waiters.length);
    return this.calls.size + this.fetches.size + this.parked.size > 0 || parked;
  }
  onlyTheDeadKeep() { // R32, step 4: nothing is left, or nothing but what they keep (R34)
    const theirs = (holders) => holders.size > 0 && [...holders.values()].every((rank) => this.dead.has(rank));
    const entries = [...this.entries.values()].every((one) => theirs(one.forks) || this.dead.has(one.rref[0]));
    const users = [...this.users.values()].every((one) => one.confirmed && theirs(one.children));
    return entries && users && !this.control.unanswered().length;
  }
  tables() {
    const [entries, users] = [[...this.entries.values()], [...this.users.values()]];
    return {
      owned: entries.filter((one) => one.phase !== "ABSENT").length,
      forks: entries.reduce((sum, one) => sum + one.forks.size, 0),
      pending: users.filter((one) => !one.confirmed).length,
      children: users.filter((one) => one.children.size).length,
      users: users.length,
      unanswered: this.control.unanswered().length,
    };
  }
  left() { // R30, R32: what could not be released
    const who = (rank) => this.names[rank] ?? rank;
    return [
      ...[...this.entries.values()].map((one) =>
        `RRef ${key(one.rref)}: ${one.phase}, forks ${[...one.forks].map(([fork, to]) => `${fork} of ${who(to)}`).join(", ")}`),
      ...[...this.users.values()].map((one) =>
        `fork ${key(one.fork)} of ${who(one.owner)}'s ${key(one.rref)}, children ${[...one.children.keys()].join(", ")}`),
      ...this.control.unanswered().map(({ to, control, age }) =>
        `${control.type} to ${who(to)} about ${key(control.rref ?? [])}, fork ${key(control.fork ?? [])}, for ${age} ms`),
    ];
  }
}
