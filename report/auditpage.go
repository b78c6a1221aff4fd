package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
	"nmn/labels/rates"
)

var auditPageTemplate = template.Must(template.New("audit").Parse(htmlFile("audit.html")))

// AuditPage is one self-contained HTML file to look through suspects, decide on each of them, and save the decisions
// in the form that Options.Decisions of an audit reads. The script of the page reads its fields.
type AuditPage struct {
	Name string `json:"name"`
	Key  string `json:"key"` // under which the browser keeps the decisions; other suspects have another key
	// Exclusive classes have items with another class suggested.
	Exclusive bool           `json:"exclusive,omitempty"`
	Counts    audit.Counts   `json:"counts"`
	Summary   []string       `json:"summary"` // sentences with the counts, as on the command line
	Samples   string         `json:"samples"` // what the labels belong to, such as "pictures"
	Classes   []AuditClass   `json:"classes"`
	Items     []AuditItem    `json:"items"`   // suspects without a decision, the surest of each class in turn
	Images    []template.URL `json:"images"`  // data: URLs
	Decided   string         `json:"decided"` // compares the decisions with the expected ones; empty without decisions
}

// AuditClass is a class on the page.
type AuditClass struct {
	Word        string          `json:"name"`
	Labels      int             `json:"labels"`
	Audited     bool            `json:"audited"`
	Pooled      bool            `json:"pooled"` // with the rates of all classes together
	Q01         eval.Number     `json:"q01"`
	Q10         eval.Number     `json:"q10"`
	Q01Interval *rates.Interval `json:"q01_interval"`
	Q10Interval *rates.Interval `json:"q10_interval"`
	Incorrect   eval.Number     `json:"incorrect"` // expected
	Missing     eval.Number     `json:"missing"`
	Remarks     string          `json:"remarks"`
	// Detail and Lines sum up a class that excludes the others, in place of rates.
	Detail string   `json:"detail,omitempty"`
	Lines  []string `json:"lines,omitempty"`
}

// AuditItem is a suspect on the page; Class and Image are positions in the lists of the page.
type AuditItem struct {
	ID    string     `json:"id"`
	Class int        `json:"class"`
	Kind  audit.Kind `json:"kind"`
	Given uint8      `json:"given"`
	Wrong float64    `json:"wrong"`
	P     float64    `json:"p"`
	Image *int       `json:"image"`
	// Suggested is the class of an item of exclusive classes. P is its probability.
	Suggested *int `json:"suggested,omitempty"`
}

// NewAuditPage returns a page with at most items suspects that have no decision yet, a mix of all classes (see mixed).
// picture returns the picture of a bag as JPEG, or nil. It is called once for each bag, in the order of the page, and
// may be nil.
func NewAuditPage(name string, r *audit.Report, items int, picture func(bag int) []byte) *AuditPage {
	p := &AuditPage{Name: name, Counts: r.Counts(), Items: []AuditItem{}, Images: []template.URL{},
		Samples: r.Samples.String()}
	p.Summary = countNotes(r, p.Counts)
	if r.Decided != nil {
		p.Decided = r.Decided.Note
	}
	for c, class := range r.Result.Classes {
		shown := AuditClass{Word: r.Word(c), Labels: class.Positives, Audited: class.Audited,
			Q01: eval.Number(r.Rates.Q01[c]), Q10: eval.Number(r.Rates.Q10[c])}
		shown.Incorrect, shown.Missing = class.Expected()
		if r.Estimate != nil {
			believed := r.Estimate.Classes[c].Believed(r.Estimate.Confidence)
			shown.estimated(&believed)
		}
		if class.Pooled {
			shown.Pooled, shown.Q01Interval, shown.Q10Interval = true, nil, nil
		}
		p.Classes = append(p.Classes, shown)
	}
	hash := fnv.New64a()
	images := map[int32]*int{}
	for _, s := range mixed(r.Open(), items, func(s audit.Suspect) int32 { return s.Class }) {
		item := AuditItem{ID: r.ID(int(s.Bag)), Class: int(s.Class), Kind: s.Kind(), Given: s.Given, Wrong: s.Error(),
			P: s.P}
		if picture != nil {
			image, asked := images[s.Bag]
			if !asked {
				image = addPicture(&p.Images, picture(int(s.Bag)))
				images[s.Bag] = image
			}
			item.Image = image
		}
		p.Items = append(p.Items, item)
		fmt.Fprintf(hash, "%q %q %d\n", item.ID, r.Word(item.Class), item.Given)
	}
	p.Key = fmt.Sprintf("%016x", hash.Sum64())
	return p
}

// mixed picks at most n suspects of a ranking, half of them by rank and half of them the surest of each class, and
// returns them in turn: first the surest of every class, then the second of every class, and so on.
func mixed[S any](suspects []S, n int, class func(S) int32) []S {
	type placed struct {
		suspect     S
		place, turn int // in the ranking, and among the suspects of the class
	}
	all, seen := make([]placed, len(suspects)), map[int32]int{}
	for i, s := range suspects {
		all[i] = placed{s, i, seen[class(s)]}
		seen[class(s)]++
	}
	inTurn := func(a, b placed) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.place, b.place)) }
	if n < len(all) {
		slices.SortFunc(all[n/2:], inTurn) // the first half stays as ranked
		all = all[:n]
	}
	slices.SortFunc(all, inTurn)
	out := make([]S, len(all))
	for i, p := range all {
		out[i] = p.suspect
	}
	return out
}

