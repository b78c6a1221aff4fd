package inject

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels"
	"nmn/loader"
	"nmn/text"
)

// vocabularyOf makes a vocabulary of nouns.
func vocabularyOf(t testing.TB, words ...string) *text.Vocabulary {
	t.Helper()
	list := make([]text.Word, len(words))
	for i, w := range words {
		list[i] = text.Word{Text: w, POS: text.NN}
	}
	return expect.Value(text.NewVocabulary(list))(t)
}

// captionSet makes a set of n bags whose captions name words in a fixed pattern.
func captionSet(t testing.TB, n, perBag int) *loader.Set {
	t.Helper()
	words := []string{"dog", "cat", "red", "run", "park", "ball"}
	ids, captions := make([]string, n), make([][]string, n)
	for i := range ids {
		ids[i] = "bag" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		for c := range perBag {
			captions[i] = append(captions[i], words[(i*7+c*3)%6]+" and "+words[(i+c)%6]+" #")
		}
	}
	return expect.Value(loader.NewCaptionSet("pattern", ids, captions, perBag, vocabularyOf(t, words...)))(t)
}

func mustReplace(t testing.TB, s *loader.Set, n int, seed uint64) *Injection {
	t.Helper()
	return mustDraw(t, s, Uniform, float64(n)/float64(s.CaptionsPerSample), seed)
}

func mustDraw(t testing.TB, s *loader.Set, kind Kind, share float64, seed uint64) *Injection {
	t.Helper()
	return expect.Value(ReplaceCaptions(s, kind, share, seed))(t)
}

func mustFlip(t testing.TB, s *loader.Set, rates labels.Rates, seed uint64) *Injection {
	t.Helper()
	return expect.Value(FlipLabels(s, rates, seed))(t)
}

func mustApply(t testing.TB, noise *Injection, s *loader.Set) *loader.Set {
	t.Helper()
	return expect.Value(noise.Apply(s))(t)
}

func TestReplaceCaptions_ReplacesNSlotsByOriginalCaptionsOfOthers(t *testing.T) {
	s := captionSet(t, 40, 5)
	for n := 1; n <= 5; n++ {
		noise := mustReplace(t, s, n, 3)
		if len(noise.Changes) != 40 || noise.Share != float64(n)/5 {
			t.Fatalf("%d bags changed, a share of %g", len(noise.Changes), noise.Share)
		}
		noisy := mustApply(t, noise, s)
		for i, change := range noise.Changes {
			if change.Bag != i || len(change.Captions) != n {
				t.Fatalf("change %d: bag %d, %d captions replaced, want %d", i, change.Bag, len(change.Captions), n)
			}
			captions := slices.Clone(s.Captions[i])
			for j, r := range change.Captions {
				if r.Donor == i || j > 0 && r.Slot <= change.Captions[j-1].Slot {
					t.Fatalf("bag %d: %+v", i, change.Captions)
				}
				captions[r.Slot] = s.Captions[r.Donor][r.DonorSlot]
			}
			want := make([]uint8, 6)
			for _, words := range captions {
				for _, k := range words {
					want[k] = 1
				}
			}
			if got := noisy.Labels.Uint8s()[i*6 : i*6+6]; !bytes.Equal(got, want) {
				t.Fatalf("bag %d: labels %v, want %v", i, got, want)
			}
			if got := noisy.CaptionsInUse[i]; !reflect.DeepEqual(got, captions) {
				t.Fatalf("bag %d: captions %v, want %v", i, got, captions)
			}
		}
	}
}

func TestReplaceCaptions_DrawsSlotsAndDonorsEvenly(t *testing.T) {
	s := captionSet(t, 20, 5)
	slots, donors, donorSlots := [5]int{}, [20]int{}, [5]int{}
	for seed := range uint64(500) {
		for _, change := range mustReplace(t, s, 2, seed).Changes {
			for _, r := range change.Captions {
				slots[r.Slot]++
				donors[r.Donor]++
				donorSlots[r.DonorSlot]++
			}
		}
	}
	near := func(what string, counts []int) {
		for i, n := range counts { // 20,000 draws
			want := 20000 / float64(len(counts))
			if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
				t.Errorf("%s %d was drawn %d times, want about %.0f", what, i, n, want)
			}
		}
	}
	near("slot", slots[:])
	near("donor", donors[:])
	near("slot of the donor", donorSlots[:])
}

