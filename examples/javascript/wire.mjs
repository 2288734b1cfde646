// Messages, frames and the handshake of spec/wire.md, over Unix sockets. Shared memory is declined. Links are in links.mjs.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { pack, PlainMap, Slot, unpack, Unreadable } from "./msgpack.mjs";

const FRAME_MAX = 64 * 2 ** 20;
const HANDSHAKE_MS = 2000;

// -- messages -----------------------------------------------------------------------------------------------------------
const MESSAGES = {
  RemoteCall: [1, "rref", "fork", "fn", "forks", "body"], UserAccept: [2, "rref", "fork"],
  Call: [3, "call", "fn", "forks", "body"], Return: [4, "call", "failed", "forks", "body"],
  CallFailed: [5, "call", "forks", "reason"], FetchCall: [6, "rref", "fork", "fetch"],
  FetchReturn: [7, "rref", "fork", "fetch", "failed", "forks", "body"],
  Control: [8, "incarnation", "number", "lowest", "control"], Ack: [9, "incarnation", "number"], Reached: [10, "step"],
  Returned: [11, "places"], ForwardCall: [12, "context", "forward", "tensors", "message"], Acks: [13, "answers"],
  HungUp: [14, "reason"], Excluded: [15, "number", "reason"], Heard: [16, "taken"],
  Known: [17, "rank", "name", "host", "port"],
};
const CONTROLS = { ForkRequest: 1, ChildAccept: 2, UserDelete: 3, CreateFailed: 4 };
const MEMBERS = { // R35 to R44
  View: [17, "number", "workers", "excluded"], ViewSettled: [18, "number"], Buried: [19, "number"],
  Suspect: [20, "worker", "reason"],
};
const nameOf = (table, tag) => Object.keys(table).find((name) => [table[name]].flat()[0] === tag);

const must = (fits, what) => { if (!fits) throw new Unreadable(`a message has a wrong ${what}`); };
const isNumber = (value) => (Number.isSafeInteger(value) && value >= 0) || (typeof value === "bigint" && value >= 0n);
const isId = (value) => Array.isArray(value) && value.length === 3 && value.every(isNumber);
const number = { to: (value) => value, from: (value, field) => (must(isNumber(value), field), value) };
const id = { to: (value) => value, from: (value, field) => (must(isId(value), field), value) };
const text = { to: (value) => value, from: (value, field) => (must(typeof value === "string", field), value) };
const lists = (one) => ({
  to: (value) => value.map(one.to),
  from: (value, field) => (must(Array.isArray(value), field), value.map((item) => one.from(item, field))),
});
const fork = {
  to: (one) => [one.owner, one.rref, one.fork, one.holder, one.parent],
  from: (value, field) => {
    must(Array.isArray(value) && value.length === 5, field);
    const [owner, rref, forkId, holder, parent] = value;
    must(isNumber(owner) && isId(rref) && isId(forkId) && isNumber(holder) && (parent === null || isId(parent)), field);
    return { owner, rref, fork: forkId, holder, parent };
  },
};
const control = {
  to: (one) => {
    if (one.type === "Closed") return [14, one.context, {}, new PlainMap(one.got), {}];
    if (one.type === "Settled") return [15, one.context, one.source, one.target];
    if (MEMBERS[one.type]) return toArray(one, MEMBERS);
    return [CONTROLS[one.type], one.rref, one.fork, ...(one.type === "CreateFailed" ? [one.reason] : [])];
  },
  from: (value, field) => {
    must(Array.isArray(value) && value[0] >= 1 && value[0] <= 20, field);
    if (value[0] > 16) return fromArray(value, MEMBERS);
    if (value[0] > 4) return ofAutograd(value, field);
    const [tag, rref, forkId, ...rest] = value;
    must(isId(rref) && isId(forkId) && rest.length === (tag === 4 ? 1 : 0), field);
    return { type: nameOf(CONTROLS, tag), rref, fork: forkId, reason: rest[0] };
  },
};
function ofAutograd([tag, context, dead], field) { // only what a worker without autograd looks at
  if (tag !== 13 && tag !== 16) return { type: "Autograd", tag };
  must(isId(context) && (tag === 13 || (Array.isArray(dead) && dead.every(isNumber))), field);
  return tag === 13 ? { type: "CleanupContext", context } : { type: "Forget", context, dead };
}
const loss = { // one worker that a view excludes, and the reason
  to: (one) => one,
  from: (value, field) => {
    must(Array.isArray(value) && value.length === 2 && isNumber(value[0]) && typeof value[1] === "string", field);
    return value;
  },
};
const FIELDS = {
  rref: id, fork: id, fn: text, reason: text, forks: lists(fork), control, fetch: number, number, lowest: number, step: number,
  incarnation: number, places: lists(number), context: id, forward: id, tensors: number, taken: number,
  workers: number, worker: number, excluded: lists(loss), rank: number, name: text, host: text, port: number,
  call: { to: (value) => value, from: (value, field) => (must(value === null || isNumber(value), field), value) },
  failed: { to: (value) => value, from: (value, field) => (must(typeof value === "boolean", field), value) },
  body: { to: (value) => value, from: (value, field) => (must(value instanceof Uint8Array, field), value) },
  message: { to: (one) => toArray(one), from: (one) => fromArray(one) },
  answers: lists({ to: (one) => toArray(one), from: (one) => fromArray(one) }),
};
function toArray(message, table = MESSAGES) {
  const [tag, ...fields] = table[message.type];
  return [tag, ...fields.map((field) => FIELDS[field].to(message[field]))];
}
function fromArray(array, table = MESSAGES) {
  must(Array.isArray(array), "shape");
  const type = nameOf(table, array[0]);
  must(type && array.length === table[type].length, "tag or length");
  const fields = table[type].slice(1).map((field, at) => [field, FIELDS[field].from(array[at + 1], field)]);
  return { type, ...Object.fromEntries(fields) };
}

