package report

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"

	"nmn/eval"
	"nmn/report/chart"
	"nmn/text"
)

// Comparison shows the predictions of several arms for the same bags side by side, like the paper's Figure 4,
// and their precision against recall.
type Comparison struct {
	Title          string
	Against, Split string // as of Scored
	Exclusive      bool
	Arms           []ComparedArm
	Chosen         string // how Bags were chosen
	Bags           []ComparedBag
}

// Dashed reports whether the curves of some arms are.
func (c *Comparison) Dashed() bool { return bothMIL(c.Arms) }

// SplitName is the printed name of the split.
func (c *Comparison) SplitName() string { return splitName(c.Split) }

// ComparedBag is a bag with the predictions of arms.
type ComparedBag struct {
	ShownBag // without labels
	Says     []ArmWords
}

// ArmWords are the words of an arm for a bag.
type ArmWords struct {
	Arm    string
	Labels []ShownLabel
}

type comparisonSection struct {
	Comparison
	Curves []pageChart
}

// comparisonSections converts comparisons for a page. name makes the ids of their charts unique.
func comparisonSections(name string, all []Comparison) []comparisonSection {
	var sections []comparisonSection
	for i, c := range all {
		sections = append(sections, comparisonSection{c, pageCharts(fmt.Sprintf("%s-%d", name, i+1), armCharts(c.Arms))})
	}
	return sections
}

// ComparedArm is an arm with its curves.
type ComparedArm struct {
	Name   string
	MIL    bool
	Curves eval.ByGroup[[]eval.CurvePoint]
}

// armCharts are precision against recall with a line for each arm: a panel for all words, and then one for each part of
// speech if there are several. Arms with MIL are dashed if others are there too. Without a curve there is no panel.
func armCharts(arms []ComparedArm) []numbered {
	all, ok := armChart("All words", arms, func(a *ComparedArm) []eval.CurvePoint { return a.Curves.All })
	if !ok {
		return nil
	}
	var groups []numbered
	for p := range text.POSCount {
		if c, ok := armChart(groupTitle(text.POS(p)), arms,
			func(a *ComparedArm) []eval.CurvePoint { return a.Curves.In(text.POS(p), nil) }); ok {
			groups = append(groups, c)
		}
	}
	if len(groups) < 2 {
		groups = nil
	}
	return append([]numbered{all}, groups...)
}

// armChart is the panel of a group of words, if any arm has a curve there.
func armChart(title string, arms []ComparedArm, of func(*ComparedArm) []eval.CurvePoint) (numbered, bool) {
	var lines []namedCurve
	c := recallChart(title)
	for i := range arms {
		if points := of(&arms[i]); len(points) > 0 {
			c.Marks = append(c.Marks, chart.Mark{Name: arms[i].Name, Color: armColor(arms, i),
				Dashed: arms[i].MIL && bothMIL(arms), Points: curvePoints(points)})
			lines = append(lines, namedCurve{arms[i].Name, points})
		}
	}
	c.Summary = "Precision against recall, a line for each arm."
	return numbered{Chart: c, numbers: recallTable(lines)}, len(lines) > 0
}

func bothMIL(arms []ComparedArm) bool {
	return slices.ContainsFunc(arms, func(a ComparedArm) bool { return a.MIL != arms[0].MIL })
}

// armColor gives an arm without and with MIL one colour. Dashes distinguish them.
func armColor(arms []ComparedArm, i int) chart.Color {
	at := 0
	for _, a := range arms[:i] {
		if a.MIL == arms[i].MIL {
			at++
		}
	}
	return chart.Color(at % chart.Colors)
}

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
	Drawn []ShownBag `json:"drawn"` // bags drawn by chance, the same for all arms, without pictures
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
