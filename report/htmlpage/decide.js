"use strict";
// Shared by the pages of audits, on which you decide about data.items one by one. The script of a page follows this one.
// It defines step (the number of cards at first), matches(i), card(i), draw(), picture(i), says(i), texts for empty lists,
// and csv(), and it ends with a call of begin().
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const whole = n => Math.round(n).toLocaleString("en");

// Decisions by number of the item. The browser keeps them too, if it lets a page do so.
const store = "nmn-audit-" + data.key;
const decisions = new Map(load());
const history = [];
let kind = "all", state = "open", current = -1, shown = 0, columns = () => 1, arrange = list => list;

const some = (n, one, many) => whole(n) + " " + (n === 1 ? one : many);
// percent never shows a probability as certain.
const percent = (p, digits = 1) => p == null ? "?" : p < .0005 ? "< 0.1 %" : p > .9995 ? "> 99.9 %" : (100 * p).toFixed(digits) + " %";

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
  visible = arrange(data.items.map((_, i) => i).filter(i => matches(i)));
  shown = Math.min(step, visible.length);
  current = visible.length ? visible[0] : -1;
}
function redraw() { filter(); draw(); }

// mark shows which card the keys go to.
function mark(scroll) {
  for (const c of at("cards").children) {
    const is = +c.dataset.item === current;
    c.classList.toggle("current", is);
    if (is && scroll) { c.scrollIntoView({ block: "nearest" }); if (!at("zoom").open) c.focus({ preventScroll: true }); }
  }
}

// decide stores a verdict on the current item (null removes it) and moves to the next one.
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
  if (!last) return toast("Nothing to undo");
  const [i, before] = last;
  if (before) decisions.set(i, before); else decisions.delete(i);
  keep();
  refresh(i);
}
// refresh redraws and keeps the place.
function refresh(next) {
  const had = shown;
  filter();
  shown = Math.min(Math.max(had, step), visible.length);
  if (visible.includes(next)) current = next;
  draw();
  mark(true);
  drawZoom();
}

function move(by) {
  if (!visible.length) return;
  const place = Math.max(0, visible.indexOf(current));
  const to = Math.min(visible.length - 1, Math.max(0, place + by));
  if (to >= shown) { shown = Math.min(visible.length, to + step); drawCards(); }
  current = visible[to];
  mark(true);
  drawZoom();
}
function more() { shown = Math.min(visible.length, shown + step); drawCards(); }

function drawCards() {
  at("cards").classList.toggle("bare", !data.images.length);
  at("cards").replaceChildren(...visible.slice(0, shown).map(card));
  at("more").hidden = shown >= visible.length;
  const empty = at("empty");
  empty.hidden = visible.length > 0;
  if (!visible.length) {
    const done = data.items.length && [...data.items.keys()].every(i => decisions.has(i));
    const [title, text] = !data.items.length ? none : state === "open" && done ? ["All decided", apply] : ["Nothing here", "No suspect matches these filters."];
    empty.replaceChildren(element("strong", "", title), text);
  }
  mark(false);
}

// box returns the card of an item with its picture. A click on the picture enlarges it.
function box(i, className) {
  const e = element("li", className), [image, name] = picture(i);
  e.tabIndex = -1; e.dataset.item = i;
  e.onclick = c => { if (!c.target.closest("button")) { current = i; mark(false); } };
  const frame = element(image == null ? "div" : "button", "picture");
  if (image == null) frame.append(element("span", "blank", "no picture"));
  else {
    const img = element("img");
    img.src = data.images[image]; img.alt = "picture " + name; img.loading = "lazy";
    frame.title = "enlarge (Z)"; frame.tabIndex = -1;
    frame.onclick = () => { current = i; mark(false); zoom(); };
    frame.append(img);
  }
  e.append(frame);
  return [e, frame];
}

// buttons returns the buttons for the verdicts [verdict, text, style, hint] on an item.
function buttons(i, verdicts) {
  const actions = element("div", "actions"), said = decisions.get(i);
  for (const [verdict, text, style, hint] of verdicts) {
    const b = element("button", style, text);
    b.title = hint; b.setAttribute("aria-pressed", said === verdict);
    b.onclick = () => { current = i; decide(said === verdict ? null : verdict); };
    actions.append(b);
  }
  return actions;
}

// zoom shows the picture of the current item as large as the window. All keys still work.
function zoom() {
  if (at("zoom").open) return at("zoom").close();
  if (current < 0 || picture(current)[0] == null) return toast("There is no picture to enlarge");
  at("zoom").showModal();
  drawZoom();
}
function drawZoom() {
  if (!at("zoom").open) return;
  if (current < 0) return at("zoom").close();
  const [image, name] = picture(current), img = at("zoom-image");
  img.hidden = image == null;
  if (image != null) { img.src = data.images[image]; img.alt = "picture " + name; }
  at("zoom-name").textContent = name + ": " + says(current);
}

// drawProgress shows how many items are decided, and how many with the verdict.
function drawProgress(verdict) {
  const n = data.items.length, said = [...decisions.values()], first = said.filter(v => v === verdict).length;
  at("decided").textContent = whole(said.length) + " of " + whole(n) + " decided";
  at("track-yes").style.width = n ? 100 * first / n + "%" : 0;
  at("track-no").style.width = n ? 100 * (said.length - first) / n + "%" : 0;
}

function field(s) { return /[",\r\n]/.test(s) || s !== s.trim() ? '"' + s.replaceAll('"', '""') + '"' : s; }
// save downloads the decisions.
function save(name) {
  if (!decisions.size) return toast("No decision yet");
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
  const all = [...(at(id)?.children ?? [])];
  for (const b of all) b.onclick = () => {
    for (const o of all) o.setAttribute("aria-pressed", o === b);
    set(b.dataset.value);
    redraw();
  };
  return all;
}

// begin binds buttons and keys. Keys that are typed into a field or meant for the browser are left alone. Enter moves the
// focus out of the search field, so that the next key decides.
function begin(file, verdicts, found) {
  const kinds = segments("kinds", v => kind = v);
  segments("states", v => state = v);
  const search = at("search"), leave = () => { search.blur(); mark(true); };
  search.oninput = () => found(search.value.trim().toLowerCase());
  search.onkeydown = e => {
    if (e.key !== "Escape" && e.key !== "Enter") return;
    e.preventDefault();
    if (e.key === "Escape") { search.value = ""; found(""); } else found(search.value.trim().toLowerCase(), true);
    leave();
  };
  at("more").firstElementChild.onclick = more;
  at("save").onclick = () => save(file);
  at("help-open").onclick = () => at("help").showModal();
  at("zoom").onclose = () => mark(true);
  at("zoom-image").onclick = () => at("zoom").close();
  const keys = {
    ...verdicts, u: undo, s: () => save(file), z: zoom, j: () => move(1), k: () => move(-1), ArrowRight: () => move(1),
    ArrowLeft: () => move(-1), ArrowDown: () => move(columns()), ArrowUp: () => move(-columns()), "/": () => search.focus(),
    "?": () => at("help").showModal(), ...Object.fromEntries(kinds.map((b, i) => [i + 1, () => b.click()])),
  };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT" || at("help").open) return;
    const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (at("zoom").open && "/?123".includes(key)) return;
    if (keys[key]) { e.preventDefault(); keys[key](); }
  });
  redraw();
}