// estimated adds intervals and remarks of estimated rates.
func (c *AuditClass) estimated(e *rates.Class) {
	if c.Audited {
		c.Q01Interval, c.Q10Interval = &e.Q01Interval, &e.Q10Interval
	}
	var remarks []string
	for _, d := range e.Diagnoses {
		remarks = append(remarks, string(d))
	}
	c.Remarks = strings.Join(remarks, "; ")
}

// addPicture appends a picture to a list and returns its index, or nil without a picture.
func addPicture(list *[]template.URL, jpeg []byte) *int {
	if len(jpeg) == 0 {
		return nil
	}
	*list = append(*list, jpegURL(jpeg))
	place := len(*list) - 1
	return &place
}

// WriteAuditPage writes the page to a file.
func WriteAuditPage(path string, p *AuditPage) error {
	return savePage(path, "page of the audit", p.Write)
}

// savePage writes a page to a file, whole or not at all.
func savePage(path, what string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return durable.Save(path, b.Bytes())
}

// Write writes the page.
func (p *AuditPage) Write(w io.Writer) error {
	return writeDecisionPage(w, auditPageTemplate, p, "", htmlFile("audit.js"))
}

// writeDecisionPage writes a page to decide on suspects. Style and script follow those that such pages share. The
// policy of the page allows that script alone, by its hash.
func writeDecisionPage(w io.Writer, page *template.Template, data any, style, script string) error {
	script = htmlFile("decide.js") + script
	sum := sha256.Sum256([]byte(script))
	return page.Execute(w, struct {
		Data   any
		Style  template.CSS
		Script template.JS
		Hash   string // SHA-256 in base64
	}{data, template.CSS(pageColours + htmlFile("audit.css") + style), template.JS(script),
		base64.StdEncoding.EncodeToString(sum[:])})
}

// NewClassPage is NewAuditPage for classes that exclude each other: each item suggests another class. Suspects
// without another class that is more probable are left out.
func NewClassPage(name string, r *multiclass.Report, items int, picture func(row int) []byte) *AuditPage {
	open := r.Open()
	p := &AuditPage{Name: name, Exclusive: true, Items: []AuditItem{}, Images: []template.URL{},
		Counts: audit.Counts{Bags: r.Rows, Labels: r.Known(), Audited: r.Known(), Suspects: len(r.Suspects),
			Open: len(open), Classes: len(r.Classes)}, Summary: []string{classSuspectNote(r), noiseNote(r)}}
	if left := len(r.Suspects) - len(open) - decidedSuspects(r); left > 0 {
		p.Summary = append(p.Summary, fmt.Sprintf("The page leaves out %d of them, because no other class is more "+
			"probable.", left))
	}
	if n := len(r.Decisions); n > 0 {
		changed := 0
		for row, class := range r.Decisions {
			if class != r.Labels[row] {
				changed++
			}
		}
		p.Decided = fmt.Sprintf("You have decided on %d labels, and found %d of them wrong.", n, changed)
	}
	for y, c := range r.Classes {
		shown := AuditClass{Word: r.Word(y), Labels: c.Labels, Audited: true}
		shown.Lines = []string{fmt.Sprintf("%d labels. Suspects among them: %d.", c.Labels, c.Suspects)}
		if r.Noise != multiclass.Unknown {
			shown.Detail = fmt.Sprintf("labelled right %.0f %%", 100*c.Right)
			shown.Lines = append(shown.Lines, fmt.Sprintf("About %.0f samples belong to this class. %.1f %% of them are "+
				"labelled so, and %.1f %% are labelled %s.", c.True, 100*c.Right, 100*c.ConfusedRate, r.Word(c.Confused)))
		}
		p.Classes = append(p.Classes, shown)
	}
	hash := fnv.New64a()
	for _, s := range mixed(open, items, func(s multiclass.Suspect) int32 { return s.Given }) {
		suggested := int(s.Suggested)
		item := AuditItem{ID: r.ID(int(s.Row)), Class: int(s.Given), Kind: audit.Incorrect, Given: 1, Wrong: s.Wrong,
			P: s.P, Suggested: &suggested}
		if picture != nil {
			item.Image = addPicture(&p.Images, picture(int(s.Row)))
		}
		p.Items = append(p.Items, item)
		fmt.Fprintf(hash, "%q %q %q\n", item.ID, r.Word(item.Class), r.Word(suggested))
	}
	p.Key = fmt.Sprintf("%016x", hash.Sum64())
	return p
}

func decidedSuspects(r *multiclass.Report) (n int) {
	for _, s := range r.Suspects {
		if _, decided := r.Decisions[s.Row]; decided {
			n++
		}
	}
	return n
}
