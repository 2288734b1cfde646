// A link to another worker, over one stream after the other (section Epochs of spec/wire.md, Z1 to Z10).
//
// What is sent is kept until the other says that it has taken it. So a break loses nothing: the next stream goes on behind
// what the other has taken. What is kept has no limit here.
import { connect } from "node:net";
import { AGAIN, frame, introduce, JOINS, lengths, parse } from "./wire.mjs";

const HEARD_BYTES = 32768; // Z3
const REFUSED = 2n ** 64n - 1n; // Z7

export class Link {
  constructor(rank, incarnation = null) {
    Object.assign(this, { rank, incarnation, socket: null, pieces: null, epoch: 0, tried: 0, over: false });
    Object.assign(this, { kept: [], begin: 0, taken: 0, told: 0 }); // counts of bytes, from the first stream on
    this.spoke = this.listened = Date.now();
  }
  get works() { return this.socket !== null; }

  send(bytes) { // Z2
    if (this.over) return;
    this.kept.push(bytes);
    this.spoke = Date.now();
    this.socket?.write(bytes);
  }
  sayHeard() {
    this.told = this.taken;
    this.send(frame({ type: "Heard", taken: this.taken }));
  }
  forget(count) { // Z2, Z8. A count that was sent again may be an old one
    while (this.begin < count && this.kept.length) this.begin += this.kept.shift().length;
    if (this.begin < count) throw new Error("it has taken more than was sent");
  }
  goOn({ socket, pieces, epoch, count }) { // Z4
    this.leave();
    if (count < this.begin) throw new Error("it has not taken what it said it had");
    this.forget(count);
    if (this.begin > count) throw new Error("it has taken a part of a frame");
    Object.assign(this, { socket, pieces, epoch, told: this.taken });
    for (const bytes of this.kept) socket.write(bytes);
  }
  leave() { // Z5: nothing more is read from this stream
    this.socket?.destroy();
    this.socket = this.pieces = null;
  }
  end() { this.socket?.end(); }
  cut() { this.over = true; this.kept = []; this.leave(); }

  /** Read until the stream ends or is left. Gives the error, which is `broken` if the stream has only ended. */
  async read(receive) {
    const { pieces } = this;
    try {
      if (this.epoch === 0) await pieces.take(1); // Node cannot take the descriptor that may come with it
      for (;;) {
        const [length, body] = lengths(await pieces.take(8));
        const bytes = await pieces.take(length);
        if (this.pieces !== pieces) return null;
        Object.assign(this, { taken: this.taken + 8 + length, listened: Date.now() }); // Z1
        receive(parse(bytes, body));
        if (this.taken - this.told >= HEARD_BYTES) this.sayHeard();
      }
    } catch (error) {
      if (this.pieces !== pieces) return null;
      this.leave();
      return error;
    }
  }
}

/** Where one life of a worker listens for as long as it lasts. */
export const placeOf = (rank, incarnation) => `${rank}.${(incarnation & 0xffffffffn).toString(16)}`;

export function opened(path) {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket)).on("error", reject);
  });
}
const counted = (...numbers) => {
  const bytes = Buffer.alloc(8 * numbers.length);
  numbers.forEach((one, at) => bytes.writeBigUInt64LE(BigInt(one), 8 * at));
  return bytes;
};
const countsIn = async (pieces, many) => {
  const bytes = await pieces.take(8 * many);
  return Array.from({ length: many }, (_, at) => bytes.readBigUInt64LE(8 * at));
};

/** Z4, Z6: connect again, or knock at a higher rank. An error is `gone` if nobody listens (Z10), or has what was `told`. */
export async function reach(path, me, link) {
  const socket = await opened(path).catch((error) => {
    throw Object.assign(error, { gone: ["ENOENT", "ECONNREFUSED"].includes(error.code) });
  });
  const epoch = Math.max(link.epoch, link.rank < me.rank ? link.tried : 0) + 1;
  link.tried = epoch;
  return introduce(socket, "connects", me, AGAIN, async ({ pieces, rank, incarnation }) => {
    if (rank !== link.rank || incarnation !== link.incarnation) throw new Error(`worker ${rank} answers in its place`);
    socket.write(counted(epoch, link.taken));
    const [count] = await countsIn(pieces, 1);
    if (count !== REFUSED) return { epoch, count: Number(count) };
    const [length, body] = lengths(await pieces.take(8));
    throw Object.assign(new Error("it takes nothing more"), { told: parse(await pieces.take(length), body) });
  });
}

/** Hear out whoever connects to a worker: what it wants is in `purpose`. */
export function hear(socket, me) {
  return introduce(socket, "accepts", me, 0, async ({ pieces, purpose }) => {
    if (purpose === JOINS) await pieces.take((await pieces.take(4)).readUInt32LE(0)); // its name
    if (purpose !== AGAIN) return {};
    const [epoch, count] = await countsIn(pieces, 2);
    return { epoch: Number(epoch), count: Number(count) };
  });
}
export const answer = ({ socket }, link) => socket.write(counted(link.taken));
export const refuse = ({ socket }, number, reason) =>
  socket.end(Buffer.concat([counted(REFUSED), frame({ type: "Excluded", number, reason })]));
