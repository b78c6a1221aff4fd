package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nmn/report"
	"nmn/run"
	runpage "nmn/run/page"
)

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
