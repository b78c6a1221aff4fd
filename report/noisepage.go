package report

import (
	"fmt"
	"html/template"
	"io"
)

var noisePageTemplate = htmlTemplate("noise")

// WritePage writes one self-contained HTML file with the charts and all tables.
func (r *NoiseReport) WritePage(w io.Writer) error {
	return noisePageTemplate.Execute(w, struct {
		Style   template.CSS
		Report  *NoiseReport
		Charts  []pageChart
		Tables  []pageTable
		Cut     bool
		Charted int
	}{Style: template.CSS(pageStyle), Report: r, Charts: pageCharts("rates", noiseCharts(r, chartedWords)),
		Tables: pageTables(r.Tables(0)), Cut: len(r.Q01.Words) > chartedWords, Charted: chartedWords})
}

// WriteMarkdown writes all tables.
func (r *NoiseReport) WriteMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# Noise of %s\n\n", markdownEscapes.Replace(r.Run)); err != nil {
		return err
	}
	return Write(w, Markdown, r.Tables(0)...)
}