func TestReplaceCaptions_UnevenBags(t *testing.T) {
	captions := [][]string{{"dog"}, {}, {"cat", "red", "dog"}}
	s := expect.Value(loader.NewCaptionSet("s", []string{"1", "2", "3"}, captions, 5,
		vocabularyOf(t, "dog", "cat", "red")))(t)
	noise := mustReplace(t, s, 2, 1)
	if len(noise.Changes) != 2 || len(noise.Changes[0].Captions) != 1 || len(noise.Changes[1].Captions) != 2 {
		t.Errorf("changes %+v", noise.Changes)
	}
	noisy := mustApply(t, noise, s)
	if got := noisy.Labels.Uint8s()[3:6]; !bytes.Equal(got, []uint8{0, 0, 0}) {
		t.Errorf("the bag without captions got the labels %v", got)
	}
}

func TestNoise_DoesNotDependOnThreads(t *testing.T) {
	s := captionSet(t, 300, 5)
	one := func() ([]BagChanges, []BagChanges, []uint8) {
		c, f := mustReplace(t, s, 2, 9), mustFlip(t, s, uniformRates(.3, .1), 9)
		return c.Changes, f.Changes, mustApply(t, c, s).Labels.Uint8s()
	}
	c1, f1, z1 := one()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c2, f2, z2 := one()
	if !reflect.DeepEqual(c1, c2) || !reflect.DeepEqual(f1, f2) || !bytes.Equal(z1, z2) {
		t.Error("one thread gives other noise")
	}
	if c3 := mustReplace(t, s, 2, 10); reflect.DeepEqual(c1, c3.Changes) {
		t.Error("another seed gives the same noise")
	}
}

func TestNoise_ApplyChangesLabelsAlone(t *testing.T) {
	s := captionSet(t, 30, 5)
	before := slices.Clone(s.Labels.Uint8s())
	for _, noise := range []*Injection{mustReplace(t, s, 4, 1), mustFlip(t, s, uniformRates(.5, .5), 1)} {
		noisy := mustApply(t, noise, s)
		if bytes.Equal(noisy.Labels.Uint8s(), before) || !bytes.Equal(s.Labels.Uint8s(), before) {
			t.Errorf("%s: the noisy set is unchanged or the clean one is not", noise.Kind)
		}
		if noisy.Counts != s.Counts || !reflect.DeepEqual(noisy.Captions, s.Captions) || noisy.Len() != s.Len() {
			t.Errorf("%s: more than the labels changed", noise.Kind)
		}
		if (noisy.CaptionsInUse == nil) != (noise.Kind == Flips) || s.CaptionsInUse == nil {
			t.Errorf("%s: labels come from captions: %t", noise.Kind, noisy.CaptionsInUse != nil)
		}
	}
	noise := mustReplace(t, s, 2, 1)
	once := mustApply(t, noise, s)
	if twice := mustApply(t, noise, once); !bytes.Equal(once.Labels.Uint8s(), twice.Labels.Uint8s()) {
		t.Error("caption noise applied twice is not the noise applied once")
	}
	flips := mustFlip(t, s, uniformRates(.5, .5), 1)
	if _, err := flips.Apply(mustApply(t, flips, s)); !errors.Is(err, ErrOtherSet) {
		t.Errorf("flips were applied to flipped labels: %v", err)
	}
}

func TestFlipLabels_RatesAreMet(t *testing.T) {
	s := captionSet(t, 6000, 2)
	missing, incorrect := []float64{.1, .2, .3, .4, .5, 0}, []float64{0, .5, .05, 1, .2, .3}
	noisy := mustApply(t, mustFlip(t, s, labels.Rates{Q01: missing, Q10: incorrect}, 4), s)
	stats := expect.Value(Measure(t.Context(), s, noisy))(t)
	for k, c := range stats.Classes {
		if math.Abs(float64(c.Q01)-missing[k]) > .035 || math.Abs(float64(c.Q10)-incorrect[k]) > .035 {
			t.Errorf("class %d: q01 %.3f and q10 %.3f, want %g and %g", k, c.Q01, c.Q10, missing[k], incorrect[k])
		}
	}
}

