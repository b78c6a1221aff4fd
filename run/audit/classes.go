package runaudit

import (
	"context"
	"fmt"
	"math"

	"nmn/labels/audit/multiclass"
	"nmn/loader"
	"nmn/recipe"
)

// Exclusive reports whether each bag of the run has exactly one label. RankClasses then ranks the labels, not Rank.
func (a *Audit) Exclusive() bool { return a.session.Config.Exclusive() }

// RankClasses ranks the labels of the bags that have scores, if each bag has one label. The estimate is that of the
// recipe, so Options.Plateau is set.
func (a *Audit) RankClasses(ctx context.Context, s *OutOfFold, o multiclass.Options) (*multiclass.Report, error) {
	set, err := loader.Subset(a.session.Data.Train, a.session.Data.Train.Name+", scored", s.Bags)
	if err == nil {
		set, err = loader.Hold(ctx, set)
	}
	if err != nil {
		return nil, err
	}
	in := recipe.ClassesInput(set, s.Logits)
	in.Column, in.Named = "label", true
	o.Plateau = true
	r, err := multiclass.Audit(ctx, in, o)
	if err != nil {
		return nil, fmt.Errorf("cannot audit the labels of the run: %w", err)
	}
	return r, nil
}

// WriteClasses is WriteLabels for a report of RankClasses.
func (a *Audit) WriteClasses(ctx context.Context, r *multiclass.Report, corrected []int32, path string) (*Corrected,
	error) {
	rows := map[string][]uint8{}
	for i, class := range corrected {
		if class != r.Labels[i] && class >= 0 {
			row := make([]uint8, r.Input.Classes)
			row[class] = 1
			rows[r.ID(i)] = row
		}
	}
	return a.writeRows(ctx, rows, path)
}

// logOdds turns logarithms of p, as a recipe of exclusive classes writes them, into log-odds.
func logOdds(logs []float32) {
	const most = 100 // of a p that has rounded to 1
	for i, l := range logs {
		p := float64(l)
		logs[i] = float32(min(p-math.Log(-math.Expm1(min(p, 0))), most))
	}
}
