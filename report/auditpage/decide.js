"use strict";
// What the pages of audits share: people decide about data.items, one after the other. A page has, after this script,
// step (cards at first), matches(i), drawCards(), draw(), and csv() of the decisions.
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const whole = n => Math.round(n).toLocaleString("en");

// Decisions by number of the item; kept by the browser too, where it lets a page do so.
const store = "nmn-audit-" + data.key;
const decisions = new Map(load());
const history = [];
let kind = "all", state = "open", current = -1, shown = 0;

function load() {
  try { return JSON.parse(localStorage.getItem(store) || "[]").filter(([i]) => i < data.items.length); } catch { return []; }
}
function keep() {
  try { localStorage.setItem(store, JSON.stringify([...decisions])); } catch { /* private windows forget */ }
}
function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text != null) e.textContent = text;
  return e;
}

let visible = [];
function filter() {
  visible = data.items.map((_, i) => i).filter(i => matches(i));
  shown = Math.min(step, visible.length);
  current = visible.length ? visible[0] : -1;
}
function redraw() { filter(); draw(); }

// mark shows which card the keys go to.
function mark(scroll) {
  for (const c of at("cards").children) {
    const is = +c.dataset.item === current;
    c.classList.toggle("current", is);
    if (is && scroll) { c.scrollIntoView({ block: "nearest" }); c.focus({ preventScroll: true }); }
  }
}

// decide notes a verdict on the current item (null takes it back) and goes on to the next one.
function decide(verdict) {
  if (current < 0) return;
  const i = current, place = visible.indexOf(i);
  history.push([i, decisions.get(i)]);
  if (verdict) decisions.set(i, verdict); else decisions.delete(i);
  keep();
  const next = visible[place + 1] ?? visible[place - 1] ?? -1;
  refresh(verdict ? next : i);
}
function undo() {
  const last = history.pop();
  if (!last) return toast("Nothing to take back");
  const [i, before] = last;
  if (before) decisions.set(i, before); else decisions.delete(i);
  keep();
  refresh(i);
}
// refresh draws anew without losing the place.
function refresh(next) {
  const had = shown;
  filter();
  shown = Math.min(Math.max(had, step), visible.length);
  if (visible.includes(next)) current = next;
  draw();
  mark(true);
}

function move(by) {
  if (!visible.length) return;
  const place = Math.max(0, visible.indexOf(current));
  const to = Math.min(visible.length - 1, Math.max(0, place + by));
  if (to >= shown) { shown = Math.min(visible.length, to + step); drawCards(); }
  current = visible[to];
  mark(true);
}

// drawProgress tells how many items are decided; yes and no are the tracks of the two verdicts, of which one is given.
function drawProgress(verdict, yes, no) {
  const n = data.items.length, said = [...decisions.values()], first = said.filter(v => v === verdict).length;
  at("decided").textContent = whole(said.length) + " of " + whole(n) + " decided";
  at(yes).style.width = n ? 100 * first / n + "%" : 0;
  at(no).style.width = n ? 100 * (said.length - first) / n + "%" : 0;
}

function field(s) { return /[",\r\n]/.test(s) || s !== s.trim() ? '"' + s.replaceAll('"', '""') + '"' : s; }
// save downloads the decisions.
function save(name) {
  if (!decisions.size) return toast("Nothing is decided yet");
  const a = element("a");
  a.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  toast(whole(decisions.size) + (decisions.size === 1 ? " decision" : " decisions") + " saved to " + name);
}
let fade;
function toast(text) {
  at("toast").textContent = text;
  at("toast").classList.add("shown");
  clearTimeout(fade);
  fade = setTimeout(() => at("toast").classList.remove("shown"), 2200);
}

function segments(id, set) {
  const all = [...at(id).children];
  for (const b of all) b.onclick = () => {
    for (const o of all) o.setAttribute("aria-pressed", o === b);
    set(b.dataset.value);
    redraw();
  };
  return all;
}

// listen has keys do what a page says, unless they are typed into a field or meant for the browser.
function listen(keys) {
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT" || at("help").open) return;
    const does = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (does) { e.preventDefault(); does(); }
  });
}
