// Values as in the section Values of spec/wire.md: MessagePack, with extensions for what JavaScript or MessagePack lacks.
//
// null, booleans, numbers, BigInt, strings, Uint8Array, arrays, Map and plain objects are what they seem. A float that is
// whole arrives as a Float, so that it leaves as one; tuples as Tuple, sets as Set. Other extensions stay as they are.
export class Float extends Number {}
export class Tuple extends Array {}
export class PlainMap extends Map {} // written as MessagePack's own map, whatever its keys
export class Slot { constructor(number) { this.number = number; } } // a reference, by the number of its fork in the message
export class Extension { constructor(type, data) { Object.assign(this, { type, data }); } }
export class Unreadable extends Error {}

const ITEM_BYTES = [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 8, 16]; // by dtype
const OPAQUE = [1, 3, 7, 9, 13, 14, 15]; // not looked into, and written as they came
const fixed = (size, write) => { const bytes = Buffer.alloc(size); write(bytes); return bytes; };

// -- writing ------------------------------------------------------------------------------------------------------------
function head(length, small, [tag8, tag16, tag32]) { // `small` is [base, how many] of the one-byte form
  if (small && length < small[1]) return Buffer.from([small[0] | length]);
  if (tag8 !== null && length < 0x100) return Buffer.from([tag8, length]);
  if (length < 0x10000) return fixed(3, (b) => { b[0] = tag16; b.writeUInt16BE(length, 1); });
  return fixed(5, (b) => { b[0] = tag32; b.writeUInt32BE(length, 1); });
}
function integer(value) {
  const big = BigInt(value);
  if (big >= 0n && big < 0x80n) return Buffer.from([Number(big)]);
  if (big < 0n && big >= -32n) return Buffer.from([256 + Number(big)]);
  const sizes = [[8n, 1], [16n, 2], [32n, 4], [64n, 8]];
  const at = sizes.findIndex(([bits]) => (big >= 0n ? big < 1n << bits : big >= -(1n << (bits - 1n))));
  if (at < 0) return extension(8, long(big));
  const bytes = Buffer.from((big & ((1n << sizes[at][0]) - 1n)).toString(16).padStart(2 * sizes[at][1], "0"), "hex");
  return Buffer.concat([Buffer.from([(big >= 0n ? 0xcc : 0xd0) + at]), bytes]);
}
function long(big) { // two's complement, little-endian, as many bytes as it needs
  const bytes = [];
  for (let rest = big; ; rest >>= 8n) {
    bytes.push(Number(rest & 0xffn));
    const sign = bytes.at(-1) >= 0x80 ? -1n : 0n;
    if (rest >> 8n === sign) return Buffer.from(bytes);
  }
}
function extension(type, data) {
  const at = [1, 2, 4, 8, 16].indexOf(data.length);
  const start = at >= 0 ? Buffer.from([0xd4 + at]) : head(data.length, null, [0xc7, 0xc8, 0xc9]);
  return Buffer.concat([start, Buffer.from([type]), data]);
}
const list = (items, refer) =>
  Buffer.concat([head(items.length, [0x90, 16], [null, 0xdc, 0xdd]), ...items.map((one) => pack(one, refer))]);
function map(pairs, refer, plain = false) {
  if (!plain && !pairs.every(([name]) => typeof name === "string")) return extension(11, list(pairs, refer));
  return Buffer.concat([head(pairs.length, [0x80, 16], [null, 0xde, 0xdf]), ...pairs.flat().map((one) => pack(one, refer))]);
}
const number = (value) => (Number.isSafeInteger(value) && !Object.is(value, -0) ? integer(value) : float(value));
const float = (value) => fixed(9, (b) => { b[0] = 0xcb; b.writeDoubleBE(value, 1); });
function text(value) {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([head(bytes.length, [0xa0, 32], [0xd9, 0xda, 0xdb]), bytes]);
}

/** The bytes of a value. `refer` gives the number of the fork for whatever is a reference, and undefined for all else. */
export function pack(value, refer = () => undefined) {
  if (value === null || value === undefined) return Buffer.from([0xc0]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "number") return number(value);
  if (typeof value === "bigint") return integer(value);
  if (typeof value === "string") return text(value);
  if (typeof value !== "object") throw new TypeError(`a ${typeof value} cannot be written into a message`);
  return object(value, refer);
}
function object(value, refer) {
  const slot = refer(value);
  if (slot !== undefined) return extension(5, fixed(4, (b) => b.writeUInt32LE(slot)));
  if (value instanceof Float) return float(Number(value));
  if (value instanceof Uint8Array) return Buffer.concat([head(value.length, null, [0xc4, 0xc5, 0xc6]), value]);
  if (value instanceof Tuple) return extension(4, list([...value], refer));
  if (Array.isArray(value)) return list(value, refer);
  if (value instanceof Set) return extension(6, list([...value], refer));
  if (value instanceof Map) return map([...value], refer, value instanceof PlainMap);
  if (value instanceof Extension) return extension(value.type, value.data);
  if (Object.getPrototypeOf(value) === Object.prototype) return map(Object.entries(value), refer);
  throw new TypeError(`a ${value.constructor?.name} cannot be written into a message`);
}

