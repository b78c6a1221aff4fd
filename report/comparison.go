package report

import (
	"html/template"
	"io"
)

// Comparison shows what several arms say of the same bags, side by side, as the paper's Figure 4 does, and
// their precision against recall.
type Comparison struct {
	Title          string
	Against, Split string // as of Scored
	Arms           []ComparedArm
	Chosen         string // how Bags were chosen
	Bags           []ComparedBag
}

// Dashed reports whether the curves of some arms are.
func (c *Comparison) Dashed() bool { return bothMIL(c.Arms) }

// ComparedBag is a bag with what arms say of it.
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
	Curves template.HTML
}

func comparisonSections(all []Comparison) ([]comparisonSection, error) {
	var sections []comparisonSection
	for _, c := range all {
		curves, err := inlineSVG(func(w io.Writer) (bool, error) { return ArmCurves(w, "svg", c.Arms) })
		if err != nil {
			return nil, err
		}
		sections = append(sections, comparisonSection{c, curves})
	}
	return sections, nil
}
