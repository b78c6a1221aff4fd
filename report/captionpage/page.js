// data.items and data.bags as Go wrote them (CaptionPage); an item names its bag, and its caption in that bag, by number.
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

const picture = i => [data.bags[data.items[i].bag].image, data.bags[data.items[i].bag].id];
const says = i => data.bags[data.items[i].bag].captions[data.items[i].at].text;
const none = ["No caption is under suspicion", "None is of another picture with the probability that was asked for. nmn audit captions --min-error lowers it."];
const apply = "Save the decisions (S) and apply them with nmn audit captions --decisions.";

function card(i) {
  const item = data.items[i], bag = data.bags[item.bag], [e] = box(i, "suspect");
  const body = element("div", "body"), claim = element("div", "claim-bar");
  const chance = element("b", "", percent(1 - item.own) + " foreign");
  chance.title = "probability that the marked caption is of another picture";
  claim.append(chance, element("span", "id", "bag " + bag.id), element("span", "id", "caption " + item.label),
    element("span", "", item.dropped ? "dropped by the threshold" : "kept by the threshold"));
  const list = element("ul", "captions");
  let more = bag.more;
  bag.captions.forEach((c, n) => {
    if (n >= listed && n !== item.at) return void more++;
    const li = element("li", n === item.at ? "suspected" : ""), own = element("span", "own", c.own < .005 ? "< 1 %" : c.own > .995 ? "> 99 %" : Math.round(100 * c.own) + " %");
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
  body.append(buttons(i, [["drop", "Drop", "yes", "the caption is of another picture (A or D)"],
    ["keep", "Keep", "no", "the caption is of this picture (R)"]]));
  e.append(body);
  return e;
}

function drawSummary() {
  const most = data.items.length < data.total ? "The surest " + whole(data.items.length) + " of " + some(data.total, "suspect", "suspects") + ". " : "";
  const range = data.interval ? " (" + percent(data.interval.low) + " to " + percent(data.interval.high) + ")" : "";
  const share = data.foreign == null ? "nobody knows how many are of other bags." : "about " + percent(data.foreign) + range + " are estimated to be of other bags.";
  const lines = [element("h2", "", some(visible.length, "suspect", "suspects")),
    element("p", "", most + "Of " + some(data.captions, "caption", "captions") + " of " + some(data.all_bags, "bag", "bags") + ", " + share)];
  if (data.refused) lines.push(element("p", "remark", "Nothing is dropped on these grounds: " + data.refused + "."));
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
