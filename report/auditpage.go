package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"strings"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/labels/audit"
	"nmn/labels/rates"
)

var (
	//go:embed auditpage/page.html
	auditPageHTML string
	//go:embed auditpage/page.css
	auditPageStyle string
	//go:embed auditpage/decide.js
	decideScript string // of all pages on which people decide
	//go:embed auditpage/page.js
	auditPageScript string
)

var auditPageTemplate = template.Must(template.New("audit").Parse(auditPageHTML))

// AuditPage is one HTML file, without anything from elsewhere, in which people look through suspects,
// accept or reject them, and save their decisions as audit.ReadDecisions reads them. Its fields are
// what the script of the page works on.
type AuditPage struct {
	Name    string       `json:"name"`
	Key     string       `json:"key"` // of the decisions that the browser keeps: pages of other audits have others
	Counts  audit.Counts `json:"counts"`
	Classes []AuditClass `json:"classes"`
	Items   []AuditItem  `json:"items"`   // the first of the suspects without a decision
	Images  []string     `json:"images"`  // data: URLs
	Decided string       `json:"decided"` // how decisions compare with what was expected; empty for none
}

// AuditClass is a class on the page.
type AuditClass struct {
	Word        string          `json:"word"`
	Labels      int             `json:"labels"`
	Audited     bool            `json:"audited"`
	Pooled      bool            `json:"pooled"` // with the rates of all words together
	Q01         eval.Number     `json:"q01"`
	Q10         eval.Number     `json:"q10"`
	Q01Interval *rates.Interval `json:"q01_interval"`
	Q10Interval *rates.Interval `json:"q10_interval"`
	Incorrect   eval.Number     `json:"incorrect"` // expected
	Missing     eval.Number     `json:"missing"`
	Remarks     string          `json:"remarks"`
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
}

// NewAuditPage describes the first so many suspects that nobody has decided on. picture gives a bag's picture as
// JPEG, nil for none; it is asked once for each bag, in the order of the suspects, and may be nil.
func NewAuditPage(name string, r *audit.Report, items int, picture func(bag int) []byte) *AuditPage {
	p := &AuditPage{Name: name, Counts: r.Counts(), Items: []AuditItem{}, Images: []string{}}
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
	open := r.Open()
	hash := fnv.New64a()
	images := map[int32]*int{}
	for _, s := range open[:min(items, len(open))] {
		item := AuditItem{ID: r.ID(int(s.Bag)), Class: int(s.Class), Kind: s.Kind(), Given: s.Given, Wrong: s.Error(),
			P: s.P}
		if picture != nil {
			image, asked := images[s.Bag]
			if !asked {
				image = p.add(picture(int(s.Bag)))
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

// estimated adds what an estimate of the rates tells.
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

// add takes a picture in and returns its place.
func (p *AuditPage) add(jpeg []byte) *int {
	if len(jpeg) == 0 {
		return nil
	}
	p.Images = append(p.Images, jpegURL(jpeg))
	place := len(p.Images) - 1
	return &place
}

// WriteAuditPage writes the page to a file.
func WriteAuditPage(path string, p *AuditPage) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return fmt.Errorf("page of the audit: %w", err)
	}
	return durable.Save(path, b.Bytes())
}

// Write writes the page.
func (p *AuditPage) Write(w io.Writer) error {
	return auditPageTemplate.Execute(w, struct {
		Data   *AuditPage
		Style  template.CSS
		Script pageScript
	}{p, template.CSS(pageColours + auditPageStyle), newPageScript(decideScript + auditPageScript)})
}

// pageScript is the one script that a page may run, with the hash by which its policy knows it.
type pageScript struct {
	Text template.JS
	Hash string // SHA-256 in base64
}

func newPageScript(text string) pageScript {
	sum := sha256.Sum256([]byte(text))
	return pageScript{template.JS(text), base64.StdEncoding.EncodeToString(sum[:])}
}
