// data.items and data.samples come from Go (CaptionPage). An item refers to its picture and its caption by number.
let wanted = "";
const step = 40, listed = 20; // cards, and captions on a card, that are shown at first

function matches(i) {
  const item = data.items[i], sample = data.samples[item.sample], said = decisions.get(i);
  return (kind === "all" || item.dropped === (kind === "dropped")) &&
    (state === "all" || (state === "open" ? !said : said === state)) &&
    (!wanted || sample.captions[item.at].text.toLowerCase().includes(wanted) || sample.id.toLowerCase().includes(wanted));
}

// marked appends a text to box and marks whole words in it, in upper or lower case.
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

const picture = i => [data.samples[data.items[i].sample].image, data.samples[data.items[i].sample].id];
const says = i => data.samples[data.items[i].sample].captions[data.items[i].at].text;
const none = ["No suspects", "No caption belongs to another picture with the required probability. nmn audit captions --min-error lowers it."];
const apply = "Save the decisions (S) and apply them with nmn audit captions --decisions.";

function card(i) {
  const item = data.items[i], sample = data.samples[item.sample], [e] = box(i, "suspect");
  const body = element("div", "body"), claim = element("div", "claim-bar");
  const chance = element("b", "", "of another picture: " + percent(1 - item.own));
  chance.title = "probability that the marked caption belongs to another picture";
  claim.append(chance, element("span", "id", "picture " + sample.id), element("span", "id", "caption " + item.label),
    element("span", "", item.dropped ? "dropped by probability" : "kept by probability"));
  const list = element("ul", "captions");
  let more = sample.more;
  sample.captions.forEach((c, n) => {
    if (n >= listed && n !== item.at) return void more++;
    const li = element("li", n === item.at ? "suspected" : ""), own = element("span", "own", c.own < .005 ? "< 1 %" : c.own > .995 ? "> 99 %" : Math.round(100 * c.own) + " %");
    own.title = "probability that this caption belongs to this picture";
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
    const why = element("p", "why", "Not mentioned, but in the other captions: ");
    why.append(element("span", "", item.lacks.join(", ")));
    body.append(why);
  }
  body.append(buttons(i, [["drop", "Wrong: drop it", "yes", "the caption belongs to another picture (A or D)"],
    ["keep", "Right: keep it", "no", "the caption belongs to this picture (R)"]]));
  e.append(body);
  return e;
}

function drawSummary() {
  const most = data.items.length < data.total ? "This page shows the surest " + whole(data.items.length) + " of " + some(data.total, "suspect", "suspects") + "." : "";
  const range = data.interval ? " (" + percent(data.interval.low) + " to " + percent(data.interval.high) + ")" : "";
  const share = data.foreign == null ? "The number that belongs to other pictures is unknown." : "About " + percent(data.foreign) + range + " of them belong to other pictures.";
  const lines = [element("h2", "", some(visible.length, "suspect", "suspects")),
    element("p", "", some(data.captions, "caption", "captions") + " of " + some(data.all_samples, "picture", "pictures") + ". " + share)];
  if (most) lines.push(element("p", "", most));
  if (data.refused) lines.push(element("p", "remark", "No caption is dropped by probability: " + data.refused + "."));
  at("summary").replaceChildren(...lines);
}

function draw() { drawSummary(); drawCards(); drawProgress("drop"); }

function csv() {
  const rows = [...decisions].sort((a, b) => a[0] - b[0]).map(([i, verdict]) => {
    const item = data.items[i];
    return [field(item.id), verdict, item.fingerprint].join(",");
  });
  return ["annotation_id,decision,fingerprint", ...rows].join("\n") + "\n";
}

const drop = () => decide("drop");
begin("caption-decisions.csv", { a: drop, d: drop, r: () => decide("keep") }, text => { wanted = text; redraw(); });
