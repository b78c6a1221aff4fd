// data.items and data.bags as Go wrote them (CaptionPage); an item names its bag, and its caption in that bag, by number.
const percent = p => p == null ? "?" : p > 0 && p < .0005 ? "< .1 %" : p > .9995 && p < 1 ? "> 99.9 %" : (100 * p).toFixed(1) + " %";
const some = (n, one, many) => whole(n) + " " + (n === 1 ? one : many);

let wanted = "";
const step = 40, listed = 20; // cards, and captions of a bag beside the suspect, that are shown at first

function matches(i) {
  const item = data.items[i], bag = data.bags[item.bag], said = decisions.get(i);
  return (kind === "all" || item.dropped === (kind === "dropped")) &&
    (state === "all" || (state === "open" ? !said : said === state)) &&
    (!wanted || bag.captions[item.at].text.toLowerCase().includes(wanted) || bag.id.toLowerCase().includes(wanted));
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

function drawSummary() {
  const most = data.items.length < data.total ? "The surest " + whole(data.items.length) + " of " + some(data.total, "suspect", "suspects") + ". " : "";
  const range = data.interval ? " (" + percent(data.interval.low) + " to " + percent(data.interval.high) + ")" : "";
  const share = data.foreign == null ? "nobody knows how many are of other bags." : percent(data.foreign) + range + " are of other bags.";
  const lines = [element("h2", "", some(visible.length, "suspect", "suspects")),
    element("p", "", most + "Of " + some(data.captions, "caption", "captions") + " of " + some(data.all_bags, "bag", "bags") + ", " + share)];
  if (data.refused) lines.push(element("p", "remark", "Nothing is dropped on these grounds: " + data.refused + "."));
  at("summary").replaceChildren(...lines);
}

function draw() { drawSummary(); drawCards(); drawProgress("drop", "track-dropped", "track-kept"); }

function csv() {
  const rows = [...decisions].sort((a, b) => a[0] - b[0]).map(([i, verdict]) => {
    const item = data.items[i];
    return [field(item.id), verdict, item.fingerprint].join(",");
  });
  return ["annotation_id,decision,fingerprint", ...rows].join("\n") + "\n";
}

const saveAll = () => save("caption-decisions.csv");
const kinds = segments("kinds", v => kind = v);
segments("states", v => state = v);
at("search").oninput = e => { wanted = e.target.value.trim().toLowerCase(); redraw(); };
at("search").onkeydown = e => {
  if (e.key === "Escape") { e.target.value = wanted = ""; redraw(); e.target.blur(); }
  if (e.key === "Enter") e.target.blur();
};
at("more").firstElementChild.onclick = () => { shown = Math.min(visible.length, shown + step); drawCards(); };
at("save").onclick = saveAll;
at("help-open").onclick = () => at("help").showModal();

const drop = () => decide("drop");
const keys = {
  a: drop, d: drop, r: () => decide("keep"), u: undo, s: saveAll,
  j: () => move(1), k: () => move(-1), ArrowRight: () => move(1), ArrowLeft: () => move(-1),
  ArrowDown: () => move(1), ArrowUp: () => move(-1),
  "/": () => at("search").focus(), "?": () => at("help").showModal(),
  1: () => kinds[0].click(), 2: () => kinds[1].click(), 3: () => kinds[2].click(),
};
listen(keys);
redraw();
