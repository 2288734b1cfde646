// capnweb: over a MessagePort nobody notices that the other side has died.
//
// A calls a worker thread, which is terminated meanwhile. The call should fail, and onRpcBroken be called. With capnweb 0.12.0 the
// call hangs, and so does every later one: the port tells of its end (`close`), and capnweb does not listen.
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker, isMainThread, workerData } from "node:worker_threads";

const { RpcTarget, newMessagePortRpcSession } = createRequire(join(process.cwd(), "here.js"))("capnweb");

class Root extends RpcTarget {
  echo(value) { return value; }
  slow() { return sleep(60_000, 7); }
}

async function main() {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL(import.meta.url), { workerData: port2, transferList: [port2] });
  const b = newMessagePortRpcSession(port1, new RpcTarget());
  let closed = false, broken = false;
  port1.addEventListener("close", () => { closed = true; });
  b.onRpcBroken(() => { broken = true; });
  console.log("B answers", await b.echo(7));
  const ended = (call) => call.then(() => "an answer", (error) => `an error: ${error.message}`);
  const waiting = ended(b.slow());
  await sleep(300);
  await worker.terminate();
  const later = ended(b.echo(8));
  const [first, second] = await Promise.all([waiting, later].map((one) => Promise.race([one, sleep(5000, "nothing")])));
  console.log(`5 s after its death: the port has closed: ${closed}, onRpcBroken: ${broken}`);
  console.log(`the call under way got ${first}, a later one ${second}`);
  const hangs = first === "nothing" && second === "nothing" && !broken;
  console.log(hangs ? "REPRODUCED: calls to a worker that is dead hang" : "NOT REPRODUCED: its death is noticed");
  process.exit(hangs ? 1 : 0);
}

if (isMainThread) await main();
else newMessagePortRpcSession(workerData, new Root());
