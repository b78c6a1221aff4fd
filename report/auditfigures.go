package report

import "nmn/eval"

// AuditFigures measure how well an audit finds the wrong labels of the training set.
type AuditFigures struct {
	AP          eval.Number `json:"ap"`           // average precision over all labels
	IncorrectAP eval.Number `json:"incorrect_ap"` // over labels that are present (z=1)
	MissingAP   eval.Number `json:"missing_ap"`   // over labels that are absent (z=0)
	At1000      eval.Number `json:"precision_at_1000"`
	// From names the scores that rank the labels: out-of-fold scores, or the scores of the arm itself.
	From string `json:"from"`
}
