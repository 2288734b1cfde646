// A gradient program: workers, the pairs between them, and how far the gradient of each has come.

import { h, s } from "./dom.js";

const SIZE = 260, RADIUS = 88, BOX = 24;
const CLASSES = { "not recorded": "unrecorded", recorded: "recorded", "under way": "underway", arrived: "arrived" };

function spots(lanes) {
  return new Map(lanes.map((lane, place) => {
    const turn = (2 * Math.PI * place) / lanes.length - Math.PI / 2;
    return [lane.name, [SIZE / 2 + (lanes.length > 1 ? RADIUS * Math.cos(turn) : 0), SIZE / 2 + (lanes.length > 1 ? RADIUS * Math.sin(turn) : 0)]];
  }));
}

// Bend each pair its own way, so that several between two workers can be told apart.
function edgeView(edge, place, where) {
  const [x1, y1] = where.get(edge.source), [x2, y2] = where.get(edge.target);
  const title = s("title", {}, `pair ${edge.pair}: ${edge.state}`);
  if (edge.source === edge.target) {
    const reach = 34 + 9 * place;
    return s("g", { class: `edge ${CLASSES[edge.state]}` }, title,
      s("path", { d: `M${x1 - 10},${y1 - BOX} c${-reach},${-reach} ${reach + 20},${-reach} 20,0` }),
      s("text", { x: x1, y: y1 - BOX - reach * 0.8, "text-anchor": "middle" }, String(edge.pair)));
  }
  const length = Math.hypot(x2 - x1, y2 - y1), across = [-(y2 - y1) / length, (x2 - x1) / length];
  const bend = 16 + 16 * place, middle = [(x1 + x2) / 2 + across[0] * bend, (y1 + y2) / 2 + across[1] * bend];
  const back = [x2 - middle[0], y2 - middle[1]], far = Math.hypot(...back);
  const end = [x2 - (back[0] / far) * BOX, y2 - (back[1] / far) * BOX];
  const side = [-back[1] / far, back[0] / far], base = [end[0] - (back[0] / far) * 9, end[1] - (back[1] / far) * 9];
  const head = [end, [base[0] + side[0] * 4, base[1] + side[1] * 4], [base[0] - side[0] * 4, base[1] - side[1] * 4]];
  return s("g", { class: `edge ${CLASSES[edge.state]}` }, title,
    s("path", { d: `M${x1},${y1} Q${middle[0]},${middle[1]} ${end[0]},${end[1]}` }),
    s("polygon", { points: head.map((one) => one.join()).join(" ") }),
    s("text", { x: middle[0], y: middle[1], "text-anchor": "middle" }, String(edge.pair)));
}

export function graphView(lanes, node) {
  const edges = node.edges ?? [];
  if (!edges.length) return null;
  const where = spots(lanes);
  const places = edges.map((edge, number) => edges.slice(0, number).filter((other) => other.source === edge.source && other.target === edge.target).length);
  const boxes = lanes.map((lane) => {
    const [x, y] = where.get(lane.name);
    return s("g", {}, s("circle", { class: "worker", cx: x, cy: y, r: BOX - 4 }), s("text", { x, y: y + 5, "text-anchor": "middle" }, lane.name));
  });
  const told = edges.map((edge) => h("li", {}, `Pair ${edge.pair}, tensors from ${edge.source} to ${edge.target}: gradient ${edge.state}`));
  const given = (node.leaves ?? []).map((leaf) => {
    const parts = [leaf.staged && `${leaf.staged} is kept aside until the pass commits`, leaf.gradient && `${leaf.gradient} can be seen`];
    return h("li", {}, `Gradient on ${leaf.worker}: ${parts.filter(Boolean).join(", ")}`);
  });
  return h("details", { open: true }, h("summary", {}, "The program, and which gradients have flowed"),
    s("svg", { class: "graph", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": "The gradient program" }, edges.map((edge, place) => edgeView(edge, places[place], where)), boxes),
    h("ul", { class: "legend" }, told, given));
}
