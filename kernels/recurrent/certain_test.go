package recurrent

import (
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/tools/optest"
)

// If a target is nearly certain, 1 - p is far below the digits of a float32 p, but learning depends on it.
// The gradient of the target must have all of its digits, and the gradients of all words must add up to 0.
func TestCrossEntropy_GradientOfACertainTargetKeepsItsDigits(t *testing.T) {
	const words, target, rival, lead = 70_000, 3, 69_999, 20 // the rival lies in another block of words
	stream := rng.New(5)
	bias := make([]float32, words)
	for word := range bias {
		bias[word] = -200 // exponentials that are negligible compared with these
	}
	bias[target], bias[rival] = lead, 0
	h, w := optest.Normal(t, &stream, 1, 1, 2), optest.Floats(t, make([]float32, 2*words), words, 2)
	loss, dh := optest.Floats(t, nil, 1), optest.Floats(t, nil, 1, 2)
	dw, db := optest.Floats(t, nil, words, 2), optest.Floats(t, nil, words)
	const scale = .5
	optest.Must(t, NewCPU(optest.Device(t, 2), optest.Level(t)).CrossEntropy(loss, dh, dw, db, h, w,
		optest.Vector(t, bias...), optest.Ints(t, target), scale))
	want := -math.Exp(-lead) / (1 + math.Exp(-lead)) // p - 1
	for word, want := range map[int]float64{target: scale * want, rival: -scale * want, 0: 0} {
		if got := float64(db.Float32s()[word]); !(math.Abs(got-want) <= 1e-5*math.Abs(want)+1e-30) {
			t.Errorf("gradient of word %d is %g, want %g", word, got, want)
		}
	}
	if got := float64(loss.Float32s()[0]); !(math.Abs(got+want) <= 1e-5*-want) {
		t.Errorf("loss %g, want %g", got, -want)
	}
}
