// How workers meet in a directory (section Meeting of spec/wire.md): names, a secret, and one stream for each pair.
//
// Node cannot ask a Unix socket for the user id of the other side. What keeps others out is the mode of the directory.
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { meet } from "./wire.mjs";

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

function opened(path) {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket)).on("error", reject);
  });
}

async function knock(path, me, until) { // whoever is turned away tries again, except after a mismatch
  for (;;) {
    try {
      return await meet(await opened(path), "connects", me);
    } catch (error) {
      if (error.mismatch || Date.now() > until) throw new Error(`nobody was met at ${path}: ${error.message}`);
      await sleep(PAUSE_MS);
    }
  }
}

function listen(path, me, size, until) { // gives the links to all higher ranks
  const links = new Map();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`only ${links.size} workers came to ${path}`)), until - Date.now());
    const server = createServer(async (socket) => {
      socket.on("error", () => {});
      const link = await meet(socket, "accepts", me).catch(() => null);
      if (!link) return;
      if (link.rank <= me.rank || link.rank >= size || links.has(link.rank)) return link.cut();
      links.set(link.rank, link);
      if (links.size === size - 1 - me.rank) finish();
    });
    const finish = () => { clearTimeout(timer); server.close(); resolve([...links.values()]); };
    server.on("error", reject).listen(path, () => { if (size - 1 === me.rank) finish(); });
  });
}

/** Meet the other workers of a world: the links to them, and all names by rank. */
export async function gather({ directory, rank, name, size, incarnation, timeout = 30 }) {
  if (statSync(directory).mode & 0o077) throw new Error("others can enter the directory of this world");
  const until = Date.now() + timeout * 1000;
  const me = { rank, incarnation, ...secretOf(directory) };
  writeFileSync(join(directory, `${rank}.name`), name);
  const lower = Array.from({ length: rank }, (_, other) => knock(join(directory, String(other)), me, until));
  const links = (await Promise.all([listen(join(directory, String(rank)), me, size, until), ...lower])).flat();
  const names = Array.from({ length: size }, (_, other) => readFileSync(join(directory, `${other}.name`), "utf8"));
  rmSync(join(directory, String(rank)), { force: true });
  return { links, names };
}
