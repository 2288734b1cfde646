// The least that a worker without autograd does for the contexts of others, so that they close (spec/wire.md, A24, A25).
import { key } from "./ids.mjs";

export class Contexts {
  constructor(core) { Object.assign(this, { core, known: new Map() }); }

  of(context) {
    if (!this.known.has(key(context))) this.known.set(key(context), { got: new Map(), closed: false });
    return this.known.get(key(context));
  }
  /** A message came in a context: why it is refused, if it is. Those that came are counted, or settled one by one. */
  came(from, { context, tensors }) {
    const { got, closed } = this.of(context);
    if (closed) {
      this.core.control.tell(context[0], { type: "Settled", context, source: from, target: this.core.rank });
      return "the context was released";
    }
    got.set(from, (got.get(from) ?? 0) + 1);
    return tensors ? "this worker has no autograd, and takes no tensor that needs a gradient" : undefined;
  }
  close(context) {
    const known = this.of(context);
    known.closed = true;
    this.core.control.tell(context[0], { type: "Closed", context, got: known.got });
  }
  forget(context, dead) { // once nothing is heard any more of those whom its creator does not hear (A25, A29)
    this.of(context).unheard = dead.filter((worker) => worker !== this.core.rank);
    this.forgetThoseOf(this.core.dead);
    for (const worker of dead) if (!this.core.dead.has(worker)) this.core.members.suspect(worker, "another worker lost it");
  }
  forgetThoseOf(dead) {
    for (const [context, { unheard }] of this.known)
      if (unheard?.every((worker) => dead.has(worker))) this.known.delete(context);
  }
}
