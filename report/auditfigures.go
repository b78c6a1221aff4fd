package report

import "nmn/eval"

// AuditFigures tell how well the wrong labels of the training set are found.
type AuditFigures struct {
	AP          eval.Number `json:"ap"`           // average precision over all labels
	IncorrectAP eval.Number `json:"incorrect_ap"` // over those that are there (z=1)
	MissingAP   eval.Number `json:"missing_ap"`   // over those that are not (z=0)
	At1000      eval.Number `json:"precision_at_1000"`
	// From says whose scores order the labels: of nets that have not learned the label, or of the arm itself.
	From string `json:"from"`
}
