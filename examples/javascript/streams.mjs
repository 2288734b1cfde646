// A worker among its peers: the streams to them, which are made again when they break, and leaving together (R32).
import { join as joined } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, hear, placeOf, reach, refuse } from "./links.mjs";
import { pack } from "./msgpack.mjs";
import { Trouble } from "./tables.mjs";
import { AGAIN, frame, JOINS } from "./wire.mjs";

const [PAUSE_MS, PAUSE_MS_MAX] = [10, 500];

/** The part of a worker that is about its peers; worker.mjs has the constructor and the rest. */
export class Streams {
  // -- streams (section Epochs of spec/wire.md) -----------------------------------------------------------------------------
  async readFrom(link) {
    const error = await link.read((message) => this.arrives(link.rank, message));
    if (error?.broken) this.mend(link, error.message);
    else if (error) this.do_cut({ peer: link.rank, reason: error.message }); // what no honest peer sends
  }
  async mend(link, reason) { // one attempt at a time: a count that was told must still be right when the stream begins (Z5)
    if (link.mending) return;
    link.mending = true;
    await this.connectAgain(link, reason).finally(() => { link.mending = false; });
    if (!link.works && !link.over && !this.stopped && this.links.get(link.rank) === link && !this.suspected.has(link.rank))
      this.mend(link, reason); // it broke again at once
  }
  async connectAgain(link, reason) { // Z4, Z6: until there is a stream, or nobody is there any more
    for (let pause = PAUSE_MS; !link.works && !link.over && !this.stopped; pause = Math.min(2 * pause, PAUSE_MS_MAX)) {
      try {
        const made = await reach(joined(this.directory, placeOf(link.rank, link.incarnation)), this.me, link);
        if (link.over || this.stopped || link.rank > this.rank) made.socket.destroy(); // it was a knock, and the other connects
        else return this.goOn(link, made);
      } catch (error) {
        if (error.told) return this.step((core) => core.receive(link.rank, error.told));
        if (error.gone) return this.gone(link, reason);
      }
      await sleep(pause);
    }
  }
  goOn(link, made) {
    try {
      link.goOn(made);
      this.readFrom(link);
    } catch (error) { // Z8
      made.socket.destroy();
      this.do_cut({ peer: link.rank, reason: error.message });
    }
  }
  breakStreamTo(name) { this.links.get(this.rankOf(name))?.socket?.destroy(); } // to see that it is made again
  gone(link, reason) { // Z10; whoever has said 4 has left in order
    if (this.reached.get(link.rank) < 4) return this.suspect(link.rank, reason);
    this.links.delete(link.rank);
    this.checkLeaving?.();
  }
  suspect(rank, reason) { // R36
    if (this.suspected.has(rank) || this.stopped) return;
    this.suspected.add(rank);
    this.step((core) => core.members.suspect(rank, reason));
  }
  async heardAtTheDoor(socket) {
    const guest = await hear(socket, this.me).catch(() => null);
    if (!guest) return;
    const { rank, purpose, incarnation, epoch } = guest;
    const link = this.links.get(rank);
    if (purpose === JOINS) return this.declineToAdmit(socket);
    if (purpose === AGAIN && this.core.members.since.has(rank))
      return refuse(guest, this.core.members.view, this.core.dead.get(rank)); // Z7, R38
    if (link && !link.over && link.incarnation === null) this.know(link, incarnation);
    if (purpose !== AGAIN || !link || link.over || link.incarnation !== incarnation) return socket.destroy();
    if (rank > this.rank && epoch <= link.epoch) return socket.destroy(); // Z5
    if (rank > this.rank) link.leave();
    answer(guest, link);
    if (rank > this.rank) return this.goOn(link, guest);
    socket.end(); // Z6
    if (!link.works || epoch <= link.epoch) return;
    link.leave();
    this.mend(link, "the other end has lost the stream");
  }
  declineToAdmit(socket) {
    const why = pack(`${this.name} admits nobody`);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(why.length);
    socket.end(Buffer.concat([length, why]));
  }
  know(link, incarnation) {
    link.incarnation = incarnation;
    this.core.control.incarnations.set(link.rank, incarnation);
  }

  // -- leaving (R32) --------------------------------------------------------------------------------------------------------
  peerReached(from, step) {
    this.reached.set(from, Math.max(step, this.reached.get(from)));
    this.onLeaving();
    this.checkLeaving?.();
  }
  reach(step) { for (const link of this.links.values()) link.send(frame({ type: "Reached", step })); }
  othersAt(step) { return [...this.links.keys()].every((rank) => this.core.dead.has(rank) || this.reached.get(rank) >= step); }
  async until(holds, deadline) {
    while (!holds() && Date.now() < deadline)
      await new Promise((resolve) => { this.checkLeaving = resolve; setTimeout(resolve, 5); });
  }
  /** Leave the world together with the others; gives what could not be released. */
  async shutdown({ timeout = 10 } = {}) {
    const deadline = Date.now() + timeout * 1000;
    const idle = () => !this.running && !this.core.busy();
    this.stopping = this.core.leaving = true;
    this.reach(1);
    await this.until(() => idle() && this.othersAt(1), deadline);
    this.reach(2);
    await this.until(() => idle() && this.othersAt(2), deadline);
    this.closed = true;
    this.step((core) => core.letGoOfAll());
    await this.until(() => this.core.onlyTheDeadKeep(), deadline);
    this.reach(4);
    await this.until(() => this.othersAt(4), deadline);
    return this.leave();
  }
  leave() { // at once
    this.stopped = true;
    clearInterval(this.timer);
    this.server.close();
    for (const link of this.links.values()) link.end();
    for (const { reject } of this.waits.values()) reject(new Trouble("refused", `${this.name} has left`));
    return this.core.left();
  }
}
