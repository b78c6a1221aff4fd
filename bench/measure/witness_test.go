package measure

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var fewCaptions = GeneratedCaptions{Bags: 400, PerBag: 5, Words: 200, Replaced: .4, Seed: 3}

func TestGeneratedCaptions_AreLikeRealOnes(t *testing.T) {
	g := fewCaptions
	g.Words, g.Scores = 1000, true
	c := g.Make()
	if err := c.Input.Check(); err != nil {
		t.Fatal(err)
	}
	mentions, frequent, kept, foreign := 0, 0, 0, 0
	for n, captions := range c.Input.Captions {
		for i, caption := range captions {
			mentions += len(caption)
			if slices.Contains(caption, 0) {
				frequent++
			}
			if c.Foreign[n][i] {
				foreign++
			} else {
				kept++
			}
		}
	}
	if mean := float64(mentions) / 2000; mean < 8 || mean > 11 {
		t.Errorf("%.1f words a caption, want 8 to 11", mean)
	}
	if foreign != 800 || kept != 1200 || frequent < 400 {
		t.Errorf("%d captions replaced, %d kept, %d with the most frequent word", foreign, kept, frequent)
	}
	if again := g.Make(); !reflect.DeepEqual(again, c) {
		t.Error("captions of the same seed differ")
	}
	g.Seed++
	if other := g.Make(); reflect.DeepEqual(other.Input.Captions, c.Input.Captions) {
		t.Error("another seed draws the same captions")
	}
}

// The measurement is printed: the captions, and how well the replaced ones are found.
func TestWitness_TellsWhatItMeasured(t *testing.T) {
	for _, scores := range []bool{false, true} {
		g := fewCaptions
		g.Scores = scores
		f, err := Witness(t.Context(), g.Make(), Options{Repeats: 3, Warmup: 1, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if f.Bags != 400 || f.Captions != 2000 || f.Words != 200 || f.Replaced != .4 || f.Scored != scores ||
			f.Threads != 1 || f.Repeats != 3 || f.Source != "generated" {
			t.Errorf("measured was %+v", f)
		}
		if !(f.MinS > 0 && f.MinS <= f.S && f.S <= f.MaxS) || math.Abs(f.CaptionsS*f.S-2000) > 1 || f.PeakMiB <= 0 {
			t.Errorf("figures %+v", f)
		}
		if f.AUC == nil || *f.AUC < .8 || f.Low == nil || *f.Low > f.Foreign || *f.High < f.Foreign || f.Refusal != "" {
			t.Errorf("found was %+v", f)
		}
	}
	g := fewCaptions
	g.Replaced = 0
	f, err := Witness(t.Context(), g.Make(), Options{Repeats: 1})
	if err != nil || f.AUC != nil || f.Replaced != 0 {
		t.Errorf("nothing replaced: %+v, %v", f, err)
	}
	g.PerBag = 1 // no other caption can agree with a single one
	if f, err = Witness(t.Context(), g.Make(), Options{Repeats: 1}); err != nil || f.Refusal == "" || f.Low != nil ||
		!strings.Contains(f.String(), "refused: "+f.Refusal) {
		t.Errorf("one caption a bag: %+v, %v", f, err)
	}
	if _, err := Witness(t.Context(), g.Make(), Options{}); !errors.Is(err, ErrRepeats) {
		t.Errorf("no runs: %v", err)
	}
}

func TestCaptions_NameWhatCannotBeMade(t *testing.T) {
	for name, g := range map[string]GeneratedCaptions{
		"one bag":     {Bags: 1, PerBag: 5, Words: 10},
		"no captions": {Bags: 10, Words: 10},
		"no words":    {Bags: 10, PerBag: 5},
		"share":       {Bags: 10, PerBag: 5, Words: 10, Replaced: 1.1},
		"NaN":         {Bags: 10, PerBag: 5, Words: 10, Replaced: math.NaN()},
		"many":        {Bags: math.MaxInt32, PerBag: 5, Words: 10},
		"scores":      {Bags: 1 << 20, PerBag: 5, Words: 1000, Scores: true},
	} {
		if g.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, c := range map[string]CaptionFile{
		"no name": {Words: 10}, "no words": {File: "c.json"}, "bags": {File: "c.json", Words: 10, Bags: -1},
		"share": {File: "c.json", Words: 10, Replaced: -.2}, "captions": {File: "c.json", Words: 10, PerBag: 256},
	} {
		if c.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	missing := CaptionFile{File: filepath.Join(t.TempDir(), "c.json"), Words: 10}
	if _, err := missing.Read(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// The limit on one core is 30 s for either. An AMD EPYC (Zen 5) takes 8 s for the number of captions in COCO,
// and 3 s for MSR-VTT.
func BenchmarkWitness(b *testing.B) {
	for name, g := range map[string]GeneratedCaptions{
		"COCO":    {Bags: 82783, PerBag: 5, Words: 1000, Replaced: .4},
		"MSR-VTT": {Bags: 7010, PerBag: 20, Words: 1000, Replaced: .4},
	} {
		b.Run(name, func(b *testing.B) {
			c := g.Make()
			for b.Loop() {
				if _, err := Witness(b.Context(), c, Options{Repeats: 1, Threads: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(g.Bags*g.PerBag)*float64(b.N)/b.Elapsed().Seconds(), "captions/s")
		})
	}
}
