"use strict";
// Filter the rows, open them, copy what is to be run, follow links to rows. Without this the page can still be read.
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll(".matrix > .row")];
const headings = [...document.querySelectorAll(".matrix > .group")];
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

function belongsTo(heading) {
  const found = [];
  for (let next = heading.nextElementSibling; next && next.matches(".row"); next = next.nextElementSibling) found.push(next);
  return found;
}

function filter() {
  const given = new FormData(form);
  const verdicts = given.getAll("verdict");
  const words = String(given.get("text")).toLowerCase().split(/\s+/);
  const [clause, level, differs] = ["clause", "level", "differs"].map((name) => given.get(name));
  let shown = 0;
  for (const row of rows) {
    const fits = row.dataset.verdicts.split(" ").some((one) => verdicts.includes(one))
      && (!clause || row.dataset.clause === clause)
      && (!level || row.dataset.level === level)
      && (!differs || row.dataset.differs === "yes")
      && words.every((word) => texts.get(row).includes(word));
    row.hidden = !fits;
    shown += fits;
  }
  for (const heading of headings) heading.hidden = !belongsTo(heading).some((row) => !row.hidden);
  document.getElementById("shown").textContent = `${shown} of ${rows.length} shown`;
  document.getElementById("nothing").hidden = shown > 0;
}

function reset() {
  form.reset();
  filter();
}

function follow() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const row = place && place.closest(".row");
  if (!row) return;
  if (row.hidden) reset();
  row.open = true;
  place.scrollIntoView();
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));
document.getElementById("reset-too").addEventListener("click", reset);
document.getElementById("open-all").addEventListener("click", (event) => {
  const shown = rows.filter((row) => !row.hidden);
  const open = !shown.every((row) => row.open);
  for (const row of shown) row.open = open;
  event.target.textContent = open ? "Collapse shown" : "Expand shown";
});
for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copy(button));

let closed = [];
addEventListener("beforeprint", () => {
  closed = rows.filter((row) => !row.open && /fail|error|unexpected/.test(row.dataset.verdicts));
  for (const row of closed) row.open = true;
});
addEventListener("afterprint", () => {
  for (const row of closed) row.open = false;
});
addEventListener("hashchange", follow);
document.addEventListener("click", (event) => { // the same place again is no change of the address
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) follow();
});
filter(); // a browser may have kept what was chosen before
follow();
