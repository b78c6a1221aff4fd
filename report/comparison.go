package report

import "fmt"

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

// comparisonSection is a comparison as the page shows it.
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
