// Where nodes come from: from the page itself, and if a server is there, from it. Both have the same shape.

export const SWITCH = "~";

export function isSwitch(move) {
  return move.startsWith(SWITCH);
}

// Where a move leads from a node; undefined if it cannot be taken.
export function leads(node, move) {
  if (isSwitch(move)) return node.switches[move.slice(SWITCH.length)];
  return node.turns.find((turn) => turn.label === move)?.to;
}

// Whether a sentence holds in a node: what must hold, or what some run must reach.
export function holds(node, sentence) {
  return sentence.kind === "sometimes" ? node.reached.includes(sentence.id) : !(sentence.id in node.broken);
}

export class Source {
  constructor(told, ask) {
    this.told = told;
    this.ask = ask; // null where nobody can be asked
    this.nodes = new Map(Object.entries(told.nodes));
    this.first = this.nodes.get(told.first);
  }

  // Give the nodes of a walk with the first one, as far as its moves can be taken, and why it goes no further.
  async walk(moves) {
    const nodes = [this.first];
    for (const [place, move] of moves.entries()) {
      const to = leads(nodes[place], move);
      if (to === undefined) return { nodes, stopped: `Step ${place + 1}, ${move}, cannot happen there.` };
      if (!this.nodes.has(to)) return this.#further(nodes, moves);
      nodes.push(this.nodes.get(to));
    }
    return { nodes, stopped: "" };
  }

  async #further(nodes, moves) {
    if (this.ask === null) return { nodes, stopped: "This page has the states around one run only. " + OTHERS };
    const answer = await this.ask("walk", { moves, begin: nodes.length });
    for (const node of answer.nodes) this.nodes.set(node.id, node);
    return { nodes: [...nodes, ...answer.nodes], stopped: answer.stopped && `${answer.stopped[0].toUpperCase()}${answer.stopped.slice(1)}.` };
  }

  // Find the shortest way on from the end of a walk to where a sentence turns.
  async search(moves, nodes, sentence) {
    if (this.ask !== null) return this.ask("search", { moves, sentence: sentence.id });
    return this.#searchHere(nodes.at(-1), sentence);
  }

  #searchHere(begin, sentence) {
    const origins = new Map([[begin.id, null]]);
    let level = [begin];
    while (level.length) {
      const following = [];
      for (const node of level) {
        for (const turn of node.turns) {
          const after = this.nodes.get(turn.to);
          if (after === undefined || origins.has(after.id)) continue;
          origins.set(after.id, [node.id, turn.label]);
          if (holds(after, sentence) !== holds(begin, sentence)) return { moves: wayTo(origins, after.id), said: "found" };
          following.push(after);
        }
      }
      level = following;
    }
    return { moves: null, said: `in none of the ${origins.size} states of this page that can be reached from here. ` + OTHERS };
  }
}

const OTHERS = "farref explore has all of them.";

function wayTo(origins, id) {
  const moves = [];
  for (let origin = origins.get(id); origin !== null; origin = origins.get(origin[0])) moves.unshift(origin[1]);
  return moves;
}

async function asked(path, options) {
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error(`the server says: ${answer.status}`);
  return answer.json();
}

export async function openSource() {
  const data = document.getElementById("data");
  if (data === null) {
    const ask = (name, question) =>
      asked(name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
    const told = await asked("document.json");
    return new Source(told, told.is_part ? null : ask);
  }
  const packed = Uint8Array.from(atob(data.textContent), (one) => one.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Source(await new Response(unpacked).json(), null);
}
