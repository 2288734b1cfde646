// Values with references in them: what the application holds, how it is found in a value and put into one, and errors.
import { Extension, Slot } from "./msgpack.mjs";
import { slots } from "./wire.mjs";

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

export const refsIn = (value, found = []) => { // every Ref in a value
  if (value instanceof Ref) found.push(value);
  else if (value instanceof Map) for (const pair of value) refsIn(pair, found);
  else if (Array.isArray(value) || value instanceof Set) for (const one of value) refsIn(one, found);
  else if (value && Object.getPrototypeOf(value) === Object.prototype) refsIn(Object.values(value), found);
  return found;
};
export const filled = (value, refs) => { // the same value with references in place of their numbers
  if (value instanceof Slot) return refs[value.number];
  if (!slots(value).size) return value;
  if (value instanceof Map) return new Map([...value].map((pair) => filled(pair, refs)));
  if (value instanceof Set) return new Set([...value].map((one) => filled(one, refs)));
  if (Array.isArray(value)) return value.constructor.from(value, (one) => filled(one, refs));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, refs)]));
};

// -- errors on the wire -------------------------------------------------------------------------------------------------
export const errorOut = (error, name, fn) =>
  [error.module ?? "javascript", error.name ?? "Error", String(error.message ?? error), String(error.stack ?? ""), name, fn];
export function errorIn(value) {
  const [module, name, message, traceback, worker, fn] = value;
  return Object.assign(new Error(message), { kind: "error", module, name, traceback, worker, function: fn });
}

export const filledAnew = (value) => { // the same value with handles of its own
  if (value instanceof Ref) return value.keep();
  if (!refsIn(value).length || value instanceof Extension) return value;
  if (value instanceof Map) return new Map([...value].map(filledAnew));
  if (value instanceof Set) return new Set([...value].map(filledAnew));
  if (Array.isArray(value)) return value.constructor.from(value, filledAnew);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filledAnew(one)]));
};
