package report

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nmn/internal/durable"
)

// Files of a run's page.
const (
	PageFile   = "report.md"
	HTMLFile   = "report.html"
	CurvesFile = "curves.svg"
	RatesFile  = "q.csv"
)

// WriteRun writes the page of one run into its folder: report.md with the evaluation by part of
// speech, the best and the worst words, the noise rates, the curves and the configuration; report.html
// with the same to look at, and single bags;
// curves.svg where something was measured; q.csv where the run has noise rates. Files appear whole
// or not at all.
func WriteRun(folder string, r *Run) error {
	var picture bytes.Buffer
	drawn, drawing := Curves(&picture, "svg", r.Curve)
	if drawn = drawn && drawing == nil; drawn {
		if err := writeWhole(filepath.Join(folder, CurvesFile), picture.Bytes()); err != nil {
			return err
		}
	}
	if r.Rates != nil {
		if err := r.Rates.WriteFile(filepath.Join(folder, RatesFile), r.Rates.LearntColumns()); err != nil {
			return err
		}
	}
	page, err := runPage(r, drawn, drawing)
	if err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(folder, PageFile), page); err != nil {
		return err
	}
	if page, err = r.html(); err != nil {
		return err
	}
	return writeWhole(filepath.Join(folder, HTMLFile), page)
}

func writeWhole(path string, content []byte) error {
	if err := durable.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	return nil
}

// runPage makes the page; curves says whether there is a file of them, and drawing why not, if that is an error.
func runPage(r *Run, curves bool, drawing error) ([]byte, error) {
	var b bytes.Buffer
	title := cmp.Or(r.Name, r.armName())
	fmt.Fprintf(&b, "# %s\n\n", markdownEscapes.Replace(title))
	if err := Write(&b, Markdown, factsTable(r)); err != nil {
		return nil, err
	}
	if r.Result != nil {
		b.WriteString("\n## Evaluation\n\n")
		if err := Write(&b, Markdown, EvaluationTables(r.Result)...); err != nil {
			return nil, err
		}
	}
	if len(r.Epochs) > 0 {
		table, err := EpochTable([]Run{*r})
		if err != nil {
			return nil, err
		}
		table.Title = ""
		b.WriteString("\n## Epochs\n\n")
		if err := Write(&b, Markdown, table); err != nil {
			return nil, err
		}
	}
	if r.Result != nil {
		b.WriteString("\n## Words\n\n")
		if err := Write(&b, Markdown, WordTables(r.Result, wordsShown)...); err != nil {
			return nil, err
		}
	}
	if c := r.Captions; c != nil {
		b.WriteString("\n## Captions\n\n")
		for _, line := range c.Lines() {
			fmt.Fprintf(&b, "%s.\n\n", markdownEscapes.Replace(line))
		}
		if err := Write(&b, Markdown, foundCaptionTables(c)...); err != nil {
			return nil, err
		}
	}
	if len(r.Rates) > 0 {
		fmt.Fprintf(&b, "\n## Noise rates\n\nAll words: [%s](%s).\n\n", RatesFile, RatesFile)
		for _, line := range r.RateRemarks {
			fmt.Fprintf(&b, "%s.\n\n", markdownEscapes.Replace(line))
		}
		if err := Write(&b, Markdown, RateTables(r.Rates, wordsShown)...); err != nil {
			return nil, err
		}
	}
	if curves {
		fmt.Fprintf(&b, "\n## Curves\n\n![Training loss and validation AP](%s)\n", CurvesFile)
	}
	if drawing != nil {
		fmt.Fprintf(&b, "\n## Curves\n\n%s\n", markdownEscapes.Replace(drawing.Error()))
	}
	if r.Config != "" {
		fence := fenceFor(r.Config)
		fmt.Fprintf(&b, "\n## Configuration\n\n%syaml\n%s\n%s\n", fence, strings.TrimRight(r.Config, "\n"), fence)
	}
	return b.Bytes(), nil
}

// wordsShown is the length of lists of best and worst words on a page.
const wordsShown = 10

// fenceFor is a code fence longer than any run of backquotes in the text.
func fenceFor(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence
}

// roundedDuration is a duration as people want it: in seconds, and a short one more finely.
func roundedDuration(d time.Duration) time.Duration {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond)
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

func factsTable(r *Run) *Table {
	t := &Table{Columns: []Column{{Name: "run", Text: true}, {Name: cmp.Or(r.Name, dash), Text: true}}}
	add := func(name, value string) {
		t.Rows = append(t.Rows, Row{Cells: []Cell{words(name), words(value)}})
	}
	add("arm", r.armName())
	if r.Dataset != "" {
		add("data", r.Dataset)
	}
	if r.Flips != (Flips{}) {
		add("flipped labels", r.Flips.String()+" (percent)")
	} else if r.Noise > 0 { // which is 0 where there are no captions
		add("replaced captions", noiseCell(r.Noise).Text+" %")
	}
	if r.LeftOut != "" {
		add("left out", r.LeftOut)
	}
	if r.Augment != "" {
		add("augmentations", r.Augment)
	}
	add("seed", fmt.Sprint(r.Seed))
	if r.Duration > 0 {
		add("duration", roundedDuration(r.Duration).String())
	}
	if r.Features != "" {
		add("features", r.Features)
	}
	if r.Weights != "" {
		add("weights", r.Weights)
	}
	if e := r.Result; e != nil {
		add("evaluated on", fmt.Sprintf("%d bags, %d words", e.Bags, e.Classes))
	}
	if r.ThresholdFrom != "" {
		add("threshold "+thresholdColumn, r.ThresholdFrom)
	}
	if a := r.Audit; a != nil {
		add("wrong labels found by", a.From)
		for _, m := range metrics(true) {
			if v := m.of(r); strings.HasPrefix(m.name, "audit") && v.Defined() {
				add(m.name, fmt.Sprintf("%.*f %%", m.decimals, float64(m.scale*v)))
			}
		}
	}
	return t
}
