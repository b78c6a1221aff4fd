package eval

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/text"
)

func TestPrecisionRecall_FollowsTheDefinition(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "cat", POS: text.NN}, {Text: "red", POS: text.JJ},
		{Text: "never", POS: text.VB}})
	expect.OK(t, err)
	scores := []float32{3, -1, 0, 2, -1, 0, -2, 5, 0}
	answers := []uint8{1, 1, 0, 0, 0, 0, 1, 1, 0}
	curves, err := PrecisionRecall(scores, answers, 3, v)
	expect.OK(t, err)
	checkCurve(t, "NN", curves.Group[text.NN], []CurvePoint{{.5, 1}, {.5, .5}, {1, 2. / 3}})
	checkCurve(t, "JJ", curves.Group[text.JJ], []CurvePoint{{.5, 1}, {1, 2. / 3}}) // equal scores are one threshold
	checkCurve(t, "VB, which never holds", curves.Group[text.VB], nil)
	checkCurve(t, "all", curves.All, []CurvePoint{{.25, 1}, {.5, 1}, {.5, 2. / 3}, {.5, 2. / 6}, {.75, 3. / 8},
		{1, 4. / 9}})
	if curves, err = PrecisionRecall(scores, answers, 3, nil); err != nil || len(curves.All) != 6 ||
		curves.Group != nil {
		t.Errorf("without parts of speech: %+v, %v", curves, err)
	}
}

func checkCurve(t *testing.T, name string, got, want []CurvePoint) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", name, got, want)
	}
	for i := range got {
		if math.Abs(got[i].Recall-want[i].Recall) > 1e-12 || math.Abs(got[i].Precision-want[i].Precision) > 1e-12 {
			t.Errorf("%s: point %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

// The area below the curve is the average precision, except for what thinning and joined scores leave out.
func TestPrecisionRecall_AreaIsTheAveragePrecision(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	scores, answers := make([]float32, 20_000), make([]uint8, 20_000)
	for i := range scores {
		answers[i] = uint8(random.IntN(5) / 4)
		scores[i] = float32(random.NormFloat64() + 2*float64(answers[i]))
	}
	curves, err := PrecisionRecall(scores, answers, 100, nil)
	expect.OK(t, err)
	if n := len(curves.All); n < 100 || n > 1000 {
		t.Errorf("%d points", n)
	}
	area, at := 0.0, CurvePoint{0, curves.All[0].Precision}
	for _, p := range curves.All {
		area += (p.Recall - at.Recall) * (p.Precision + at.Precision) / 2
		at = p
	}
	want, _, err := AveragePrecision(scores, answers)
	if err != nil || math.Abs(area-float64(want)) > .003 || at.Recall != 1 {
		t.Errorf("area %.4f up to recall %g, average precision %.4f (%v)", area, at.Recall, want, err)
	}
}

func TestPrecisionRecall_RefusesOtherSizesAndNaN(t *testing.T) {
	for _, c := range []struct {
		scores  []float32
		answers []uint8
		classes int
		want    error
	}{
		{[]float32{1, 2, 3}, []uint8{1, 0, 1}, 2, ErrShape}, {[]float32{1}, []uint8{1}, 0, ErrShape},
		{[]float32{1, 2}, []uint8{1}, 2, ErrShape},
		{[]float32{float32(math.NaN())}, []uint8{1}, 1, ErrValue},
	} {
		if _, err := PrecisionRecall(c.scores, c.answers, c.classes, nil); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c, err, c.want)
		}
	}
}

// A curve ends with all cells predicted, even if its last point is nearer to the previous one than other points are.
// 300 cells that hold have different scores; in steps of 1/300 every second one is far enough from the last.
func TestPrecisionRecall_EndsWithAllCells(t *testing.T) {
	scores := make([]float32, 300)
	for i := range scores {
		scores[i] = math.Float32frombits(uint32(0x3f80+i) << 16) // 1, 1 1/128, ...: each a threshold of its own
	}
	curves, err := PrecisionRecall(scores, bytesOf(slices.Repeat([]uint16{1}, len(scores))), 1, nil)
	expect.OK(t, err)
	last := len(curves.All) - 1
	if last != 150 || curves.All[last] != (CurvePoint{1, 1}) || curves.All[last-1] != (CurvePoint{299. / 300, 1}) {
		t.Errorf("%d points, the last two %v", last+1, curves.All[last-1:])
	}
}
