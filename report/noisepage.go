package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"slices"
)

var (
	//go:embed noisepage/page.html
	noisePageHTML string
	//go:embed noisepage/page.css
	noisePageStyle string
)

var noisePageTemplate = htmlTemplate("noise", noisePageHTML)

// WritePage writes one HTML file, without anything from elsewhere, with the chart and all tables.
func (r *NoiseReport) WritePage(w io.Writer) error {
	chart, err := inlineSVG(func(w io.Writer) (bool, error) { return true, NoiseChart(w, "svg", r) })
	if err != nil {
		return err
	}
	page := struct {
		Style                template.CSS
		Report               *NoiseReport
		Chart                template.HTML
		Tables               []pageTable
		Truth, Estimate, Cut bool
		Charted              int
	}{
		Style: template.CSS(pageStyle + noisePageStyle), Report: r, Chart: chart, Charted: chartedWords,
		Cut: len(r.Q01.Words) > chartedWords, Truth: r.any(func(w WordRate) bool { return w.True.Defined() }),
		Estimate: r.any(func(w WordRate) bool { return w.Estimate != nil }),
	}
	page.Tables = pageTables(r.Tables(0))
	return noisePageTemplate.Execute(w, page)
}

func (r *NoiseReport) any(is func(WordRate) bool) bool {
	return slices.ContainsFunc(r.Q01.Words, is) || slices.ContainsFunc(r.Q10.Words, is)
}

// WriteMarkdown writes all tables.
func (r *NoiseReport) WriteMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# Noise of %s\n\n", markdownEscapes.Replace(r.Run)); err != nil {
		return err
	}
	return Write(w, Markdown, r.Tables(0)...)
}
