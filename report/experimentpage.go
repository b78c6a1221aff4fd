package report

import (
	"fmt"
	"html/template"
	"io"
)

var experimentTemplate = htmlTemplate("experiment")

// ExperimentPage is one HTML file, without anything from elsewhere, with the tables of an experiment and
// links to the pages of its runs.
type ExperimentPage struct {
	Name    string
	Shown   []*Table    // the main measures
	Rows    []Explained // what the rows are
	Remarks []string    // what else one must know to read them, a paragraph each
	All     []*Table    // every measure, folded away
	Runs    []LinkedRun
	// Compared are arms side by side, one for each noise level; only the first is unfolded.
	Compared []Comparison
}

// Explained is a name with its meaning, in a line.
type Explained struct{ Name, Meaning string }

// LinkedRun is a run with its folder and page, as paths from the folder of the experiment with slashes. Page
// is empty for a run without one.
type LinkedRun struct {
	*Run
	Folder, Page string
}

// runRow is a run in the list of the page.
type runRow struct {
	Noise, Arm, Value string
	Seed              uint64
	Folder, Page      string
	Rule              bool // the first at its noise level
}

// Write writes the page.
func (p *ExperimentPage) Write(w io.Writer) error {
	runs := make([]Run, len(p.Runs))
	for i, r := range p.Runs {
		runs[i] = *r.Run
	}
	figure := mainMetric(runs)
	results, err := resultCharts(runs)
	if err != nil {
		return err
	}
	var rows []runRow
	for i, r := range p.Runs {
		row := runRow{Noise: r.key().noiseCell().Text, Arm: r.Title(), Value: dash, Seed: r.Seed, Folder: r.Folder,
			Page: r.Page}
		if r.Result != nil {
			if v := figure.of(r.Run); v.Defined() {
				row.Value = fmt.Sprintf("%.*f", figure.decimals, float64(figure.scale*v))
			}
		}
		row.Rule = i > 0 && row.Noise != rows[i-1].Noise
		rows = append(rows, row)
	}
	return experimentTemplate.Execute(w, struct {
		Style         template.CSS
		Page          *ExperimentPage
		Results       []pageChart
		Shown, All    []pageTable
		Runs          []runRow
		Noise, Figure string
		Compared      []comparisonSection
	}{template.CSS(pageStyle + htmlFile("bags.css")), p, pageCharts("result", results), pageTables(p.Shown),
		pageTables(p.All), rows, noiseColumn, figure.name + " %", comparisonSections("arms", p.Compared)})
}
