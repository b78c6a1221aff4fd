package report

import (
	"encoding/base64"
	"fmt"
	"html/template"

	"nmn/eval"
)

// Scored holds the single scores that pages show: all of them for the page of the run, and in JSON the part
// for the page of an experiment.
type Scored struct {
	Against string `json:"against"` // what the scores are held against: "true labels" or "labels"
	Split   string `json:"split"`   // for example "test"
	// Exclusive classes exclude each other: the most probable one is predicted, else each with p ≥ .5.
	Exclusive bool                            `json:"exclusive,omitempty"`
	Curves    eval.ByGroup[[]eval.CurvePoint] `json:"curves"`
	// Right and Wrong are the bags with the surest predictions of the arm that are right, and that are wrong.
	Right []ShownBag `json:"-"`
	Wrong []ShownBag `json:"-"`
	// Drawn are bags drawn by chance, the same for all arms, without pictures.
	Drawn []ShownBag `json:"drawn"`
}

// SplitName is the printed name of the split.
func (s *Scored) SplitName() string { return splitName(s.Split) }

// splitName is the printed name of a split: the training set, not the train set.
func splitName(split string) string {
	if split == "train" {
		return "training"
	}
	return split
}

// ShownBag is a bag with its predictions.
type ShownBag struct {
	ID     string       `json:"id"`
	JPEG   []byte       `json:"-"` // small; nil for none
	Labels []ShownLabel `json:"labels"`
}

// ShownLabel is a word that is predicted, or that holds and is not.
type ShownLabel struct {
	Word   string    `json:"class"`
	P      float64   `json:"p"` // p(y=1|I)
	Kind   LabelKind `json:"kind"`
	Surest bool      `json:"-"` // of the bag: why it is shown
}

// LabelKind is the outcome of a prediction.
type LabelKind string

// The kinds, as the paper's Figure 4 marks them: incorrect ones red, missing ones green.
const (
	HitLabel       LabelKind = "hit"       // predicted, and it holds
	IncorrectLabel LabelKind = "incorrect" // predicted, and it does not hold
	MissingLabel   LabelKind = "missing"   // it holds and is not predicted
)

// Mark is the sign of the kind, which does not need colour.
func (k LabelKind) Mark() string {
	switch k {
	case IncorrectLabel:
		return "✗"
	case MissingLabel:
		return "+"
	}
	return "✓"
}

// Picture is the picture as a data: URL, empty for none.
func (b *ShownBag) Picture() template.URL { return jpegURL(b.JPEG) }

// jpegURL is a picture as a data: URL, empty for none.
func jpegURL(jpeg []byte) template.URL {
	if len(jpeg) == 0 {
		return ""
	}
	return template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(jpeg))
}

// Percent prints the probability. An uncertain one is never printed as 0 or 100.
func (l *ShownLabel) Percent() string {
	switch {
	case l.P < .001:
		return "< 0.1"
	case l.P > .999:
		return "> 99.9"
	}
	return fmt.Sprintf("%.1f", 100*l.P)
}
