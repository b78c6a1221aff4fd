// data.classes and data.items come from Go (CheckPage). A decision is the list of all classes of a picture.
let wanted = "";
const step = 60, marked = new Map();

const matches = i => (state === "all" || !decisions.has(i)) && data.items[i].id.toLowerCase().includes(wanted);
const picture = i => [data.items[i].image, data.items[i].id];
const says = i => [...labels(i)].map(c => data.classes[c]).join(", ");
const none = ["No pictures", "There is nothing to check."];
const apply = "Save the labels (S) and give them with --verified.";

// labels returns the classes that are marked on a picture.
function labels(i) {
  if (!marked.has(i)) marked.set(i, new Set(decisions.get(i)));
  return marked.get(i);
}
const checked = () => current < 0 || decide([...labels(current)].sort((a, b) => a - b));

function card(i) {
  const [e] = box(i, "card"), body = element("div", "body"), list = element("div", "labels"), of = labels(i);
  data.classes.forEach((name, c) => {
    const b = element("button", "", name);
    b.setAttribute("aria-pressed", of.has(c));
    b.onclick = () => {
      current = i;
      if (!of.delete(c)) of.add(c);
      b.setAttribute("aria-pressed", of.has(c));
      mark(false);
    };
    list.append(b);
  });
  const actions = element("div", "actions"), done = element("button", "yes", "These are all its labels");
  done.title = "the picture has the marked labels and no others (A)";
  done.setAttribute("aria-pressed", decisions.has(i));
  done.onclick = () => { current = i; checked(); };
  actions.append(done);
  body.append(element("p", "facts", data.items[i].id), list);
  e.append(body, actions);
  return e;
}

function draw() {
  at("summary").replaceChildren(element("h2", "", some(data.items.length, "random picture", "random pictures")),
    element("p", "", "Mark everything that each picture shows. The labels that it has now are not marked, so that they do not lead you."));
  drawCards();
  drawProgress();
}

columns = () => getComputedStyle(at("cards")).gridTemplateColumns.split(" ").length;

// csv returns lines of JSON, which hold any name.
function csv() {
  return [...decisions].sort((a, b) => a[0] - b[0]).map(([i, of]) =>
    JSON.stringify({ file: data.items[i].id, labels: of.map(c => data.classes[c]) }) + "\n").join("");
}

begin("verified.jsonl", { a: checked }, text => { wanted = text; redraw(); });
