package report

import (
	"bytes"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/report/chart"
	"nmn/text"
)

func comparedArm(name string, mil bool) ComparedArm {
	a := ComparedArm{Name: name, MIL: mil}
	a.Curves.All = []eval.CurvePoint{{Recall: .2, Precision: 1}, {Recall: 1, Precision: .3}}
	a.Curves.Group = make([][]eval.CurvePoint, text.POSCount)
	a.Curves.Group[text.NN], a.Curves.Group[text.VB] = a.Curves.All, a.Curves.All
	return a
}

// The predictions of arms are next to the picture, marked as in the paper's Figure 4.
func TestExperimentPage_ArmsSideBySide(t *testing.T) {
	says := func(kind LabelKind, p float64) []ShownLabel { return []ShownLabel{{markup, p, kind, false}} }
	c := Comparison{Title: markup, Against: "true labels", Split: "test", Chosen: "1 bags",
		Arms: []ComparedArm{comparedArm("baseline", false), comparedArm("NMN-FI", false)},
		Bags: []ComparedBag{{ShownBag{ID: markup, JPEG: []byte("jpeg")}, []ArmWords{{"baseline", says(IncorrectLabel, .7)},
			{"NMN-FI", says(MissingLabel, .2)}, {"none", nil}}}}}
	page := said(t, (&ExperimentPage{Name: "x", Compared: []Comparison{c, c}}).Write)
	content, elements := parsed(t, page)
	if elements["figure"] != 6 || elements["img"] != 2 || elements["article"] != 2 || elements["details"] != 7 ||
		elements["script"] != 0 {
		t.Errorf("elements %v", elements)
	}
	for _, part := range []string{`<li class="incorrect"><i>✗</i>`, `<li class="missing"><i>&#43;</i>`,
		"data:image/jpeg;base64,anBlZw==", "no label predicted, and none is right"} {
		if strings.Count(page, part) < 2 {
			t.Errorf("the page does not tell %q twice", part)
		}
	}
	if strings.Count(content, markup) != 2*4 || strings.Contains(page, "://") {
		t.Errorf("markup is text %d times", strings.Count(content, markup))
	}
}

func TestArmCharts_APanelForEachPartOfSpeechAndALegend(t *testing.T) {
	arms := []ComparedArm{comparedArm("baseline", false), comparedArm("NMN-FI", false),
		comparedArm("baseline + MIL", true), {Name: "no curves"}}
	var b bytes.Buffer
	if drawn, err := drawCharts(&b, armCharts(arms)); err != nil || !drawn {
		t.Fatal(drawn, err)
	}
	svg := b.String()
	for part, times := range map[string]int{">All words<": 1, ">nouns (NN)<": 1, ">verbs (VB)<": 1, ">baseline<": 3,
		">NMN-FI<":         3,
		">baseline + MIL<": 3, ">no curves<": 0} {
		if n := strings.Count(svg, part); n != times {
			t.Errorf("%q is drawn %d times", part, n)
		}
	}
	// Three panels with two full lines and a dashed one each, and each with its legend.
	if n := strings.Count(svg, "stroke-dasharray="); n != 6 {
		t.Errorf("%d dashed lines, want 6", n)
	}
	b.Reset()
	if _, err := drawCharts(&b, armCharts(arms[2:3])); err != nil || strings.Contains(b.String(), "stroke-dasharray=") {
		t.Errorf("a lone arm is dashed, %v", err)
	}
	one := comparedArm("baseline", false)
	one.Curves.Group[text.VB] = nil // a vocabulary of one part of speech has no panels of it
	b.Reset()
	if drawn, err := drawCharts(&b, armCharts([]ComparedArm{one})); err != nil || !drawn ||
		strings.Contains(b.String(), ">nouns (NN)<") {
		t.Error(drawn, err)
	}
	if drawn, err := drawCharts(&b, armCharts([]ComparedArm{{Name: "no curves"}})); err != nil || drawn {
		t.Errorf("without a curve: drawn %t, %v", drawn, err)
	}
}

func TestArmColor_MILHasThatOfItsArm(t *testing.T) {
	arms := []ComparedArm{{Name: "baseline"}, {Name: "fi"}, {Name: "baseline", MIL: true}, {Name: "fi", MIL: true}}
	var colors []chart.Color
	for i := range arms {
		colors = append(colors, armColor(arms, i))
	}
	if colors[0] != colors[2] || colors[1] != colors[3] || colors[0] == colors[1] {
		t.Errorf("colours %v", colors)
	}
}
