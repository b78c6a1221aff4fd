package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
)

var (
	//go:embed noisepage/page.html
	noisePageHTML string
)

var noisePageTemplate = htmlTemplate("noise", noisePageHTML)

// WritePage writes one self-contained HTML file with the charts and all tables.
func (r *NoiseReport) WritePage(w io.Writer) error {
	page := struct {
		Style   template.CSS
		Report  *NoiseReport
		Charts  []pageChart
		Tables  []pageTable
		Cut     bool
		Charted int
	}{
		Style: template.CSS(pageStyle), Report: r, Charts: pageCharts("rates", noiseCharts(r, chartedWords)),
		Charted: chartedWords,
		Cut:     len(r.Q01.Words) > chartedWords,
	}
	page.Tables = pageTables(r.Tables(0))
	return noisePageTemplate.Execute(w, page)
}

// WriteMarkdown writes all tables.
func (r *NoiseReport) WriteMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# Noise of %s\n\n", markdownEscapes.Replace(r.Run)); err != nil {
		return err
	}
	return Write(w, Markdown, r.Tables(0)...)
}
