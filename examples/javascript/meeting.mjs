// How workers meet in a directory (section Meeting of spec/wire.md): names, a secret, and one stream for each pair.
//
// Node cannot ask a Unix socket for the user id of the other side. What keeps others out is the mode of the directory.
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hear, Link, opened, placeOf } from "./links.mjs";
import { introduce, MEETS } from "./wire.mjs";

const PAUSE_MS = 20;

function secretOf(directory) {
  const place = join(directory, "secret");
  const draft = join(directory, `draft-${randomBytes(8).toString("hex")}`);
  writeFileSync(draft, randomBytes(48), { mode: 0o600 });
  try { linkSync(draft, place); } catch (error) { if (error.code !== "EEXIST") throw error; } // somebody was first
  rmSync(draft);
  const secret = readFileSync(place);
  return { world: secret.subarray(0, 16), key: secret.subarray(16, 48) };
}

function linkWith({ socket, pieces, rank, incarnation }) {
  socket.write(Buffer.from([0])); // no arena of ours
  return Object.assign(new Link(rank, incarnation), { socket, pieces });
}

async function knock(path, me, until) { // whoever is turned away tries again, except after a mismatch
  for (;;) {
    try {
      return linkWith(await introduce(await opened(path), "connects", me));
    } catch (error) {
      if (error.mismatch || Date.now() > until) throw new Error(`nobody was met at ${path}: ${error.message}`);
      await sleep(PAUSE_MS);
    }
  }
}

function listen(directory, me, size, until) { // gives the links to all higher ranks, and the server, which listens on
  const [path, own] = [String(me.rank), placeOf(me.rank, me.incarnation)].map((name) => join(directory, name));
  const links = new Map();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`only ${links.size} workers came to ${path}`)), until - Date.now());
    const finish = () => { clearTimeout(timer); resolve({ server, links }); };
    const isAll = () => links.size === size - 1 - me.rank;
    const server = createServer(async (socket) => {
      const guest = await hear(socket, me).catch(() => null);
      if (!guest) return;
      if (guest.purpose !== MEETS || guest.rank <= me.rank || guest.rank >= size || isAll()) return socket.destroy();
      links.get(guest.rank)?.cut(); // it lost this one on the way
      links.set(guest.rank, linkWith(guest));
      if (isAll()) finish();
    });
    server.on("error", reject).listen(own, () => { linkSync(own, path); if (isAll()) finish(); });
  });
}

/** Meet the other workers of a world: the links to them, all names by rank, and where this one listens on. */
export async function gather({ directory, rank, name, size, incarnation, timeout = 30 }) {
  if (statSync(directory).mode & 0o077) throw new Error("others can enter the directory of this world");
  const until = Date.now() + timeout * 1000;
  const me = { rank, incarnation, ...secretOf(directory) };
  writeFileSync(join(directory, `${rank}.name`), name);
  const lower = Array.from({ length: rank }, (_, other) => knock(join(directory, String(other)), me, until));
  const [{ server, links }, ...reached] = await Promise.all([listen(directory, me, size, until), ...lower]);
  const names = Array.from({ length: size }, (_, other) => readFileSync(join(directory, `${other}.name`), "utf8"));
  rmSync(join(directory, String(rank)), { force: true });
  return { links: [...reached, ...links.values()], names, me, server };
}
