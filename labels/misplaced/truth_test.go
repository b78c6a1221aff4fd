package misplaced

import (
	"math"
	"testing"

	"nmn/internal/rng"
)

// The judgement equals a count over all pairs of a foreign caption and an own one, with many ties among them.
func TestJudge_IsThatOfAllPairs(t *testing.T) {
	for seed := range 20 {
		s := rng.New(9, seed)
		r := &Result{}
		var foreign, kept [][]bool
		var own, others []float64
		var dropped, right, keptForeign float64
		for range 1 + s.Intn(30) {
			of := make([]float64, s.Intn(6))
			f, k := make([]bool, len(of)), make([]bool, len(of))
			for c := range of {
				of[c], f[c], k[c] = float64(s.Intn(5))/4, s.Intn(3) == 0, s.Intn(4) > 0
				if f[c] {
					others = append(others, of[c])
				} else {
					own = append(own, of[c])
				}
				switch {
				case !k[c] && f[c]:
					right, dropped = right+1, dropped+1
				case !k[c]:
					dropped++
				case f[c]:
					keptForeign++
				}
			}
			r.Own, foreign, kept = append(r.Own, of), append(foreign, f), append(kept, k)
		}
		sum := 0.0
		for _, x := range others {
			for _, y := range own {
				switch {
				case x < y:
					sum++
				case x == y:
					sum += .5
				}
			}
		}
		n, all := float64(len(others)), float64(len(others)+len(own))
		j := r.Judge(foreign, kept)
		if j.Foreign != len(others) {
			t.Errorf("seed %d: %d foreign, want %d", seed, j.Foreign, len(others))
		}
		for name, pair := range map[string][2]float64{
			"AUC":          {float64(j.AUC), sum / (n * (all - n))},
			"precision":    {float64(j.Precision), right / dropped},
			"recall":       {float64(j.Recall), right / n},
			"foreign kept": {float64(j.ForeignKept), keptForeign / (all - dropped)},
		} {
			if got, want := pair[0], pair[1]; math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
				t.Errorf("seed %d: %s %g, want %g", seed, name, got, want)
			}
		}
	}
}

func TestJudge_IsUndefinedWithoutAnythingToMeasure(t *testing.T) {
	own := [][]float64{{.2, .9}, {}}
	all, none := [][]bool{{true, true}, {}}, [][]bool{{false, false}, {}}
	for name, test := range map[string]struct {
		foreign, kept                       [][]bool
		auc, precision, recall, foreignKept bool // defined
	}{
		"no captions":     {},
		"none foreign":    {foreign: none, kept: all, foreignKept: true},
		"all foreign":     {foreign: all, kept: all, recall: true, foreignKept: true},
		"nothing is kept": {foreign: [][]bool{{true, false}, {}}, kept: none, auc: true, precision: true, recall: true},
		"everything to see": {foreign: [][]bool{{true, false}, {}}, kept: [][]bool{{false, true}, {}}, auc: true,
			precision: true, recall: true, foreignKept: true},
	} {
		r := &Result{Own: own}
		j := r.Judge(test.foreign, test.kept)
		if j.AUC.Defined() != test.auc || j.Precision.Defined() != test.precision ||
			j.Recall.Defined() != test.recall || j.ForeignKept.Defined() != test.foreignKept {
			t.Errorf("%s: %+v", name, j)
		}
	}
}
