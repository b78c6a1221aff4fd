// data.classes and data.items as Go wrote them (AuditPage); an item names its class and picture by number.
const percent = (p, digits = 1) => p == null ? "?" : p > .9995 && p < 1 ? "> 99.9 %" : (100 * p).toFixed(digits) + " %";

let chosen = -1;
const step = 60;

// matches tells whether an item passes the filters, leaving out that of classes where asked.
function matches(i, anyClass) {
  const item = data.items[i], said = decisions.get(i);
  return (anyClass || chosen < 0 || item.class === chosen) && (kind === "all" || item.kind === kind) &&
    (state === "all" || (state === "open" ? !said : said === state));
}

function card(i) {
  const item = data.items[i], c = data.classes[item.class], said = decisions.get(i);
  const box = element("article", "card " + item.kind);
  box.tabIndex = -1; box.dataset.item = i; box.setAttribute("role", "listitem");
  const picture = element("div", "picture");
  if (item.image != null) {
    const img = element("img");
    img.src = data.images[item.image]; img.alt = "picture " + item.id; img.loading = "lazy";
    picture.append(img);
  } else picture.append(element("span", "blank", "no picture"));
  picture.append(element("span", "tag", item.kind));
  const body = element("div", "body"), claim = element("p", "claim"), name = element("b", "", c.word);
  if (item.kind === "incorrect") claim.append("Labelled ", name, ", probably not there");
  else claim.append("Not labelled ", name, ", probably there");
  const chance = element("div", "chance"), track = element("div", "track"), fill = element("div", "fill");
  fill.style.width = 100 * item.wrong + "%"; track.append(fill);
  chance.append(track, element("span", "", percent(item.wrong)));
  chance.title = "probability that the label is wrong";
  const score = element("p", "facts", "likely there by the scores alone: " + percent(item.p));
  score.title = "the classifier's probability that " + c.word + " is there, without looking at the label";
  if (c.pooled) chance.title += ", by the rates of all words together: this one has too few labels, and nothing is claimed of it";
  if (c.pooled) claim.append(" (pooled rates)");
  body.append(claim, chance, score, element("p", "facts", item.id));
  const actions = element("div", "actions");
  for (const [verdict, text, style, hint] of [["accept", "Change it", "yes", "the label is wrong (A)"], ["reject", "Keep it", "no", "the label is right (R)"]]) {
    const b = element("button", style, text);
    b.title = hint; b.setAttribute("aria-pressed", said === verdict);
    b.onclick = () => { current = i; decide(said === verdict ? null : verdict); };
    actions.append(b);
  }
  box.append(picture, body, actions);
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
    const [title, text] = !data.items.length ? ["No label is under suspicion", "Nothing is wrong with the probability that was asked for. nmn audit --min-error lowers it."]
      : state === "open" && done ? ["All decided", "Save the decisions (S) and apply them with nmn audit --decisions."]
      : ["Nothing here", "No suspect passes these filters."];
    empty.replaceChildren(element("strong", "", title), text);
  }
  mark(false);
}

function drawClasses() {
  const wanted = at("search").value.trim().toLowerCase(), counts = new Array(data.classes.length).fill(0);
  let all = 0;
  data.items.forEach((item, i) => { if (matches(i, true)) { counts[item.class]++; all++; } });
  const row = (c, name, count, detail) => {
    const li = element("li"), b = element("button", count ? "" : "idle");
    b.setAttribute("aria-pressed", chosen === c); b.title = name;
    b.append(element("span", "name", name), element("span", "count", whole(count)));
    if (detail) b.append(element("small", "", detail));
    b.onclick = () => { chosen = c; redraw(); scrollTo(0, 0); };
    li.append(b);
    return li;
  };
  const order = [...data.classes.keys()].filter(c => data.classes[c].word.toLowerCase().includes(wanted))
    .sort((a, b) => counts[b] - counts[a] || a - b);
  const rows = order.map(c => {
    const k = data.classes[c];
    return row(c, k.word, counts[c], k.audited ? "missing " + percent(k.q01, 0) + " · incorrect " + percent(k.q10) + (k.pooled ? " (pooled)" : "") : "not audited");
  });
  if (!wanted) rows.unshift(row(-1, "All classes", all, ""));
  if (!rows.length) rows.push(element("li", "none", "No class of that name"));
  at("classes").replaceChildren(...rows);
}

function drawSummary() {
  const box = at("summary");
  if (chosen < 0) {
    const most = data.items.length < data.total ? "The surest " + whole(data.items.length) + " of " + whole(data.total) + " suspects. " : "";
    box.replaceChildren(element("h2", "", whole(visible.length) + (visible.length === 1 ? " suspect" : " suspects")),
      element("p", "", most + "Of " + whole(data.labels) + " labels of " + whole(data.bags) + " bags, about " + whole(data.incorrect) + " are expected to be incorrect, and " + whole(data.missing) + " more to be missing."));
    return;
  }
  const c = data.classes[chosen], range = i => i ? " (" + percent(i.low) + " to " + percent(i.high) + ")" : "";
  const lines = [element("h2", "", c.word)];
  if (c.pooled) lines.push(element("p", "", whole(c.labels) + " labels, too few for rates of its own: ranked with those of all words together, which claim nothing of it."));
  else if (c.audited) {
    lines.push(element("p", "", whole(c.labels) + " labels; about " + whole(c.incorrect) + " of them incorrect, and " + whole(c.missing) + " more missing."),
      element("p", "", "Missing where it should be: " + percent(c.q01) + range(c.q01_interval) + ". There where it should not be: " + percent(c.q10) + range(c.q10_interval) + "."));
  } else lines.push(element("p", "", whole(c.labels) + " labels. This class is not audited: its noise rates cannot be told."));
  if (c.remarks) lines.push(element("p", "remark", c.remarks));
  box.replaceChildren(...lines);
}

function draw() { drawClasses(); drawSummary(); drawCards(); drawProgress("accept", "track-accepted", "track-rejected"); }

const columns = () => getComputedStyle(at("cards")).gridTemplateColumns.split(" ").length;

function csv() {
  const rows = [...decisions].sort((a, b) => a[0] - b[0]).map(([i, verdict]) => {
    const item = data.items[i];
    return [field(item.id), field(data.classes[item.class].word), item.given, verdict].join(",");
  });
  return ["id,word,given,decision", ...rows].join("\n") + "\n";
}

const saveAll = () => save("decisions.csv");
const kinds = segments("kinds", v => kind = v);
segments("states", v => state = v);
at("search").oninput = drawClasses;
at("search").onkeydown = e => {
  if (e.key === "Escape") { e.target.value = ""; drawClasses(); e.target.blur(); }
  if (e.key === "Enter") at("classes").querySelector("button")?.click();
};
at("more").firstElementChild.onclick = () => { shown = Math.min(visible.length, shown + step); drawCards(); };
at("save").onclick = saveAll;
at("help-open").onclick = () => at("help").showModal();

const keys = {
  a: () => decide("accept"), r: () => decide("reject"), u: undo, s: saveAll,
  j: () => move(1), k: () => move(-1), ArrowRight: () => move(1), ArrowLeft: () => move(-1),
  ArrowDown: () => move(columns()), ArrowUp: () => move(-columns()),
  "/": () => at("search").focus(), "?": () => at("help").showModal(),
  1: () => kinds[0].click(), 2: () => kinds[1].click(), 3: () => kinds[2].click(),
};
listen(keys);
redraw();
