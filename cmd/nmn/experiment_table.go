package main

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// shownTable is one of an experiment; details are for files alone.
type shownTable struct {
	*report.Table
	details bool
}

// writeTables writes the tables of an experiment to its folder in all formats; CSV has a header and thus one table.
func writeTables(dir string, tables []*report.Table) error {
	for _, file := range []struct {
		format report.Format
		name   string
	}{{report.Markdown, "table.md"}, {report.CSV, "table.csv"}, {report.JSON, "table.json"}} {
		of := tables
		if file.format == report.CSV {
			of = tables[:1]
		}
		var b bytes.Buffer
		if err := report.Write(&b, file.format, of...); err != nil {
			return err
		}
		if err := durable.Save(filepath.Join(dir, file.name), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// show writes the tables to the folder in all formats, and to standard output.
func (e *experiment) show(ctx context.Context, p *program, s *run.Session, runs []report.Run) error {
	shown, err := e.tables(runs)
	if err != nil {
		return err
	}
	var tables []*report.Table
	for _, t := range shown {
		tables = append(tables, t.Table)
	}
	if err := writeTables(e.runDir, tables); err != nil {
		return err
	}
	if err := e.writeIndex(ctx, s, runs, shown, tables); err != nil {
		return err
	}
	switch e.format {
	case report.Text:
		return e.print(p, shown)
	case report.CSV:
		tables = tables[:1]
	}
	return report.Write(p.out, e.format, tables...)
}

// writeIndex writes the page of the experiment, with links to the pages that its runs have.
func (e *experiment) writeIndex(ctx context.Context, s *run.Session, runs []report.Run, shown []shownTable, all []*report.Table) error {
	compared, err := e.comparisons(ctx, s, runs)
	if err != nil {
		return err
	}
	page := report.ExperimentPage{Name: filepath.Base(e.runDir), Shown: summaries(shown), Meaning: e.explain(), All: all, Compared: compared}
	for i := range runs {
		folder, err := filepath.Rel(e.runDir, runs[i].Name)
		if err != nil {
			return err
		}
		run := report.LinkedRun{Run: &runs[i], Folder: filepath.ToSlash(folder)}
		if durable.Exists(filepath.Join(runs[i].Name, report.HTMLFile)) {
			run.Page = path.Join(run.Folder, report.HTMLFile)
		}
		page.Runs = append(page.Runs, run)
	}
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		return fmt.Errorf("page of the experiment: %w", err)
	}
	return durable.Save(filepath.Join(e.runDir, run.IndexFile), b.Bytes())
}

// summaries are the main measures of the tables, and of the first what else is worth knowing.
func summaries(tables []shownTable) []*report.Table {
	var shown []*report.Table
	for i, t := range tables {
		if t.details {
			continue
		}
		shown = append(shown, t.Summary())
		if more := t.Details(); i == 0 && more != nil {
			shown = append(shown, more)
		}
	}
	return shown
}

// print writes what fits a terminal, and what it means.
func (e *experiment) print(p *program, tables []shownTable) error {
	if err := report.Write(p.out, report.Text, summaries(tables)...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\n%s\nAll measures: %s. To look at, with a page for each run: %s.\n", e.explain(),
		filepath.Join(e.runDir, "table.md"), filepath.Join(e.runDir, run.IndexFile))
	return err
}

// tables are those of the experiment, the main one first.
func (e *experiment) tables(runs []report.Run) ([]shownTable, error) {
	several := len(e.seeds) > 1
	var tables []shownTable
	for _, kind := range []struct {
		make            func([]report.Run) (*report.Table, error)
		wanted, details bool
	}{
		{report.ExperimentTable, true, false},
		{againstArm(recipe.Star), several, false},
		{againstArm(e.reference), several && e.reference != "" && e.reference != recipe.Star, false},
		{report.BestEpochTable, e.config.EachEpoch, false},
		{report.EpochTable, e.config.EachEpoch, true},
		{report.SeedTable, several, true},
		{report.PaperTable, e.config.Data.Set == dataset.Captions || e.config.Data.Videos(), false},
	} {
		if !kind.wanted {
			continue
		}
		table, err := kind.make(runs)
		if err != nil {
			return nil, err
		}
		if len(tables) == 0 || len(table.Rows) > 0 {
			tables = append(tables, shownTable{table, kind.details})
		}
	}
	return tables, nil
}

// againstArm makes the table of differences from an arm.
func againstArm(a recipe.Name) func([]report.Run) (*report.Table, error) {
	return func(runs []report.Run) (*report.Table, error) { return report.PairedTable(runs, string(a)) }
}

// explain says what the rows are and what they were measured on.
func (e *experiment) explain() string {
	t := &e.config.Train
	lines := []string{"What the rows are:"}
	first := epochs(t.Stage1Epochs)
	settings := e.config.Settings()
	if settings.Folds() > 0 {
		first = "for as long as the loss on labels held out by folds falls"
	}
	for _, a := range recipe.Names() {
		if slices.Contains(e.arms, a) {
			lines = append(lines, fmt.Sprintf("  %-15s %s", a.Title(false), e.meaning(a, first)))
		}
	}
	if e.config.Data.Embedded() {
		lines = append(lines, report.Wrap(fmt.Sprintf("Trained on %d %s whose labels come from captions, a share of them "+
			"replaced by those of others. Measured on %d other ones: AP (truth), F1 and Brier against what they really show, "+
			"human AP against what people would say. No arm%s has seen a true label.", e.config.Data.TrainSize, e.config.Data.Bags(), e.config.Data.TestSize, e.taught())))
	}
	if e.config.Data.Videos() && (e.config.Data.VideoLevel == "" || e.config.Data.VideoLevel == dataset.LevelAuto) {
		lines = append(lines, report.Wrap("Rows without MIL learn frames, each with the labels of its clip, which is scored by the maximum over its frames. "+
			"Rows with MIL learn a clip as one bag of the cells of all its frames."))
	}
	if slices.ContainsFunc(e.arms, func(a recipe.Name) bool { return a == recipe.FI || a == recipe.FD }) && settings.RatesFile() == "" && len(t.Noise.Q01) == 1 {
		start := fmt.Sprintf("The noise models start at rates of %g (missing) and %g (incorrect)", t.Noise.Q01[0], t.Noise.Q10[0])
		if e.config.Preset == run.ScenesPreset && slices.Equal(t.Noise.Q01, train.ScenesPreset().Noise.Q01) {
			start += ": an informed start, close to the true mean rates at 40 % noise. Other data need a start of their own (--miss-rate, --false-rate, --rates)"
		}
		lines = append(lines, report.Wrap(start+"."))
	}
	if len(e.seeds) == 1 {
		lines = append(lines, "One seed: differences of about a point may be chance; --seeds 1,2,3 tells more.")
	}
	return strings.Join(lines, "\n")
}

// taught names the arms that know true labels or rates.
func (e *experiment) taught() string {
	for _, a := range e.arms {
		if arm, _ := a.Arm(); arm.Taught {
			return " but those that say so"
		}
	}
	return ""
}

// meaning says what an arm is; first is how long stage 1 is.
func (e *experiment) meaning(a recipe.Name, first string) string {
	arm, _ := a.Arm()
	return strings.NewReplacer("{stage1}", first, "{stage2}", epochs(e.config.Train.Stage2Epochs)).Replace(arm.Meaning)
}

func epochs(n int) string {
	if n == 1 {
		return "1 epoch"
	}
	return fmt.Sprintf("%d epochs", n)
}
