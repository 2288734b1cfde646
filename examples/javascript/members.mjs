// Who takes part (R35 to R45): the view that is installed here, and what is done about those whom it excludes. No I/O.
//
// Rank 0 hosts the authority. Here it decides as it is advised; it admits nobody, and it is not restarted.
const AUTHORITY = 0;
const REASON_MAX = 400;

export class Members {
  constructor(core, size) {
    Object.assign(this, { core, workers: size, view: 0, settled: 0, buried: 0 });
    this.since = new Map(); // the view in which each excluded worker was lost
    this.newcomers = new Map(); // who came with a view that is not buried yet
    this.excluded = []; // the authority's: everybody who is
    this.members = new Map(Array.from({ length: size }, (_, rank) => [rank, 0])); // and what each other one has settled
  }
  get isHere() { return this.core.rank === AUTHORITY; }

  // -- advice (R36) -------------------------------------------------------------------------------------------------------
  suspect(worker, reason) {
    if (this.isHere) this.exclude(worker, reason);
    else if (worker === AUTHORITY) this.core.lose([[worker, reason]]); // nobody decides that (R34)
    else this.core.control.tell(AUTHORITY, { type: "Suspect", worker, reason });
  }

  // -- what the authority says ------------------------------------------------------------------------------------------
  arrives(from, control) {
    const isOrder = control.type === "View" || control.type === "Buried";
    if (isOrder && from !== AUTHORITY) this.core.emit("cut", { peer: from, reason: "it is not the authority" });
    else if (isOrder) this.obey(control);
    else if (this.isHere && control.type === "Suspect") this.exclude(control.worker, control.reason);
    else if (this.isHere) this.hasSettled(from, control.number);
  }
  obey(control) { if (control.type === "View") this.install(control); else this.bury(control.number); }
  install({ number, workers, excluded }) { // R37: one step
    if (number <= this.view) return this.settled === this.view && this.tellSettled();
    this.view = number;
    for (; this.workers < workers; this.workers++) this.newcomers.set(this.workers, number);
    const lost = excluded.filter(([worker]) => !this.core.dead.has(worker));
    for (const [worker] of lost) this.since.set(worker, number);
    this.core.lose(lost);
    this.settle();
  }
  settle() { // R39: once no heir is left
    const { dead, users } = this.core;
    const isHeir = ({ confirmed, fork, owner }) => !confirmed && dead.has(fork[0]) && !dead.has(owner);
    if (this.settled === this.view || [...users.values()].some(isHeir)) return;
    this.settled = this.view;
    this.tellSettled();
  }
  tellSettled() {
    if (this.isHere) this.hasSettled(AUTHORITY, this.settled);
    else this.core.control.tell(AUTHORITY, { type: "ViewSettled", number: this.settled });
  }
  bury(number) { // R41, R42
    this.buried = Math.max(this.buried, number);
    const gone = new Set([...this.since].filter(([, view]) => view <= this.buried).map(([worker]) => worker));
    this.core.reclaim(gone);
    for (const [worker, view] of this.newcomers)
      if (view <= this.buried && this.newcomers.delete(worker)) this.core.emit("joined", { worker });
  }
  keeps(worker) { return this.since.get(worker) > this.buried; } // excluded, and not buried
  fence(number, reason) { // R38: nothing is said or heard any more
    const { core } = this;
    core.fenced = `worker ${core.rank} was excluded in view ${number}: ${reason}`;
    core.lose(Array.from({ length: this.workers }, (_, worker) => [worker, core.fenced])
      .filter(([worker]) => worker !== core.rank && !core.dead.has(worker)));
  }

  // -- the authority (R35, R40) -------------------------------------------------------------------------------------------
  exclude(worker, reason) {
    if (worker === AUTHORITY || !this.members.delete(worker)) return;
    this.excluded.push([worker, reason.slice(0, REASON_MAX)]);
    this.order({ type: "View", number: this.view + 1, workers: this.workers, excluded: [...this.excluded] });
  }
  hasSettled(worker, number) {
    if (!this.members.has(worker) || number > this.view) return;
    this.members.set(worker, Math.max(number, this.members.get(worker)));
    const isSettled = [...this.members.values()].every((settled) => settled >= this.view);
    if (isSettled && this.buried < this.view) this.order({ type: "Buried", number: this.view });
  }
  order(control) {
    this.obey(control);
    for (const worker of this.members.keys()) if (worker !== AUTHORITY) this.core.control.tell(worker, control);
  }
}