/** A message as one frame. Arrays lie in the body, whatever their size: a receiver accepts any form. */
export function frame(message) {
  const body = pack(toArray(message));
  if (body.length > FRAME_MAX) throw new RangeError("a message is longer than a frame may be");
  const header = Buffer.alloc(8);
  header.writeUInt32LE(body.length, 0);
  header.writeUInt32LE(body.length, 4);
  return Buffer.concat([header, body]);
}

/** How long a frame is behind its header, and how much of that is its body. */
export function lengths(header) {
  const [length, body] = [header.readUInt32LE(0), header.readUInt32LE(4)];
  must(length <= FRAME_MAX && body >= 1 && body <= length, "length");
  return [length, body];
}

/** The message in a frame without its header, and its body as a value, or why there is none (R28). */
export function parse(bytes, bodyLength) {
  const message = fromArray(unpack(bytes.subarray(0, bodyLength)));
  const segments = bytes.subarray(Math.ceil(bodyLength / 16) * 16);
  if (message.type === "ForwardCall") return { ...message, message: read(message.message, segments) };
  return read(message, segments);
}
/** A message with the value of its body; if it has none that can be read, with the reason. */
export function read(message, segments = Buffer.alloc(0)) {
  if (!message.body) return message;
  const frame = { segments, rooms: [] };
  try {
    message.value = unpack(message.body, frame);
    must([...slots(message.value)].every((one) => one < message.forks.length), "reference");
    must(!frame.rooms.length, "array: this worker has no shared memory");
  } catch (error) {
    message.unreadable ??= error.message;
  }
  return Object.assign(message, { rooms: frame.rooms });
}
export function slots(value, found = new Set()) { // the numbers of the references in a value
  if (value instanceof Slot) found.add(value.number);
  else if (value instanceof Map) for (const pair of value) slots(pair, found);
  else if (Array.isArray(value) || value instanceof Set) for (const one of value) slots(one, found);
  else if (value && Object.getPrototypeOf(value) === Object.prototype) slots(Object.values(value), found);
  return found;
}

// -- a stream of bytes, taken in pieces ---------------------------------------------------------------------------------
class Pieces {
  constructor(socket) {
    Object.assign(this, { chunks: [], size: 0, wanted: null, ended: false });
    socket.on("data", (chunk) => { this.chunks.push(chunk); this.size += chunk.length; this.look(); });
    const end = () => { this.ended = true; this.look(); };
    socket.on("close", end).on("error", end).on("end", end);
  }
  take(length) { return new Promise((resolve, reject) => { this.wanted = { length, resolve, reject }; this.look(); }); }
  look() {
    if (!this.wanted) return;
    const { length, resolve, reject } = this.wanted;
    if (this.size >= length) {
      const all = Buffer.concat(this.chunks);
      this.chunks = [all.subarray(length)];
      this.size -= length;
      this.wanted = null;
      resolve(all.subarray(0, length));
    } else if (this.ended) { this.wanted = null; reject(Object.assign(new Error("the connection has ended"), { broken: true })); }
  }
}

// -- handshake ----------------------------------------------------------------------------------------------------------
export const [MEETS, AGAIN, JOINS] = [0, 1, 2]; // what a stream is for
export function hello({ rank, incarnation, world }, purpose = MEETS, nonce = randomBytes(32)) {
  const bytes = Buffer.alloc(72);
  bytes.write("farref\r\n", 0, "latin1");
  bytes.writeUInt16LE(1, 8);
  bytes.writeUInt16LE(purpose, 10);
  bytes.writeUInt32LE(rank, 12);
  bytes.writeBigUInt64LE(BigInt(incarnation), 16);
  world.copy(bytes, 24);
  nonce.copy(bytes, 40);
  return bytes;
}
export const proof = (secret, role, own, other) => createHmac("sha256", secret).update(role).update(own).update(other).digest();
const ROLES = { connects: "connects", accepts: "accepts\0" };

/** Both sides prove that they know the key; then `more` goes on, within the same two seconds. */
export async function introduce(socket, role, me, purpose = MEETS, more = async () => ({})) {
  const timer = setTimeout(() => socket.destroy(), HANDSHAKE_MS);
  try {
    const pieces = new Pieces(socket);
    const own = hello(me, purpose);
    socket.write(own);
    const other = await pieces.take(72);
    if (!other.subarray(0, 10).equals(own.subarray(0, 10)) || !other.subarray(24, 40).equals(me.world))
      throw Object.assign(new Error("the other worker is of another version or world"), { mismatch: true });
    const mine = proof(me.key, ROLES[role], own, other);
    if (role === "connects") socket.write(mine);
    const wanted = proof(me.key, ROLES[role === "connects" ? "accepts" : "connects"], other, own);
    if (!timingSafeEqual(await pieces.take(32), wanted)) throw new Error("the other worker does not know the key");
    if (role === "accepts") socket.write(mine);
    const peer = {
      socket, pieces, purpose: other.readUInt16LE(10), rank: other.readUInt32LE(12), incarnation: other.readBigUInt64LE(16),
    };
    return { ...peer, ...(await more(peer)) };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