func TestFlipLabels_LargerRatesKeepTheFlipsOfSmallerOnes(t *testing.T) {
	s := captionSet(t, 100, 2)
	few, many := mustFlip(t, s, uniformRates(.1, .1), 2), mustFlip(t, s, uniformRates(.3, .2), 2)
	all := map[[2]int]bool{}
	for _, c := range many.Changes {
		for _, k := range c.Flips {
			all[[2]int{c.Bag, k}] = true
		}
	}
	n := 0
	for _, c := range few.Changes {
		for _, k := range c.Flips {
			n++
			if !all[[2]int{c.Bag, k}] {
				t.Fatalf("bag %d, class %d is flipped at the smaller rates alone", c.Bag, k)
			}
		}
	}
	if n == 0 {
		t.Error("nothing was flipped")
	}
}

func TestNoise_RefusesBadRequests(t *testing.T) {
	s := captionSet(t, 4, 5)
	bare := *s
	bare.Captions = nil
	alone := captionSet(t, 1, 5)
	calls := map[string]func() error{
		"flip labels instead":     func() error { _, err := ReplaceCaptions(&bare, Uniform, .2, 1); return err },
		"a share of 1.2":          func() error { _, err := ReplaceCaptions(s, Uniform, 1.2, 1); return err },
		"a share of 0 ":           func() error { _, err := ReplaceCaptions(s, Pair, 0, 1); return err },
		"above 0 and at most 1":   func() error { _, err := ReplaceCaptions(s, Uneven, 0, 1); return err },
		"a share of NaN cannot":   func() error { _, err := ReplaceCaptions(s, Shift, math.NaN(), 1); return err },
		"want uniform, uneven":    func() error { _, err := ReplaceCaptions(s, Flips, .2, 1); return err },
		"only 1 samples have any": func() error { _, err := ReplaceCaptions(alone, Uniform, .2, 1); return err },
		"Missing[0] = NaN":        func() error { _, err := FlipLabels(s, uniformRates(math.NaN(), 0), 1); return err },
		"Incorrect[0] = 1.5":      func() error { _, err := FlipLabels(s, uniformRates(0, 1.5), 1); return err },
		"Missing has 2 entries": func() error {
			_, err := FlipLabels(s, labels.Rates{Q01: []float64{0, 0}}, 1)
			return err
		},
		"multiples of 0.2":  func() error { _, err := ReplaceCaptions(s, Similar, .5, 1); return err },
		"a share of NaN is": func() error { _, err := ReplaceCaptions(s, Uniform, math.NaN(), 1); return err },
		"the set has no labels": func() error {
			_, err := FlipLabels(&loader.Set{Name: "x", Vocabulary: s.Vocabulary}, labels.Rates{}, 1)
			return err
		},
		"the set has no vocabulary": func() error {
			_, err := Measure(t.Context(), &loader.Set{Name: "x"}, s)
			return err
		},
		"pattern is 4 × 6": func() error { _, err := Measure(t.Context(), captionSet(t, 3, 5), s); return err },
		"labels are uint8 (2, 12)": func() error {
			c := *s
			c.Labels = loader.Matrix(make([]uint8, 24), 12)
			_, err := FlipLabels(&c, labels.Rates{}, 1)
			return err
		},
		"of sample 1, class 2 is 7": func() error {
			c := *s
			c.Labels = loader.Matrix(make([]uint8, 24), 6)
			c.Labels.Uint8s()[8] = 7
			_, err := FlipLabels(&c, labels.Rates{}, 1)
			return err
		},
		"must end in .csv or .json": func() error {
			return new(Statistics).WriteFile(filepath.Join(t.TempDir(), "s.txt"))
		},
		"mentions class 6 of 6": func() error {
			c := *s
			c.Captions = [][][]int32{{{1}}, {{6}}, {}, {}}
			_, err := ReplaceCaptions(&c, Uniform, .2, 1)
			return err
		},
		"captions of 1 of 4 samples": func() error {
			c := *s
			c.Captions = c.Captions[:1]
			_, err := ReplaceCaptions(&c, Uniform, .2, 1)
			return err
		},
		"cannot write \"": func() error {
			return new(Injection).WriteFile(filepath.Join(t.TempDir(), "none", "n"))
		},
	}
	for want, call := range calls {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for share, want := range map[float64]int{.2: 1, .4: 2, .6: 3, .8: 4, 1: 5} {
		if n, err := captionsForShare(s, share); err != nil || n != want {
			t.Errorf("share %g: %d captions, %v; want %d", share, n, err, want)
		}
	}
	s.CaptionsPerSample = 20
	for share, want := range map[float64]int{.05: 1, .4: 8, .95: 19} {
		if n, err := captionsForShare(s, share); err != nil || n != want {
			t.Errorf("share %g of 20: %d captions, %v; want %d", share, n, err, want)
		}
	}
}

func TestStatistics_CountsAndRates(t *testing.T) {
	v := vocabularyOf(t, "dog", "cat", "none")
	clean := &loader.Set{Name: "clean", Vocabulary: v, IDs: []string{"a", "b", "c", "d"},
		Labels: loader.Matrix([]uint8{1, 0, 0 /**/, 1, 1, 0 /**/, 0, 1, 0 /**/, 0, 1, 0}, 3)}
	noisy := &loader.Set{Name: "noisy", Vocabulary: v, IDs: clean.IDs,
		Labels: loader.Matrix([]uint8{1, 1, 0 /**/, 0, 1, 0 /**/, 1, 1, 0 /**/, 0, 0, 0}, 3)}
	s, err := Measure(t.Context(), clean, noisy)
	expect.OK(t, err)
	dog, cat, none := s.Classes[0], s.Classes[1], s.Classes[2]
	if dog.Bags != [2][2]int{{1, 1}, {1, 1}} || cat.Bags != [2][2]int{{0, 1}, {1, 2}} ||
		none.Bags != [2][2]int{{4, 0}, {0, 0}} {
		t.Errorf("counts %v %v %v", dog.Bags, cat.Bags, none.Bags)
	}
	if dog.Q01 != .5 || dog.Q10 != .5 || dog.Prevalence != .5 || dog.Wrong != .5 || cat.Q10 != 1 ||
		cat.Prevalence != .75 || cat.Observed != .75 {
		t.Errorf("rates %+v %+v", dog, cat)
	}
	if math.Abs(float64(cat.Q01)-1./3) > 1e-12 || cat.T[1][1]+cat.T[0][1] != 1 {
		t.Errorf("cat %+v", cat)
	}
	if !math.IsNaN(float64(none.Q01)) || none.Q10 != 0 || s.Reference != "labels" {
		t.Errorf("a word that no bag has: %+v against %s", none, s.Reference)
	}
	if s.All.Bags != [2][2]int{{5, 2}, {2, 3}} || math.Abs(float64(s.Mean.Q01)-(.5+1./3)/2) > 1e-12 ||
		math.Abs(float64(s.Mean.Q10)-.5) > 1e-12 {
		t.Errorf("all %+v, mean %+v", s.All, s.Mean)
	}
	clean.Truth = noisy.Labels
	if s, err = Measure(t.Context(), clean, noisy); err != nil || s.Reference != "truth" || s.All.Q01 != 0 ||
		s.All.Q10 != 0 {
		t.Errorf("against the truth: %+v, %v", s, err)
	}
}

func TestStatistics_WriteAndReadAsRates(t *testing.T) {
	s := captionSet(t, 50, 5)
	stats := expect.Value(Measure(t.Context(), s, mustApply(t, mustReplace(t, s, 2, 1), s)))(t)
	dir := t.TempDir()
	table, object := filepath.Join(dir, "s.csv"), filepath.Join(dir, "s.json")
	expect.OK(t, errors.Join(stats.WriteFile(table), stats.WriteFile(object)))
	rates := expect.Value(ReadFlipRates(table, s.Vocabulary))(t)
	for k, c := range stats.Classes {
		if want := float64(c.Q01); !math.IsNaN(want) && math.Abs(rates.Q01[k]-want) > 1e-6 {
			t.Errorf("class %d: %g, want %g", k, rates.Q01[k], want)
		}
		if want := float64(c.Q10); !math.IsNaN(want) && math.Abs(rates.Q10[k]-want) > 1e-6 {
			t.Errorf("class %d: %g, want %g", k, rates.Q10[k], want)
		}
	}
	var back map[string]any
	if b, _ := os.ReadFile(object); json.Unmarshal(b, &back) != nil || back["reference"] != "labels" ||
		len(back["classes"].([]any)) != 6 {
		t.Errorf("JSON %s", b)
	}
}

func TestParseFlipRates_RefusesBadTables(t *testing.T) {
	v := vocabularyOf(t, "dog", "cat")
	rates, err := parseFlipRates("r", strings.NewReader("\ufeffq10,x,Class,q01\n.5,,cat,\n"), v)
	if err != nil || !reflect.DeepEqual(rates, labels.Rates{Q01: []float64{0, 0}, Q10: []float64{0, .5}}) {
		t.Errorf("%v, %v", rates, err)
	}
	for in, want := range map[string]string{
		"": "line 1: the file is empty", "\n\n": "the file is empty", "class,q01\n": "lacks one of the columns",
		"class,q01,q10\nbird,0,0\n":         `line 2: "bird" is not one of the classes`,
		"class,q01,q10\ndog,0,0\ndog,0,0\n": `line 3: "dog" has a line already`,
		"class,q01,q10\ndog,2,0\n":          `line 2: class "dog": q01 is "2"`,
		"class,q01,q10\ndog,NaN,0\n":        `line 2: class "dog": q01 is "NaN"`,
		"class,q01,q10\ndog,0\n":            "wrong number of fields", "class,q01,q10\n\"dog,0\n": "line",
	} {
		if _, err := parseFlipRates("r", strings.NewReader(in), v); !errors.Is(err, loader.ErrAnnotations) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", in, err, want)
		}
	}
}

