"use strict";
// data.items and data.bags as Go wrote them (CaptionPage); an item names its bag, and its caption in that bag, by number.
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const percent = p => p == null ? "?" : p > 0 && p < .0005 ? "< .1 %" : p > .9995 && p < 1 ? "> 99.9 %" : (100 * p).toFixed(1) + " %";
const whole = n => Math.round(n).toLocaleString("en");
const some = (n, one, many) => whole(n) + " " + (n === 1 ? one : many);

// Decisions by number of the item; kept by the browser too, where it lets a page do so.
const store = "nmn-captions-" + data.key;
const decisions = new Map(load());
const history = [];
let kind = "all", state = "open", wanted = "", current = -1, shown = 0;
const step = 40, listed = 20; // cards, and captions of a bag beside the suspect, that are shown at first

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

function matches(i) {
  const item = data.items[i], bag = data.bags[item.bag], said = decisions.get(i);
  return (kind === "all" || item.dropped === (kind === "dropped")) &&
    (state === "all" || (state === "open" ? !said : said === state)) &&
    (!wanted || bag.captions[item.at].text.toLowerCase().includes(wanted) || bag.id.toLowerCase().includes(wanted));
}
let visible = [];
function filter() {
  visible = data.items.map((_, i) => i).filter(matches);
  shown = Math.min(step, visible.length);
  current = visible.length ? visible[0] : -1;
}

