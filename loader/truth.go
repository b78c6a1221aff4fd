package loader

import "context"

// LabelsAsTruth returns the set with its labels as the true labels too, unless it already has true ones.
// Noise that is injected later leaves the true labels as they are.
func (s *Set) LabelsAsTruth() *Set {
	if s.KnowsTruth() {
		return s
	}
	if s.Rows != nil {
		return s.WithRows(labelsAsTruth{s.Rows})
	}
	known := *s
	known.Truth = known.Labels
	return &known
}

// labelsAsTruth are rows whose labels are taken as the true labels.
type labelsAsTruth struct{ Rows }

func (r labelsAsTruth) Read(ctx context.Context, bag int, row *Row) error {
	err := r.Rows.Read(ctx, bag, row)
	row.Truth, row.Known = append(row.Truth[:0], row.Labels...), true
	return err
}

func (labelsAsTruth) KnowsTruth() bool { return true }

// TruthAsLabels returns the set with its true labels in place of its labels. The set must have them.
func (s *Set) TruthAsLabels() *Set {
	relabelled := *s
	if s.Rows != nil {
		relabelled = *s.WithRows(truthAsLabels{s.Rows})
	}
	relabelled.Name, relabelled.Labels, relabelled.CaptionsInUse = s.Name+", true labels", s.Truth, nil
	return &relabelled
}

// truthAsLabels are rows whose true labels are taken as the labels.
type truthAsLabels struct{ Rows }

func (r truthAsLabels) Read(ctx context.Context, bag int, row *Row) error {
	err := r.Rows.Read(ctx, bag, row)
	row.Labels = append(row.Labels[:0], row.Truth...)
	return err
}

func (truthAsLabels) KnowsTruth() bool { return true }
