// capnweb: a stub that is passed back to the side that owns the object cannot be kept there.
//
// B makes an object, A passes its stub back to B in a call, and B keeps it as the documentation says: it calls dup() on the argument.
// B should be able to use it later. With capnweb 0.12.0 the copy is broken: "Can't dup an RpcTarget stub as a promise."
import { createRequire } from "node:module";
import { join } from "node:path";

const { RpcTarget, newMessagePortRpcSession } = createRequire(join(process.cwd(), "here.js"))("capnweb");

class Cell extends RpcTarget {
  get() { return 7; }
}

class Root extends RpcTarget {
  make() { return new Cell(); }
  keep(stub) { this.kept = stub.dup(); }
  read() { return this.kept.get(); }
}

const { port1, port2 } = new MessageChannel();
newMessagePortRpcSession(port2, new Root());
const b = newMessagePortRpcSession(port1, new RpcTarget());
const cell = await b.make();
console.log("A reads", await cell.get());
let said = null;
try {
  await b.keep(cell);
  console.log("B reads", await b.read());
} catch (error) {
  said = error.message;
}
console.log(said ? `REPRODUCED: B cannot keep what it owns: ${said}` : "NOT REPRODUCED: B has it");
process.exit(said ? 1 : 0);
