package experiment

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
	runpage "nmn/run/page"
)

// shownTable is a table of an experiment; one with details goes to files alone, not to a terminal.
type shownTable struct {
	*report.Table
	details bool
}

// formats are the file formats of the tables in the folder of an experiment.
var formats = [...]struct {
	format report.Format
	name   string
}{{report.Markdown, "table.md"}, {report.CSV, "table.csv"}, {report.JSON, "table.json"}}

// TableFiles are the names of the files of tables.
func TableFiles() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// WriteTables writes the tables of an experiment to its folder in all formats; CSV has a header and thus one table.
func WriteTables(dir string, tables []*report.Table) error {
	for _, file := range formats {
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

// Outcome is what an experiment has found.
type Outcome struct {
	Runs   []report.Run // those that were asked for, in the order in which they were trained
	shown  []shownTable
	Tables []*report.Table // all tables, the main one first
}

// write writes the tables of runs to the folder in all formats, and the page that shows them.
func (g *Grid) write(ctx context.Context, s *run.Session, runs []report.Run) (*Outcome, error) {
	o := &Outcome{Runs: runs}
	var err error
	if o.shown, err = g.tables(runs); err != nil {
		return nil, err
	}
	for _, t := range o.shown {
		o.Tables = append(o.Tables, t.Table)
	}
	if err := s.Ranks.Save(ctx, func() error { return WriteTables(g.Dir, o.Tables) }); err != nil {
		return nil, err
	}
	return o, g.writeIndex(ctx, s, o)
}

// Summaries are the tables that fit a terminal: the main measures, and of the first table what else is worth knowing.
func (o *Outcome) Summaries() (summaries []*report.Table) {
	for i, t := range o.shown {
		if t.details {
			continue
		}
		summaries = append(summaries, t.Summary())
		if more := t.Details(); i == 0 && more != nil {
			summaries = append(summaries, more)
		}
	}
	return summaries
}

// writeIndex writes the page of the experiment, with links to the pages that its runs have.
func (g *Grid) writeIndex(ctx context.Context, s *run.Session, o *Outcome) error {
	compared, err := g.comparisons(ctx, s, o.Runs)
	if err != nil {
		return err
	}
	page := report.ExperimentPage{Name: filepath.Base(g.Dir), Shown: o.Summaries(), All: o.Tables, Compared: compared}
	page.Rows, page.Remarks = g.explanation()
	for i := range o.Runs {
		folder, err := filepath.Rel(g.Dir, o.Runs[i].Name)
		if err != nil {
			return err
		}
		run := report.LinkedRun{Run: &o.Runs[i], Folder: filepath.ToSlash(folder)}
		if durable.Exists(filepath.Join(o.Runs[i].Name, report.HTMLFile)) {
			run.Page = path.Join(run.Folder, report.HTMLFile)
		}
		page.Runs = append(page.Runs, run)
	}
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		return fmt.Errorf("page of the experiment: %w", err)
	}
	return s.Ranks.Save(ctx, func() error { return durable.Save(filepath.Join(g.Dir, run.IndexFile), b.Bytes()) })
}

func (g *Grid) tables(runs []report.Run) ([]shownTable, error) {
	several := len(g.Seeds) > 1
	var tables []shownTable
	for _, kind := range []struct {
		make            func([]report.Run) (*report.Table, error)
		wanted, details bool
	}{
		{report.ExperimentTable, true, false},
		{againstArm(recipe.Baseline), several, false},
		{againstArm(g.Reference), several && g.Reference != "" && g.Reference != recipe.Baseline, false},
		{report.BestEpochTable, g.Config.EachEpoch, false},
		{report.EpochTable, g.Config.EachEpoch, true},
		{report.SeedTable, several, true},
		{paperTable, g.Config.Data.Set == dataset.Captions || g.Config.Data.Videos(), false},
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

// paperTable lays runs out as the paper's Table 3 for videos at one level of noise, otherwise as its Table 2.
func paperTable(runs []report.Run) (*report.Table, error) {
	number := 2
	other := func(r report.Run) bool { return r.Level == "" || r.Noise != runs[0].Noise }
	if len(runs) > 0 && !slices.ContainsFunc(runs, other) {
		number = 3
	}
	t, err := report.PaperLayout(number, runs)
	if err == nil {
		t.Title = "Average precision with human agreement (%)"
	}
	return t, err
}

// againstArm makes the table of differences from an arm.
func againstArm(a recipe.Name) func([]report.Run) (*report.Table, error) {
	return func(runs []report.Run) (*report.Table, error) { return report.PairedTable(runs, string(a)) }
}

// comparisons puts the arms of each noise level side by side, at the first seed.
func (g *Grid) comparisons(ctx context.Context, s *run.Session, runs []report.Run) ([]report.Comparison, error) {
	var all []report.Comparison
	set, _ := s.Data.EvaluationSplit()
	pictures := runpage.NewPictures(ctx, set)
	for len(runs) > 0 {
		level := func(r report.Run) bool { return r.Noise != runs[0].Noise || r.Flips != runs[0].Flips }
		end := slices.IndexFunc(runs, level)
		if end < 0 {
			end = len(runs)
		}
		c, err := compare(runs[:end], g.Seeds[0], pictures)
		if err != nil {
			return nil, err
		}
		if len(c.Arms) > 1 {
			all = append(all, c)
		}
		runs = runs[end:]
	}
	return all, ctx.Err()
}

// compare compares the runs of a noise level. Runs that have nothing to show are left out.
func compare(runs []report.Run, seed uint64, pictures *runpage.Pictures) (report.Comparison, error) {
	noise := strings.TrimSpace(fmt.Sprintf("noise %.4g %% %s", 100*runs[0].Noise, runs[0].NoiseKind))
	if runs[0].Flips != (report.Flips{}) {
		noise = "flipped labels, " + runs[0].Flips.String() + " (percent)"
	}
	var beside runpage.SideBySide
	for i := range runs {
		if runs[i].Seed != seed {
			continue
		}
		s, err := run.ReadShown(runs[i].Name)
		if err != nil {
			return report.Comparison{}, err
		}
		beside.Add(&runs[i], s)
	}
	return beside.Comparison(fmt.Sprintf("Arms side by side: %s, seed %d", noise, seed), pictures), nil
}
