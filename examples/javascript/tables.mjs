// The tables of a worker, and the rules about who stays in them: entries of an owner (R8), records of a user (R9). No I/O.
//
// What is to be sent or done is put down as an effect (core.mjs). A reference is {rref, owner, fork}; on the owner `fork` is null.
import { key } from "./ids.mjs";

export class Trouble extends Error { // what the protocol itself refuses; `kind` is one of spec/conformance.md
  constructor(kind, message, name = kind === "timeout" ? "RpcTimeout" : kind === "dead" ? "PeerDied" : "Refused") {
    super(message);
    Object.assign(this, { kind, name });
  }
}

export class Tables {
  constructor(rank, incarnation, names) {
    Object.assign(this, { rank, incarnation, names, counter: 0, out: [], dead: new Map(), fenced: null, leaving: false });
    this.entries = new Map(); // R8, by RRefId
    this.users = new Map(); // R9, by ForkId
    this.parents = new Map(); // child's ForkId -> the user that waits for it (R24)
    this.calls = new Map(); // own calls without an answer
    this.fetches = new Map(); // own fetches without an answer
    this.parked = new Set(); // calls of others that wait for confirmations (R16)
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

  mayBegin(serving = false) { // R32, step 1: nothing new, except on behalf of a function that runs
    if (this.fenced) throw this.fencedError();
    if (this.leaving && !serving) throw new Trouble("refused", `${this.names[this.rank] ?? this.rank} is leaving`);
  }

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
    if (entry.outcome) this.emit("dropped", { rref: entry.rref, outcome: entry.outcome });
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
