// The control channel of spec/rref.md: numbers, window, retries (R5, R6, R7, R30). No I/O and no clock of its own.
export const WINDOW = 4096; // W of R7, as spec/wire.md has it
const [FIRST_WAIT, LONGEST_WAIT] = [200, 2000]; // milliseconds

export class Control {
  constructor(core, random) { Object.assign(this, { core, random, now: 0, channels: new Map(), incarnations: new Map() }); }

  channel(peer) {
    if (!this.channels.has(peer))
      this.channels.set(peer, { next: 1, waiting: new Map(), queue: [], mark: 1, seen: new Set() });
    return this.channels.get(peer);
  }
  lowest(channel) { return channel.waiting.size ? channel.waiting.keys().next().value : channel.next; }

  tell(to, control) {
    if (this.core.dead.has(to)) return; // R34: there is nobody to tell
    this.channel(to).queue.push(control);
    this.pump(to);
  }
  pump(to) { // R7: none is W or more above the lowest that has no answer
    const channel = this.channel(to);
    while (channel.queue.length && channel.next < this.lowest(channel) + WINDOW) {
      const number = channel.next++;
      channel.waiting.set(number, { control: channel.queue.shift(), begun: this.now, at: this.now, wait: FIRST_WAIT });
      this.transmit(to, number);
    }
  }
  transmit(to, number) {
    const channel = this.channel(to);
    const { control } = channel.waiting.get(number);
    this.core.send(to, "Control", { incarnation: this.core.incarnation, number, lowest: this.lowest(channel), control });
  }
  isUnborn([minter, incarnation]) { return this.incarnations.has(minter) && BigInt(incarnation) > this.lifeOf(minter); }
  lifeOf(peer) { return BigInt(this.incarnations.get(peer) ?? this.core.incarnation); }

  tick(now) { // R6, R30: there is no last attempt
    this.now = now;
    for (const [to, { waiting }] of this.channels)
      for (const [number, one] of waiting) {
        if (now < one.at + one.wait) continue;
        Object.assign(one, { at: now, wait: Math.min(LONGEST_WAIT, one.wait * (1.5 + this.random())) });
        this.transmit(to, number);
      }
  }

  arrives(from, { incarnation, number, lowest, control }) { // R7; the incarnation is the sender's
    if (BigInt(incarnation) > this.lifeOf(from)) { // of a life that its hello did not show
      this.core.emit("cut", { peer: from, reason: `a control message of incarnation ${incarnation}` });
      return;
    }
    if (BigInt(incarnation) !== this.lifeOf(from) || number >= lowest + WINDOW) return;
    const channel = this.channel(from);
    if (lowest > channel.mark) {
      channel.mark = lowest;
      for (const one of channel.seen) if (one < lowest) channel.seen.delete(one);
    }
    const copy = number < channel.mark || channel.seen.has(number);
    if (!copy) {
      channel.seen.add(number);
      this.core.effectOf(from, control);
    }
    this.core.send(from, "Ack", { incarnation, number });
  }
  answered(from, { incarnation, number }) {
    if (BigInt(incarnation) !== BigInt(this.core.incarnation)) return;
    const channel = this.channel(from);
    const sent = channel.waiting.get(number);
    if (!sent) return;
    channel.waiting.delete(number);
    this.pump(from);
    this.core.acknowledged(sent.control);
  }

  forget(peer) { this.channels.delete(peer); }
  unanswered() {
    return [...this.channels].flatMap(([to, { waiting, queue }]) => [
      ...[...waiting.values()].map(({ control, begun }) => ({ to, control, age: this.now - begun })),
      ...queue.map((control) => ({ to, control, age: 0 })),
    ]);
  }
}
