// A state as tables, each line marked by how it differs from the state it is compared with.

import { h } from "./dom.js";

function linesOf(tables) {
  const lines = new Map();
  for (const table of tables) {
    for (const row of table.rows) lines.set(`${table.title}\n${row.key}`, { table, row });
  }
  return lines;
}

// What a line says, column by column: a column that is new says nothing where it is empty.
function saying({ table, row }) {
  return table.columns.map((column, place) => (row.cells[place] ? `${column}=${row.cells[place]}` : "")).filter(Boolean).join("\n");
}

// Say of each line whether it is new, changed or the same, and add those that are gone.
function compared(tables, before) {
  if (before === null) return tables.map((table) => ({ table, rows: table.rows.map((row) => ({ row, mark: "" })) }));
  const old = linesOf(before);
  const now = linesOf(tables);
  const marked = tables.map((table) => ({
    table,
    rows: table.rows.map((row) => {
      const was = old.get(`${table.title}\n${row.key}`);
      return { row, mark: was === undefined ? "new" : saying(was) === saying({ table, row }) ? "" : "changed" };
    }),
  }));
  for (const [key, { table, row }] of old) {
    if (now.has(key)) continue;
    let place = marked.find((one) => one.table.title === table.title && one.table.columns.join() === table.columns.join());
    if (place === undefined) marked.push((place = { table: { ...table, rows: [] }, rows: [] }));
    place.rows.push({ row, mark: "gone" });
  }
  return marked;
}

const MARKS = { new: "+", changed: "±", gone: "−", "": "" };
const SPOKEN = { new: "new", changed: "changed", gone: "gone" };

function tableView({ table, rows }) {
  const head = table.columns.some(Boolean) &&
    h("tr", {}, h("th", { scope: "col", class: "mark" }), table.columns.map((one) => h("th", { scope: "col" }, one)));
  const body = rows.map(({ row, mark }) =>
    h("tr", { class: mark || null },
      h("td", { class: "mark", "aria-label": SPOKEN[mark] ?? null }, MARKS[mark]),
      row.cells.map((cell) => h("td", {}, cell))));
  return h("div", { class: "wide" }, h("table", {}, h("caption", {}, table.title), head && h("thead", {}, head), h("tbody", {}, body)));
}

function tablesView(tables, before) {
  const views = compared(tables, before).filter((one) => one.rows.length).map(tableView);
  return views.length ? views : h("p", { class: "quiet" }, "nothing");
}

function messagesTable(flying) {
  const rows = flying.map((one) => ({ key: `${one.label} ${one.source} ${one.target}`, cells: [one.label, one.source, one.target] }));
  return rows.length ? [{ title: "Messages under way", columns: ["message", "from", "to"], rows }] : [];
}

// Show a state, and how it differs from another one, if there is one.
export function stateView(lanes, node, before) {
  const known = (one, name) => one && (one.workers.find((worker) => worker.name === name)?.tables ?? []);
  const cards = lanes.map((lane) =>
    h("article", { class: "card" },
      h("h3", {}, lane.name, lane.note && h("small", {}, ` ${lane.note}`)),
      tablesView(known(node, lane.name), before && known(before, lane.name))));
  const others = (one) => [...messagesTable(one.flying), ...one.whole];
  return h("div", { class: "cards" }, cards,
    h("article", { class: "card" }, h("h3", {}, "Between them"), tablesView(others(node), before && others(before))));
}
