"use strict";
// Filters the findings; the filter is the part of the address after "#?", so that a filtered page can be linked to.
const form = document.getElementById("filter");
const names = ["rule", "path", "commit", "state"];
const groups = [...document.querySelectorAll("details.group")].map((group) => ({
  group,
  rows: [...group.querySelectorAll("tbody>tr")].map((row) => ({
    row,
    path: row.cells[0].textContent.toLowerCase(),
    commit: (row.querySelector("td.commit") || {textContent: ""}).textContent.toLowerCase(),
  })),
}));

function apply() {
  const wanted = Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim().toLowerCase()]));
  const any = names.some((name) => wanted[name]);
  let shown = 0, all = 0;
  for (const {group, rows} of groups) {
    const fits = group.dataset.rule.toLowerCase().includes(wanted.rule)
      && (!wanted.state || group.dataset.state === wanted.state);
    let here = 0;
    for (const {row, path, commit} of rows) {
      const hit = fits && path.includes(wanted.path) && commit.startsWith(wanted.commit);
      if (row.hidden === hit) row.hidden = !hit;
      here += hit;
    }
    group.hidden = !here;
    if (any && here) group.open = true;
    shown += here;
    all += rows.length;
  }
  for (const part of document.querySelectorAll("section.state")) {
    part.hidden = !part.querySelector("details.group:not([hidden])");
  }
  form.elements.count.value = any ? `${shown} of ${all} shown` : `${all} on this page`;
  return any ? "#?" + new URLSearchParams(names.filter((name) => wanted[name]).map((name) => [name, wanted[name]])) : "";
}

function read() {
  const hash = location.hash;
  if (hash.startsWith("#?")) {
    const given = new URLSearchParams(hash.slice(2));
    for (const name of names) form.elements[name].value = given.get(name) || "";
    apply();
    return;
  }
  const target = hash.length > 1 && document.getElementById(hash.slice(1));
  if (target && target.closest("[hidden]")) {
    form.reset();
    apply();
  }
  if (target && target.closest("details:not([open])")) target.closest("details:not([open])").open = true;
  if (target) target.scrollIntoView();
}

if (form) {
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const hash = apply();
    history.replaceState(null, "", hash || location.pathname + location.search);
  });
  form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("input"))));
  addEventListener("hashchange", read);
  apply();
  read();
}
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
