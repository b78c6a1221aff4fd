package report

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"io"

	"nmn/internal/rng"
	"nmn/labels/audit"
)

// checkPageTemplate is the page of labels with other texts.
var checkPageTemplate = template.Must(template.Must(auditPageTemplate.Clone()).Parse(htmlFile("check.html")))

// CheckPage is one self-contained HTML file to mark all true labels of random pictures, and save them as a list of
// verified pictures. The script of the page reads its fields.
type CheckPage struct {
	Name      string         `json:"name"`
	Key       string         `json:"key"` // under which the browser keeps the labels; other pictures have another key
	Exclusive bool           `json:"-"`   // the template of the page of labels asks for it
	Classes   []string       `json:"classes"`
	Items     []CheckItem    `json:"items"`
	Images    []template.URL `json:"images"`
}

// CheckItem is a picture on the page. Image is a position in the list of the page.
type CheckItem struct {
	ID    string `json:"id"`
	Image *int   `json:"image"`
}

// checkedPictures is the number of pictures on the page.
const checkedPictures = 50

// NewCheckPage returns a page with random bags of an audit. The bags are the same each time.
func NewCheckPage(name string, r *audit.Report, picture func(bag int) []byte) *CheckPage {
	p, hash := &CheckPage{Name: name, Images: []template.URL{}}, fnv.New64a()
	for c := range r.Input.Classes {
		p.Classes = append(p.Classes, r.Word(c))
		fmt.Fprintf(hash, "%q\n", r.Word(c))
	}
	order := rng.NewPermutation(1, r.Bags)
	for i := range min(checkedPictures, r.Bags) {
		bag := order.At(i)
		p.Items = append(p.Items, CheckItem{ID: r.ID(bag), Image: addPicture(&p.Images, picture(bag))})
		fmt.Fprintf(hash, "%q\n", r.ID(bag))
	}
	p.Key = fmt.Sprintf("%016x", hash.Sum64())
	return p
}

// WriteCheckPage writes the page to a file.
func WriteCheckPage(path string, p *CheckPage) error {
	return savePage(path, "page of pictures to check", p.Write)
}

// Write writes the page.
func (p *CheckPage) Write(w io.Writer) error {
	return writeDecisionPage(w, checkPageTemplate, p, htmlFile("check.css"), htmlFile("check.js"))
}
