package report

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"nmn/eval"
)

// drawnCurve is a training with two stages: the loss every 10 steps, AP every 100.
func drawnCurve() []Point {
	var curve []Point
	for step := 10; step <= 600; step += 10 {
		p := Point{Step: step, Stage: "stage1", AP: eval.Undefined(),
			Loss: eval.Number(4 + 8*math.Exp(-float64(step)/120) + .3*math.Sin(float64(step)))}
		if step > 400 {
			p.Stage, p.Loss = "nmn-fd", p.Loss-.4
		}
		if step%100 == 0 {
			p.AP = eval.Number(.6 - .4*math.Exp(-float64(step)/250))
		}
		curve = append(curve, p)
	}
	return curve
}

func TestCurves_OnePanelForEachMeasure(t *testing.T) {
	var both bytes.Buffer
	if drawn, err := Curves(&both, "svg", drawnCurve()); err != nil || !drawn {
		t.Fatal(drawn, err)
	}
	checkXML(t, both.Bytes())
	for _, label := range []string{"Training loss", "Validation AP", "stage1", "nmn-fd", "step"} {
		if !strings.Contains(both.String(), label) {
			t.Errorf("the curves do not say %q", label)
		}
	}
	var picture bytes.Buffer
	if _, err := Curves(&picture, "png", drawnCurve()); err != nil {
		t.Fatal(err)
	}
	keepForEyes(t, "curves.png", picture.Bytes())
	var loss bytes.Buffer
	curve := drawnCurve()
	for i := range curve {
		curve[i].AP = eval.Undefined()
	}
	if drawn, err := Curves(&loss, "svg", curve); err != nil || !drawn ||
		strings.Contains(loss.String(), "Validation AP") {
		t.Errorf("loss alone: %v %v", drawn, err)
	}
}

func TestCurves_NothingToDraw(t *testing.T) {
	nan := eval.Undefined()
	for name, curve := range map[string][]Point{"no points": nil, "undefined": {{Step: 1, Loss: nan, AP: nan}}} {
		var b bytes.Buffer
		if drawn, err := Curves(&b, "svg", curve); drawn || err != nil || b.Len() > 0 {
			t.Errorf("%s: %v %v, %d bytes", name, drawn, err, b.Len())
		}
	}
	if drawn, err := Curves(io.Discard, "svg", []Point{{Step: 1, Loss: 2, AP: nan}}); err != nil || !drawn {
		t.Errorf("a single point: %v %v", drawn, err)
	}
}