func TestNoise_FileReadsBack(t *testing.T) {
	s := captionSet(t, 60, 5)
	for _, noise := range []*Injection{mustReplace(t, s, 3, math.MaxUint64), mustFlip(t, s, uniformRates(.2, .05), 1),
		mustFlip(t, s, labels.Rates{}, 1)} {
		for _, name := range []string{"n.jsonl", "n.jsonl.gz"} {
			path := filepath.Join(t.TempDir(), name)
			expect.OK(t, noise.WriteFile(path))
			got := expect.Value(Read(t.Context(), path, s))(t)
			if len(noise.Changes) == 0 {
				noise.Changes, got.Changes = nil, nil
			}
			if !reflect.DeepEqual(got, noise) {
				t.Errorf("%s: read back\n%+v\nwant\n%+v", name, got, noise)
			}
		}
	}
}

func noiseText(t testing.TB, noise *Injection) string {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, noise.write(&b))
	return b.String()
}

func TestParse_NamesThePlaceOfAnError(t *testing.T) {
	s := captionSet(t, 10, 5)
	captions, flips := noiseText(t, mustReplace(t, s, 1, 1)), noiseText(t, mustFlip(t, s, uniformRates(1, 1), 1))
	lines := strings.SplitAfter(captions, "\n")
	second := func(line string) string { return lines[0] + line + "\n" + strings.Join(lines[2:], "") }
	cases := map[string]struct{ in, want string }{
		"empty":          {"", "line 1: the file is empty"},
		"not JSON":       {"hello\n", "line 1: not the header"},
		"another format": {`{"format": "x"}`, `line 1: format is "x"`},
		"a later version": {strings.Replace(captions, `"version":1`, `"version":2`, 1),
			"version 2, this program reads 1"},
		"an unknown kind":  {strings.Replace(captions, `"kind":"captions"`, `"kind":"x"`, 1), `unknown kind "x"`},
		"too many changes": {strings.Replace(captions, `"changes":10`, `"changes":11`, 1), "11 changes of 10 samples"},
		"cut between lines": {strings.Join(lines[:6], ""),
			"line 6: the file ends after 5 of 10 changes: it is truncated"},
		"cut in a line":      {captions[:len(captions)-10], "line 11: not a change of a sample"},
		"a line too many":    {captions + lines[1], "line 12: more than the 10 changes"},
		"bag missing":        {second(`{"captions":[[0,1,1]]}`), `line 2: "sample" is missing`},
		"bag out of range":   {second(`{"sample":10,"captions":[[0,1,1]]}`), "line 2: sample 10 is outside 0 to 9"},
		"bag negative":       {second(`{"sample":-1,"captions":[[0,1,1]]}`), "sample -1 is outside"},
		"bags not ascending": {second(`{"sample":1,"captions":[[0,2,1]]}`), "line 3: sample 1 follows sample 1"},
		"slot out of range":  {second(`{"sample":0,"captions":[[5,1,1]]}`), "replaced caption 5"},
		"slot twice":         {second(`{"sample":0,"captions":[[1,1,1],[1,2,1]]}`), "replaced caption 1 follows 1"},
		"own caption":        {second(`{"sample":0,"captions":[[0,0,1]]}`), "donor 0 is not another sample"},
		"donor out of range": {second(`{"sample":0,"captions":[[0,10,1]]}`), "donor 10 is not another sample"},
		"donor slot":         {second(`{"sample":0,"captions":[[0,1,5]]}`), "caption 5 of donor 1, which has 5"},
		"two numbers":        {second(`{"sample":0,"captions":[[0,1]]}`), "want [slot, donor, donor's slot]"},
		"a flip":             {second(`{"sample":0,"flips":[1]}`), `noise of kind "captions" wants "captions"`},
		"an unknown field":   {second(`{"sample":0,"captions":[[0,1,1]],"x":1}`), "unknown field"},
		"something behind":   {second(`{"sample":0,"captions":[[0,1,1]]} {}`), "something follows"},
		"class out of range": {strings.Replace(flips, `[0,1,2,3,4,5]`, `[0,1,2,3,4,6]`, 1), "flipped class 6"},
		"rates":              {strings.Replace(flips, `"missing":[1]`, `"missing":[3]`, 1), "Missing[0] = 3"},
		"an endless line":    {lines[0] + strings.Repeat(" ", 9<<20), "longer than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parse("n.jsonl", strings.NewReader(c.in), s)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"n.jsonl"`) {
				t.Fatalf("error %v, want one with n.jsonl and %q", err, c.want)
			}
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%v does not wrap ErrAnnotations", err)
			}
		})
	}
}