// marked is a text with words of it marked where they stand by themselves, in either case.
function marked(box, text, words) {
  const parts = words.map(w => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
  if (!parts.length) { box.append(text); return box; }
  const found = new RegExp("(?<![\\p{L}\\p{N}])(" + parts.join("|") + ")(?![\\p{L}\\p{N}])", "giu");
  let from = 0;
  for (const m of text.matchAll(found)) {
    box.append(text.slice(from, m.index), element("mark", "", m[0]));
    from = m.index + m[0].length;
  }
  box.append(text.slice(from));
  return box;
}

function card(i) {
  const item = data.items[i], bag = data.bags[item.bag], said = decisions.get(i);
  const box = element("article", "suspect");
  box.tabIndex = -1; box.dataset.item = i; box.setAttribute("role", "listitem");
  const picture = element("div", "picture");
  if (bag.image != null) {
    const img = element("img");
    img.src = data.images[bag.image]; img.alt = "picture " + bag.id; img.loading = "lazy";
    picture.append(img);
  } else picture.append(element("span", "blank", "no picture"));
  const body = element("div", "body"), claim = element("div", "claim-bar");
  const chance = element("b", "", percent(1 - item.own) + " foreign");
  chance.title = "probability that the marked caption is of another picture";
  claim.append(chance, element("span", "id", "bag " + bag.id), element("span", "id", "caption " + item.label),
    element("span", "", item.dropped ? "dropped by the threshold" : "kept by the threshold"));
  const list = element("ul", "captions");
  let more = bag.more;
  bag.captions.forEach((c, n) => {
    if (n >= listed && n !== item.at) return void more++;
    const li = element("li", n === item.at ? "suspected" : ""), own = element("span", "own", Math.round(100 * c.own) + " %");
    own.title = "probability that this caption is of this picture";
    const text = marked(element("span"), c.text || "(nothing)", n === item.at ? item.against : []);
    if (c.cut) text.append(element("span", "cut", " … and " + some(c.cut, "more character", "more characters")));
    li.append(own, text);
    list.append(li);
  });
  if (more) {
    const li = element("li");
    li.append(element("span", "own", "…"), element("span", "cut", "and " + some(more, "more caption", "more captions")));
    list.append(li);
  }
  body.append(claim, list);
  if (item.lacks.length) {
    const why = element("p", "why", "Does not mention what the others do: ");
    why.append(element("span", "", item.lacks.join(", ")));
    body.append(why);
  }
  const actions = element("div", "actions");
  for (const [verdict, text, style, hint] of [["drop", "Drop it", "yes", "the caption is of another picture (A or D)"], ["keep", "Keep it", "no", "the caption is of this picture (R)"]]) {
    const b = element("button", style, text);
    b.title = hint; b.setAttribute("aria-pressed", said === verdict);
    b.onclick = () => { current = i; decide(said === verdict ? null : verdict); };
    actions.append(b);
  }
  body.append(actions);
  box.append(picture, body);
  box.onclick = e => { if (!e.target.closest("button")) { current = i; mark(false); } };
  return box;
}

function drawCards() {
  at("cards").classList.toggle("bare", !data.images.length);
  at("cards").replaceChildren(...visible.slice(0, shown).map(card));
  at("more").hidden = shown >= visible.length;
  const empty = at("empty");
  empty.hidden = visible.length > 0;
  if (!visible.length) {
    const done = data.items.length && [...data.items.keys()].every(i => decisions.has(i));
    const [title, text] = !data.items.length ? ["No caption is under suspicion", "None is of another picture with the probability that was asked for. nmn audit captions --min-error lowers it."]
      : state === "open" && done ? ["All decided", "Save the decisions (S) and apply them with nmn audit captions --decisions."]
      : ["Nothing here", "No suspect passes these filters."];
    empty.replaceChildren(element("strong", "", title), text);
  }
  mark(false);
}

// mark shows which card the keys go to.
function mark(scroll) {
  for (const c of at("cards").children) {
    const is = +c.dataset.item === current;
    c.classList.toggle("current", is);
    if (is && scroll) { c.scrollIntoView({ block: "nearest" }); c.focus({ preventScroll: true }); }
  }
}

function drawSummary() {
  const most = data.items.length < data.total ? "The surest " + whole(data.items.length) + " of " + some(data.total, "suspect", "suspects") + ". " : "";
  const range = data.interval ? " (" + percent(data.interval.low) + " to " + percent(data.interval.high) + ")" : "";
  const share = data.foreign == null ? "nobody knows how many are of other bags." : percent(data.foreign) + range + " are of other bags.";
  const lines = [element("h2", "", some(visible.length, "suspect", "suspects")),
    element("p", "", most + "Of " + some(data.captions, "caption", "captions") + " of " + some(data.all_bags, "bag", "bags") + ", " + share)];
  if (data.refused) lines.push(element("p", "remark", "Nothing is dropped on these grounds: " + data.refused + "."));
  at("summary").replaceChildren(...lines);
}

function drawProgress() {
  const n = data.items.length, said = [...decisions.values()], drop = said.filter(v => v === "drop").length;
  at("decided").textContent = whole(said.length) + " of " + whole(n) + " decided";
  at("track-dropped").style.width = n ? 100 * drop / n + "%" : 0;
  at("track-kept").style.width = n ? 100 * (said.length - drop) / n + "%" : 0;
}

function redraw() { filter(); drawSummary(); drawCards(); drawProgress(); }

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
  drawSummary(); drawCards(); drawProgress();
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

function field(s) { return /[",\r\n]/.test(s) || s !== s.trim() ? '"' + s.replaceAll('"', '""') + '"' : s; }
function csv() {
  const rows = [...decisions].sort((a, b) => a[0] - b[0]).map(([i, verdict]) => {
    const item = data.items[i];
    return [field(item.id), verdict, item.fingerprint].join(",");
  });
  return ["annotation_id,decision,fingerprint", ...rows].join("\n") + "\n";
}
function save() {
  if (!decisions.size) return toast("Nothing is decided yet");
  const a = element("a");
  a.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  a.download = "caption-decisions.csv";
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  toast(some(decisions.size, "decision", "decisions") + " saved to caption-decisions.csv");
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
const kinds = segments("kinds", v => kind = v);
segments("states", v => state = v);
at("search").oninput = e => { wanted = e.target.value.trim().toLowerCase(); redraw(); };
at("search").onkeydown = e => {
  if (e.key === "Escape") { e.target.value = wanted = ""; redraw(); e.target.blur(); }
  if (e.key === "Enter") e.target.blur();
};
at("more").firstElementChild.onclick = () => { shown = Math.min(visible.length, shown + step); drawCards(); };
at("save").onclick = save;
at("help-open").onclick = () => at("help").showModal();

const drop = () => decide("drop");
const keys = {
  a: drop, d: drop, r: () => decide("keep"), u: undo, s: save,
  j: () => move(1), k: () => move(-1), ArrowRight: () => move(1), ArrowLeft: () => move(-1),
  ArrowDown: () => move(1), ArrowUp: () => move(-1),
  "/": () => at("search").focus(), "?": () => at("help").showModal(),
  1: () => kinds[0].click(), 2: () => kinds[1].click(), 3: () => kinds[2].click(),
};
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT" || at("help").open) return;
  const does = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
  if (does) { e.preventDefault(); does(); }
});
redraw();
