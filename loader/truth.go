package loader

import "context"

// LabelsAsTruth returns the set with its labels as the true labels too, unless it already has true ones.
// Noise that is injected later leaves the true labels as they are.
func (s *Set) LabelsAsTruth() *Set {
	if s.KnowsTruth() {
		return s
	}
	if s.Rows != nil {
		return s.WithRows(truthRows{s.Rows, func(row *Row) {
			row.Truth, row.Known = append(row.Truth[:0], row.Labels...), true
		}})
	}
	known := *s
	known.Truth = known.Labels
	return &known
}

// TruthAsLabels returns the set with its true labels in place of its labels. The set must have them.
func (s *Set) TruthAsLabels() *Set {
	relabelled := *s
	if s.Rows != nil {
		relabelled = *s.WithRows(truthRows{s.Rows, func(row *Row) { row.Labels = append(row.Labels[:0], row.Truth...) }})
	}
	relabelled.Name, relabelled.Labels, relabelled.CaptionsInUse = s.Name+", true labels", s.Truth, nil
	return &relabelled
}

// truthRows are rows with true labels, made of others by change.
type truthRows struct {
	Rows
	change func(*Row)
}

func (r truthRows) Read(ctx context.Context, bag int, row *Row) error {
	err := r.Rows.Read(ctx, bag, row)
	r.change(row)
	return err
}

func (truthRows) KnowsTruth() bool { return true }
