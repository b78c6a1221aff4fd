package update

import (
	"math"
	"testing"

	"nmn/tools/optest"
)

// averagedEntries are drawEntries with averages, which M and V are not.
func averagedEntries(t *testing.T, seed uint64) []Entry {
	entries := drawEntries(t, seed)
	for i := range entries {
		entries[i].Average = entries[i].V
	}
	return entries
}

// After a validation with the averages, training continues from equal bits.
func TestExchange_TwiceIsNothing(t *testing.T) {
	entries := averagedEntries(t, 8)
	var before [][]float32
	for _, e := range entries {
		before = append(before, append([]float32(nil), e.W.Float32s()...), append([]float32(nil), e.Average.Float32s()...))
	}
	c := newTestCPU(t, 2)
	same := func(got, want []float32) bool {
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				return false
			}
		}
		return true
	}
	optest.Must(t, c.Exchange(entries))
	for i, e := range entries {
		w, average := before[2*i], before[2*i+1]
		if e.LR != 0 {
			w, average = average, w
		}
		if !same(e.W.Float32s(), w) || !same(e.Average.Float32s(), average) {
			t.Errorf("entry %d was not exchanged as it should be", i)
		}
	}
	optest.Must(t, c.Exchange(entries))
	for i, e := range entries {
		if !same(e.W.Float32s(), before[2*i]) || !same(e.Average.Float32s(), before[2*i+1]) {
			t.Errorf("entry %d has changed", i)
		}
	}
}

// Adam would put the decay into both moments.
func TestAdamW_DecayDoesNotTouchTheMoments(t *testing.T) {
	p := AdamParams{Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: 1}
	make2 := func(decay float32) Entry {
		return Entry{W: optest.Vector(t, 2, -3), G: optest.Vector(t, .5, .25), M: optest.Vector(t, 0, 0),
			V: optest.Vector(t, 0, 0), LR: .1, Decay: decay}
	}
	plain, decayed := make2(0), make2(.5)
	optest.Must(t, newTestCPU(t, 1).AdamW([]Entry{plain, decayed}, p))
	check(t, "without decay", plain.W, []float64{1.9, -3.1})
	check(t, "with decay", decayed.W, []float64{1.8, -2.95})
	check(t, "first moment", decayed.M, []float64{.05, .025})
}
