package report

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"unicode/utf8"
)

// htmlFiles are the pages of runs and experiments, and what all pages share.
//
//go:embed htmlpage
var htmlFiles embed.FS

// htmlTemplate parses a page with the tables and bags that pages share.
func htmlTemplate(name, page string) *template.Template {
	t := template.Must(template.New("tables").Parse(htmlFile("table.html") + htmlFile("bags.html")))
	return template.Must(t.New(name).Parse(page))
}

// htmlFile is a file of the folder, which is part of the program.
func htmlFile(name string) string {
	content, err := htmlFiles.ReadFile("htmlpage/" + name)
	if err != nil {
		panic(err)
	}
	return string(content)
}

// pageColours are those of all pages, in light and dark; pageStyle adds the looks of text, tables and plots.
var (
	pageColours = htmlFile("colours.css")
	pageStyle   = pageColours + htmlFile("page.css")
)

// pageTable is a table as a page shows it.
type pageTable struct {
	Title   string
	Columns []Column
	Rows    []pageRow
	Notes   []string
}

type pageRow struct {
	Cells []pageCell
	Rule  bool
}

type pageCell struct {
	Text       string
	Left, Bold bool
}

// Short tells that the text stays on one line: names do, sentences do not.
func (c pageCell) Short() bool { return utf8.RuneCountInString(c.Text) <= 32 }

func (t *Table) page() pageTable {
	out := pageTable{Title: t.Title, Columns: t.Columns, Notes: t.Notes}
	for n, row := range t.Rows {
		shown := pageRow{Cells: make([]pageCell, len(row.Cells)), Rule: row.Rule && n > 0}
		for i, c := range row.Cells {
			shown.Cells[i] = pageCell{c.display(t.Columns[i]), t.Columns[i].Text, c.Bold}
		}
		out.Rows = append(out.Rows, shown)
	}
	return out
}

func pageTables(tables []*Table) []pageTable {
	var out []pageTable
	for _, t := range tables {
		out = append(out, t.visible().page())
	}
	return out
}

// namespaces of a drawing that stands by itself; inside a page it needs none.
var namespaces = [][]byte{[]byte(`xmlns="http://www.w3.org/2000/svg"`),
	[]byte(`xmlns:xlink="http://www.w3.org/1999/xlink"`)}

// inlineSVG is a drawing as a part of a page; empty where there is nothing to draw.
func inlineSVG(draw func(w io.Writer) (bool, error)) (template.HTML, error) {
	var b bytes.Buffer
	drawn, err := draw(&b)
	if err != nil {
		return template.HTML("<p>" + template.HTMLEscapeString(err.Error()) + "</p>"), nil
	}
	if !drawn {
		return "", nil
	}
	svg := b.Bytes()
	if at := bytes.Index(svg, []byte("<svg")); at > 0 { // a page has no XML declaration inside
		svg = svg[at:]
	}
	for _, n := range namespaces {
		svg = bytes.Replace(svg, n, nil, 1)
	}
	return template.HTML(svg), nil
}