func TestApply_RefusesASetWithoutCaptions(t *testing.T) {
	s := captionSet(t, 10, 5)
	noise := mustReplace(t, s, 1, 1)
	s.Captions = nil
	if _, err := noise.Apply(s); !errors.Is(err, ErrOtherSet) {
		t.Errorf("error %v", err)
	}
}

func TestParse_RefusesAnotherSet(t *testing.T) {
	s := captionSet(t, 10, 5)
	captions, flips := noiseText(t, mustReplace(t, s, 1, 1)), noiseText(t, mustFlip(t, s, uniformRates(.5, .5), 1))
	backwards := expect.Value(loader.Subset(s, "backwards", []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}))(t)
	for _, in := range []string{captions, flips} {
		for _, other := range []*loader.Set{captionSet(t, 11, 5), backwards} {
			if _, err := parse("n", strings.NewReader(in), other); !errors.Is(err, ErrOtherSet) ||
				!errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%s: %v", other.Name, err)
			}
		}
	}
	// The captions to replace are the same under another vocabulary; the labels to flip are not.
	small := *s
	small.Vocabulary = vocabularyOf(t, "dog", "bird", "red", "run", "park", "ball")
	if _, err := parse("n", strings.NewReader(captions), &small); err != nil {
		t.Errorf("caption noise under another vocabulary: %v", err)
	}
	ids, texts := s.IDs, make([][]string, s.Len())
	for i := range texts {
		texts[i] = []string{"a zebra", "dog", "", "", ""}
	}
	larger, err := loader.NewCaptionSet("larger", ids, texts, 5,
		vocabularyOf(t, "a", "dog", "c", "d", "e", "f", "g", "zebra"))
	expect.OK(t, err)
	noise := expect.Value(parse("n", strings.NewReader(captions), larger))(t)
	if z := mustApply(t, noise, larger).Labels; z.Shape()[1] != 8 || len(z.Uint8s()) != 80 {
		t.Errorf("noise under a vocabulary of 8 words gives labels %v", z.Shape())
	}
	if _, err := parse("n", strings.NewReader(flips), &small); !errors.Is(err, ErrOtherSet) {
		t.Errorf("flips under another vocabulary: %v", err)
	}
}

