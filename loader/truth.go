package loader

import "context"

// LabelsAsTruth is the set with its labels for the true ones, unless it knows these. Noise that is injected
// after leaves them as they are.
func (s *Set) LabelsAsTruth() *Set {
	if s.KnowsTruth() {
		return s
	}
	if s.Rows != nil {
		return s.WithRows(trueRows{s.Rows})
	}
	known := *s
	known.Truth = known.Labels
	return &known
}

// trueRows take labels for true ones.
type trueRows struct{ Rows }

func (r trueRows) Read(ctx context.Context, bag int, row *Row) error {
	err := r.Rows.Read(ctx, bag, row)
	row.Truth, row.Known = append(row.Truth[:0], row.Labels...), true
	return err
}

func (trueRows) KnowsTruth() bool { return true }

// TruthAsLabels is the set with what truly holds for its labels. It must know it.
func (s *Set) TruthAsLabels() *Set {
	told := *s
	if s.Rows != nil {
		told = *s.WithRows(toldRows{s.Rows})
	}
	told.Name, told.Labels = s.Name+", true labels", s.Truth
	return &told
}

// toldRows take what is true for labels.
type toldRows struct{ Rows }

func (r toldRows) Read(ctx context.Context, bag int, row *Row) error {
	err := r.Rows.Read(ctx, bag, row)
	row.Labels = append(row.Labels[:0], row.Truth...)
	return err
}

func (toldRows) KnowsTruth() bool { return true }