// -- reading ------------------------------------------------------------------------------------------------------------
class Reader {
  constructor(bytes, frame) { Object.assign(this, { bytes, frame, at: 0 }); }
  take(length) {
    if (this.at + length > this.bytes.length) throw new Unreadable("a value ends early");
    return this.bytes.subarray(this.at, (this.at += length));
  }
  unsigned(size) { return size === 8 ? safe(this.take(8).readBigUInt64BE()) : this.take(size).readUIntBE(0, size); }
  signed(size) { return size === 8 ? safe(this.take(8).readBigInt64BE()) : this.take(size).readIntBE(0, size); }
  text(length) { return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.take(length)); }
  list(length) {
    if (length > this.bytes.length) throw new Unreadable("a list is longer than its message");
    return Array.from({ length }, () => this.value());
  }
  map(length) {
    const pairs = Array.from({ length: Math.min(length, this.bytes.length) }, () => [this.value(), this.value()]);
    return pairs.every(([name]) => typeof name === "string") ? Object.fromEntries(pairs) : new Map(pairs);
  }
  extension(length) { const type = this.take(1).readInt8(); return extended(type, this.take(length), this.frame); }
  value() {
    const tag = this.take(1)[0];
    if (tag < 0x80) return tag;
    if (tag < 0x90) return this.map(tag & 15);
    if (tag < 0xa0) return this.list(tag & 15);
    if (tag < 0xc0) return this.text(tag & 31);
    if (tag >= 0xe0) return tag - 256;
    const read = TAGS[tag];
    if (!read) throw new Unreadable(`the tag ${tag} is not known`);
    return read(this);
  }
}
const whole = (value) => (Number.isInteger(value) ? new Float(value) : value);
const safe = (big) => (Number.isSafeInteger(Number(big)) ? Number(big) : big);
const TAGS = {
  0xc0: () => null, 0xc2: () => false, 0xc3: () => true,
  0xca: (r) => whole(r.take(4).readFloatBE()), 0xcb: (r) => whole(r.take(8).readDoubleBE()),
};
[1, 2, 4].forEach((size, at) => {
  TAGS[0xc4 + at] = (r) => Buffer.from(r.take(r.unsigned(size)));
  TAGS[0xc7 + at] = (r) => r.extension(r.unsigned(size));
  TAGS[0xd9 + at] = (r) => r.text(r.unsigned(size));
});
[1, 2, 4, 8].forEach((size, at) => { TAGS[0xcc + at] = (r) => r.unsigned(size); TAGS[0xd0 + at] = (r) => r.signed(size); });
[1, 2, 4, 8, 16].forEach((size, at) => { TAGS[0xd4 + at] = (r) => r.extension(size); });
[2, 4].forEach((size, at) => {
  TAGS[0xdc + at] = (r) => r.list(r.unsigned(size));
  TAGS[0xde + at] = (r) => r.map(r.unsigned(size));
});

function extended(type, data, frame) {
  const inner = () => {
    const value = unpack(data, frame);
    if (!Array.isArray(value)) throw new Unreadable("an extension has no list in it");
    return value;
  };
  if (type === 2) return new Extension(1, inPlace(data, frame.segments));
  if (type === 4) return Tuple.from(inner());
  if (type === 5 && data.length === 4) return new Slot(data.readUInt32LE());
  if (type === 6) return new Set(inner());
  if (type === 8) return data.reduceRight((sum, byte) => sum * 256n + BigInt(byte), data.at(-1) >= 0x80 ? -1n : 0n);
  if (type === 11) return new Map(inner());
  if (type === 12 || (type === 13 && data[1] === 12)) return lent(data, frame);
  if (OPAQUE.includes(type)) return new Extension(type, Buffer.from(data));
  throw new Unreadable(`a value is an extension of type ${type}, which is not read here`);
}
function inPlace(data, segments) { // an array of a segment, as one that lies in its message
  const start = 2 + 8 * data[1];
  let length = BigInt(ITEM_BYTES[data[0]] ?? 0);
  for (let at = 2; at < start; at += 8) length *= data.readBigUInt64LE(at);
  const offset = Number(data.readBigUInt64LE(start));
  if (BigInt(offset) + length > BigInt(segments.length)) throw new Unreadable("an array ends early");
  return Buffer.concat([data.subarray(0, start), segments.subarray(offset, offset + Number(length))]);
}

function lent(data, frame) { // an array in shared memory: Node cannot look at it, and it has to be returned
  frame.rooms.push(safe(data.readBigUInt64LE(data.length - 8)));
  return null;
}

/** The one value that these bytes are. `frame` has the segments of its frame, and takes the rooms in shared memory. */
export function unpack(bytes, frame = { segments: Buffer.alloc(0), rooms: [] }) {
  const reader = new Reader(bytes, frame);
  const value = reader.value();
  if (reader.at !== bytes.length) throw new Unreadable("there is something behind the value");
  return value;
}
