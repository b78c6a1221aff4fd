package report

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/text"
)

// TestPublished_GroupsAverageToAll catches typing errors: the mean over all words must be the mean
// of the groups weighted by their sizes, within what rounding to the printed digits allows.
func TestPublished_GroupsAverageToAll(t *testing.T) {
	for _, p := range PublishedRows() {
		if !p.AP.Group[text.NN].Defined() {
			continue
		}
		sizes := publishedSizes(p.Table)
		sum := 0.0
		for g, n := range sizes.Group {
			sum += float64(n) * float64(p.AP.Group[g])
		}
		allowed := .011
		if p.Cited {
			allowed = .06 // printed with one digit after the point
		}
		if mean := sum / float64(sizes.All); math.Abs(mean-float64(p.AP.All)) > allowed {
			t.Errorf("Table %d, noise %v, %s: the groups average to %.3f, printed is %v", p.Table, p.Noise,
				paperName(p.Arm, p.MIL), mean, p.AP.All)
		}
	}
	for table := 1; table <= 3; table += 2 {
		sizes, n := publishedSizes(table), 0
		for _, g := range sizes.Group {
			n += g
		}
		if n != sizes.All {
			t.Errorf("Table %d: groups of %d words in all, printed %d", table, n, sizes.All)
		}
	}
}

func TestPublished_EveryArmOfEveryTable(t *testing.T) {
	n := map[int]int{}
	for _, p := range PublishedRows() {
		n[p.Table]++
	}
	if n[1] != 9 || n[2] != 32 || n[3] != 8 {
		t.Errorf("rows %v, want 9, 2·16 and 8", n)
	}
	for _, noise := range []float64{0, .2, .4, .6, .8} {
		for _, mil := range []bool{false, true} {
			of := map[string]eval.Number{}
			for _, arm := range []string{Stage1, Baseline, nmnFI, nmnFD} {
				p, ok := publishedFor(cellKey{noise: noise, mil: mil, arm: arm}, "")
				if of[arm] = p.AP.All; !ok || !of[arm].Defined() || p.Cited {
					t.Errorf("noise %v, arm %s, MIL %v: %+v, %v", noise, arm, mil, p, ok)
				}
			}
			// The text of the paper: FD is above the baseline, and the observed prediction is below the clean one.
			if !(of[nmnFD] > of[Baseline]) {
				t.Errorf("noise %v, MIL %v: FD %v, baseline %v", noise, mil, of[nmnFD], of[Baseline])
			}
			if noise == observedNoise && !(PublishedObserved(mil) < of[nmnFD]) {
				t.Errorf("MIL %v: observed %v, clean %v", mil, PublishedObserved(mil), of[nmnFD])
			}
		}
	}
}

func TestPublished_SizesAreThoseOfTheVocabulary(t *testing.T) {
	folder := os.Getenv("NMN_DATA")
	if folder == "" {
		t.Skip("NMN_DATA is not set: the vocabulary of Fang et al. is not compared with Table 1")
	}
	v, err := text.ReadVocabulary(filepath.Join(folder, "vocab-fang2015", "vocab_words.txt"))
	check(t, err)
	sizes, counts := publishedSizes(1), v.POSCounts()
	if !slices.Equal(counts[:], sizes.Group) || v.Len() != sizes.All {
		t.Errorf("vocabulary %v, Table 1 %v", counts, sizes)
	}
}
