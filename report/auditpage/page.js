// data.classes and data.items as Go wrote them (AuditPage); an item names its class and picture by number.
let chosen = -1;
const step = 60;

// matches tells whether an item passes the filters, leaving out that of classes where asked.
function matches(i, anyClass) {
  const item = data.items[i], said = decisions.get(i);
  return (anyClass || chosen < 0 || item.class === chosen) && (kind === "all" || item.kind === kind) &&
    (state === "all" || (state === "open" ? !said : said === state));
}

const picture = i => [data.items[i].image, data.items[i].id];
const says = i => (data.items[i].kind === "incorrect" ? "labelled " : "not labelled ") + data.classes[data.items[i].class].word;
const none = ["No label is under suspicion", "Nothing is wrong with the probability that was asked for. nmn audit --min-error lowers it."];
const apply = "Save the decisions (S) and apply them with nmn audit --decisions.";

function card(i) {
  const item = data.items[i], c = data.classes[item.class];
  const [e, frame] = box(i, "card " + item.kind);
  frame.append(element("span", "tag", item.kind));
  const body = element("div", "body"), claim = element("p", "claim"), name = element("b", "", c.word);
  if (item.kind === "incorrect") claim.append("Labelled ", name, ", probably not there");
  else claim.append("Not labelled ", name, ", probably there");
  const chance = element("div", "chance"), track = element("div", "track"), fill = element("div", "fill");
  fill.style.width = 100 * item.wrong + "%"; track.append(fill);
  chance.append(track, element("span", "", percent(item.wrong)));
  chance.title = "probability that the label is wrong";
  const score = element("p", "facts", "likely there by the scores alone: " + percent(item.p));
  score.title = "the classifier's probability that " + c.word + " is there, without looking at the label";
  if (c.pooled) chance.title += ", by the noise of the other words: the labels of this one say little of their own, and nothing is claimed of it";
  if (c.pooled) claim.append(" (pooled rates)");
  body.append(claim, chance, score, element("p", "facts", item.id));
  e.append(body, buttons(i, [["accept", "Accept", "yes", "the label is wrong, and is changed (A)"],
    ["reject", "Reject", "no", "the label is right, and stays (R)"]]));
  return e;
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
    const n = data.counts, open = n.open_suspects < n.suspects ? ", " + whole(n.open_suspects) + " of them without a decision" : "";
    const most = data.items.length < n.open_suspects ? ". The page shows the surest " + whole(data.items.length) : "";
    box.replaceChildren(element("h2", "", whole(visible.length) + (visible.length === 1 ? " suspect" : " suspects")),
      element("p", "", whole(n.bags) + " bags have " + whole(n.labels) + " labels. Of " + whole(n.audited_labels) + " audited labels, there or not, " + whole(n.suspects) + " are suspects" + open + most + "."),
      element("p", "", "About " + whole(n.expected_incorrect) + " labels are expected to be incorrect, and " + whole(n.expected_missing) + " to be missing" + (n.pooled_classes ? ", without those of classes with pooled rates" : "") + "."));
    if (n.pooled_classes) box.append(element("p", "", whole(n.pooled_classes) + " of " + whole(n.classes) + " classes have pooled rates."));
    if (n.classes_not_audited) box.append(element("p", "", whole(n.classes_not_audited) + " of " + whole(n.classes) + " classes are not audited."));
    if (data.decided) box.append(element("p", "", data.decided));
    return;
  }
  const c = data.classes[chosen], range = i => i ? " (" + percent(i.low) + " to " + percent(i.high) + ")" : "";
  const lines = [element("h2", "", c.word)];
  if (c.pooled) lines.push(element("p", "", whole(c.labels) + " labels, which say little of their own noise: judged by the noise of the other words, and nothing is claimed."));
  else if (c.audited) {
    lines.push(element("p", "", whole(c.labels) + " labels; about " + whole(c.incorrect) + " of them incorrect, and " + whole(c.missing) + " more missing."),
      element("p", "", "Missing where it should be: " + percent(c.q01) + range(c.q01_interval) + ". There where it should not be: " + percent(c.q10) + range(c.q10_interval) + "."));
  } else lines.push(element("p", "", whole(c.labels) + " labels. This class is not audited: its noise rates cannot be told."));
  if (c.remarks) lines.push(element("p", "remark", c.remarks));
  box.replaceChildren(...lines);
}

function draw() { drawClasses(); drawSummary(); drawCards(); drawProgress("accept"); }

columns = () => getComputedStyle(at("cards")).gridTemplateColumns.split(" ").length;

function csv() {
  const rows = [...decisions].sort((a, b) => a[0] - b[0]).map(([i, verdict]) => {
    const item = data.items[i];
    return [field(item.id), field(data.classes[item.class].word), item.given, verdict].join(",");
  });
  return ["id,word,given,decision", ...rows].join("\n") + "\n";
}

begin("decisions.csv", { a: () => decide("accept"), r: () => decide("reject") }, (wanted, first) => {
  drawClasses();
  if (first) at("classes").querySelector("button")?.click();
});
