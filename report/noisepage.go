package report

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"slices"
)

//go:embed noisepage/page.html
var noisePageHTML string

var noisePageTemplate = template.Must(template.New("noise").Parse(noisePageHTML))

// pageTable is a table as the page shows it.
type pageTable struct {
	Title   string
	Columns []Column
	Rows    [][]pageCell
	Notes   []string
}

type pageCell struct {
	Text string
	Left bool
}

// WritePage writes one HTML file, without anything from elsewhere, with the chart and all tables.
func (r *NoiseReport) WritePage(w io.Writer) error {
	var chart bytes.Buffer
	if err := NoiseChart(&chart, "svg", r); err != nil {
		return err
	}
	svg := chart.Bytes()
	if at := bytes.Index(svg, []byte("<svg")); at > 0 { // a page has no XML declaration inside
		svg = svg[at:]
	}
	page := struct {
		Report               *NoiseReport
		Chart                template.HTML
		Tables               []pageTable
		Truth, Estimate, Cut bool
		Charted              int
	}{
		Report: r, Chart: template.HTML(svg), Charted: chartedWords, Cut: len(r.Q01.Words) > chartedWords,
		Truth:    r.any(func(w WordRate) bool { return w.True.Defined() }),
		Estimate: r.any(func(w WordRate) bool { return w.Estimate != nil }),
	}
	for _, t := range r.Tables(0) {
		page.Tables = append(page.Tables, t.page())
	}
	return noisePageTemplate.Execute(w, page)
}

func (r *NoiseReport) any(is func(WordRate) bool) bool {
	return slices.ContainsFunc(r.Q01.Words, is) || slices.ContainsFunc(r.Q10.Words, is)
}

func (t *Table) page() pageTable {
	out := pageTable{Title: t.Title, Columns: t.Columns, Notes: t.Notes}
	for _, row := range t.Rows {
		cells := make([]pageCell, len(row.Cells))
		for i, c := range row.Cells {
			cells[i] = pageCell{c.display(t.Columns[i]), t.Columns[i].Text}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// WriteMarkdown writes all tables.
func (r *NoiseReport) WriteMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# Noise of %s\n\n", markdownEscapes.Replace(r.Run)); err != nil {
		return err
	}
	return Write(w, Markdown, r.Tables(0)...)
}
