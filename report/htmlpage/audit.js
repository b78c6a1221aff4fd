// data.classes and data.items come from Go (AuditPage). An item refers to its class and its picture by number.
let chosen = -1, order = "mixed";
const step = 60;

// matches reports whether an item passes the filters. anyClass ignores the filter of classes.
function matches(i, anyClass) {
  const item = data.items[i], said = decisions.get(i);
  return (anyClass || chosen < 0 || item.class === chosen) && (kind === "all" || item.kind === kind) &&
    (state === "all" || (state === "open" ? !said : said === state));
}

const picture = i => [data.items[i].image, data.items[i].id];
// better is the name of the class suggested for an item of exclusive classes.
const better = item => data.classes[item.suggested]?.name;
const says = i => {
  const item = data.items[i], name = data.classes[item.class].name;
  if (data.exclusive) return "labelled " + name + ", probably " + better(item);
  return (item.kind === "incorrect" ? "labelled " : "not labelled ") + name;
};
const none = ["No suspects", "No label is wrong with the required probability. nmn audit --min-error lowers it."];
// The items come as a mix of classes.
arrange = list => order === "mixed" ? list : list.sort((a, b) => data.items[b].wrong - data.items[a].wrong || a - b);
const apply = "Save the decisions (S) and apply them with nmn audit --decisions.";

function card(i) {
  const item = data.items[i], c = data.classes[item.class];
  const [e, frame] = box(i, "card " + item.kind);
  frame.append(element("span", "tag", item.kind));
  const body = element("div", "body"), claim = element("p", "claim"), name = element("b", "", c.name);
  if (data.exclusive) claim.append("Labelled ", name, ", probably ", element("b", "", better(item)));
  else if (item.kind === "incorrect") claim.append("Labelled ", name, ", but probably it is not there");
  else claim.append("Not labelled ", name, ", but probably it is there");
  const chance = element("div", "chance"), track = element("div", "track"), fill = element("div", "fill");
  fill.style.width = 100 * item.wrong + "%"; track.append(fill);
  chance.append(track, element("span", "", percent(item.wrong)));
  chance.title = "probability that the label is wrong";
  const score = element("p", "facts", (data.exclusive ? "probability of " + better(item) : "score of the classifier") + ": " + percent(item.p));
  score.title = data.exclusive ? "probability that the corrected label is right, estimated from scores of a classifier that has not seen the label and from the label" : "probability that " + c.name + " is there, estimated by a classifier that has not seen the label";
  if (c.pooled) chance.title += ", by the noise rates of all classes together: this class has too few labels for its own";
  if (c.pooled) claim.append(" (pooled rates)");
  body.append(claim, chance, score, element("p", "facts", item.id));
  const texts = data.exclusive ? ["Wrong: it is " + better(item), "Right: keep it"] : item.kind === "incorrect" ? ["Wrong: remove it", "Right: keep it"] : ["Missing: add it", "Right: leave it out"];
  e.append(body, buttons(i, [["accept", texts[0], "yes", "change the label (A)"], ["reject", texts[1], "no", "leave the label as it is (R)"]]));
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
  const order = [...data.classes.keys()].filter(c => data.classes[c].name.toLowerCase().includes(wanted))
    .sort((a, b) => counts[b] - counts[a] || a - b);
  const rows = order.map(c => {
    const k = data.classes[c];
    return row(c, k.name + (k.pooled ? " *" : ""), counts[c], data.exclusive ? k.detail : k.audited ? "missing " + percent(k.q01, 0) + " · incorrect " + percent(k.q10) + (k.pooled ? " (pooled)" : "") : "not audited");
  });
  if (!wanted) rows.unshift(row(-1, "All classes", all, ""));
  if (!rows.length) rows.push(element("li", "none", "No class matches"));
  at("classes").replaceChildren(...rows);
}

function drawSummary() {
  const box = at("summary");
  if (chosen < 0) {
    const n = data.counts;
    box.replaceChildren(element("h2", "", some(visible.length, "suspect", "suspects")), ...data.summary.map(s => element("p", "", s)));
    if (data.items.length < n.open_suspects) box.append(element("p", "", "This page shows " + whole(data.items.length) + " of " + some(n.open_suspects, "suspect", "suspects") + ": the surest of all, and the surest of each class."));
    if (n.pooled_classes) box.append(element("p", "", whole(n.pooled_classes) + " of " + whole(n.classes) + " classes have pooled rates."));
    if (n.classes_not_audited) box.append(element("p", "", whole(n.classes_not_audited) + " of " + whole(n.classes) + " classes are not audited."));
    if (data.decided) box.append(element("p", "", data.decided));
    return;
  }
  const c = data.classes[chosen], range = i => i ? " (" + percent(i.low) + " to " + percent(i.high) + ")" : "";
  const lines = [element("h2", "", c.name)];
  if (c.lines) lines.push(...c.lines.map(l => element("p", "", l)));
  else if (c.pooled) lines.push(element("p", "", some(c.labels, "label", "labels") + ". They are too few for noise rates of their own, so the pooled rates of all classes are used. No precision is claimed."));
  else if (c.audited) {
    lines.push(element("p", "", some(c.labels, "label", "labels") + ". About " + whole(c.incorrect) + " of them are incorrect, and " + whole(c.missing) + " more are missing."),
      element("p", "", "Of the " + data.samples + " that show it, " + percent(c.q01) + range(c.q01_interval) + " lack the label. Of the others, " + percent(c.q10) + range(c.q10_interval) + " have it."));
  } else lines.push(element("p", "", some(c.labels, "label", "labels") + ". This class is not audited, because its noise rates are unknown."));
  if (c.remarks) lines.push(element("p", "remark", c.remarks));
  box.replaceChildren(...lines);
}

function draw() { drawClasses(); drawSummary(); drawCards(); drawProgress("accept"); }

columns = () => getComputedStyle(at("cards")).gridTemplateColumns.split(" ").length;

function csv() {
  const rows = [...decisions].sort((a, b) => a[0] - b[0]).map(([i, verdict]) => {
    const item = data.items[i];
    const name = field(data.classes[item.class].name);
    return [field(item.id), ...(data.exclusive ? [name, field(better(item))] : [name, item.given]), verdict].join(",");
  });
  return [data.exclusive ? "id,given,suggested,decision" : "id,class,given,decision", ...rows].join("\n") + "\n";
}

segments("orders", v => order = v);
begin("decisions.csv", { a: () => decide("accept"), r: () => decide("reject") }, (wanted, first) => {
  drawClasses();
  if (first) at("classes").querySelector("button")?.click();
});