func TestRead_TruncatedGzip(t *testing.T) {
	s := captionSet(t, 200, 5)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	expect.OK(t, mustReplace(t, s, 2, 1).write(z))
	z.Close()
	path := filepath.Join(t.TempDir(), "n.jsonl.gz")
	expect.OK(t, os.WriteFile(path, b.Bytes()[:b.Len()/2], 0o644))
	_, err := Read(t.Context(), path, s)
	if !errors.Is(err, loader.ErrAnnotations) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	s := captionSet(f, 4, 3)
	f.Add([]byte(noiseText(f, mustReplace(f, s, 2, 1))))
	f.Add([]byte(noiseText(f, mustFlip(f, s, uniformRates(.5, .5), 1))))
	f.Add([]byte(`{"format":"nmn-noise","version":1,"kind":"flips","seed":"1","samples":4,"classes":6,"changes":4}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		noise, err := parse("fuzz", bytes.NewReader(in), s)
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Fatalf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		if _, err := noise.Apply(s); err != nil {
			t.Fatalf("noise that was read cannot be applied: %v", err)
		}
		if _, err := parse("again", strings.NewReader(noiseText(t, noise)), s); err != nil {
			t.Fatalf("noise written and read back: %v", err)
		}
	})
}

func FuzzParseFlipRates(f *testing.F) {
	for _, in := range []string{"class,q01,q10\ndog,.1,.2\n", "q10,class,q01,x\n,cat,1,\n", "class,q01,q10\n\"dog", ""} {
		f.Add([]byte(in))
	}
	v := vocabularyOf(f, "dog", "cat")
	f.Fuzz(func(t *testing.T, in []byte) {
		rates, err := parseFlipRates("fuzz", bytes.NewReader(in), v)
		if err == nil {
			err = checkFlipRates(rates, 2)
		} else if errors.Is(err, loader.ErrAnnotations) {
			err = nil
		}
		expect.OK(t, err)
	})
}

func TestRandomRates_AroundTheirMeans(t *testing.T) {
	const classes = 4000
	r := RandomRates(classes, .3, .1, .5, 7)
	expect.OK(t, checkFlipRates(r, classes))
	for name, side := range map[string]struct {
		rates []float64
		mean  float64
	}{"missing": {r.Q01, .3}, "incorrect": {r.Q10, .1}} {
		sum := 0.0
		for _, v := range side.rates {
			sum += v
		}
		low, high := slices.Min(side.rates), slices.Max(side.rates)
		if math.Abs(sum/classes/side.mean-1) > .02 || low < .5*side.mean || low > .51*side.mean ||
			high > 1.5*side.mean || high < 1.49*side.mean {
			t.Errorf("%s: mean %v, from %v to %v", name, sum/classes, low, high)
		}
	}
	if wider := RandomRates(10, .3, .1, .5, 7); !slices.Equal(wider.Q01, r.Q01[:10]) {
		t.Error("the rates of a class depend on the number of classes")
	}
	if other := RandomRates(10, .3, .1, .5, 8); slices.Equal(other.Q01, r.Q01[:10]) {
		t.Error("another seed gives the same rates")
	}
	if r := RandomRates(3, .9, 0, .5, 1); slices.Max(r.Q01) > 1 || slices.Max(r.Q10) != 0 {
		t.Errorf("%+v", r)
	}
	if r := RandomRates(3, .2, .1, 0, 1); !slices.Equal(r.Q01, []float64{.2, .2, .2}) {
		t.Errorf("without spread: %+v", r)
	}
}
