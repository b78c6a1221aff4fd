package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/labels/inject"
	"nmn/labels/misplaced"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/text"
)

// realCaptions are captions of a file before and after some were replaced.
type realCaptions struct {
	classes int
	clean   [][][]int32
	noisy   [][][]int32
	foreign [][]bool // whether a caption of noisy was replaced
}

// readCaptions reads captions, 5 of each picture or 20 of each clip, as mentions of their 1,000 most frequent words. It
// reads at most this many bags, 0 for all, and replaces a share of each bag's captions.
func readCaptions(t testing.TB, path string, most int, share float64) *realCaptions {
	t.Helper()
	bags, err := annotation.ReadBags(t.Context(), path)
	expect.OK(t, err)
	perBag := 5
	if bags.Form == annotation.FormMSRVTT {
		perBag = annotation.MSRVTTCaptions
	}
	most = min(cmp.Or(most, len(bags.Captions)), len(bags.Captions))
	texts := make([][]string, most)
	for n, captions := range bags.Captions[:most] {
		for _, caption := range captions[:min(perBag, len(captions))] {
			texts[n] = append(texts[n], caption.Text)
		}
	}
	vocabulary, err := text.BuildVocabulary(slices.Values(slices.Concat(texts...)), text.VocabularyOptions{Size: 1000})
	expect.OK(t, err)
	set, err := loader.NewCaptionSet(path, bags.IDs[:most], texts, perBag, vocabulary)
	expect.OK(t, err)
	c := &realCaptions{classes: vocabulary.Len(), clean: set.Captions}
	for _, captions := range set.Captions {
		c.noisy, c.foreign = append(c.noisy, slices.Clone(captions)), append(c.foreign, make([]bool, len(captions)))
	}
	if share == 0 {
		return c
	}
	injected, err := inject.ReplaceCaptions(set, inject.Uniform, share, 0)
	expect.OK(t, err)
	for _, change := range injected.Changes {
		for _, r := range change.Captions {
			c.noisy[change.Bag][r.Slot], c.foreign[change.Bag][r.Slot] = set.Captions[r.Donor][r.DonorSlot], true
		}
	}
	return c
}

// auc is the probability that a replaced caption scores less than one that was not replaced. Ties count half. It is NaN
// unless there are both.
func (c *realCaptions) auc(r *misplaced.Result) float64 {
	counts := map[float64][2]float64{} // own and foreign captions of each probability
	for n, of := range c.foreign {
		for i, foreign := range of {
			both := counts[r.Own[n][i]]
			if foreign {
				both[1]++
			} else {
				both[0]++
			}
			counts[r.Own[n][i]] = both
		}
	}
	below, pairs, own := 0.0, 0.0, 0.0 // foreign captions below, and pairs in order
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		both := counts[p]
		pairs += both[0] * (below + both[1]/2)
		below, own = below+both[1], own+both[0]
	}
	return pairs / own / below
}

// found is what became of the captions of real data and of the labels that are made of them.
type found struct {
	foreign             float64 // share that was found
	auc                 float64
	dropped             float64 // share of the captions
	keptForeign         float64 // share of those that are kept
	precision, recall   float64 // of the labels, after
	precision0, recall0 float64 // before
	recallTrue          float64 // had all foreign captions been dropped, and no other
}

// labelsOf counts the labels that captions make and compares them with the labels of other captions: true
// labels, and all labels of both.
func labelsOf(captions, other [][]int32, use func(int) bool) (right, made, wanted int) {
	labels, clean := map[int32]bool{}, map[int32]bool{}
	for i, caption := range captions {
		if use(i) {
			for _, class := range caption {
				labels[class] = true
			}
		}
	}
	for _, caption := range other {
		for _, class := range caption {
			clean[class] = true
		}
	}
	for class := range labels {
		if clean[class] {
			right++
		}
	}
	return right, len(labels), len(clean)
}

// judge finds foreign captions in c.
func judge(t *testing.T, c *realCaptions) (f found, r *misplaced.Result) {
	t.Helper()
	r, err := misplaced.Find(t.Context(), misplaced.Input{Classes: c.classes, Captions: c.noisy},
		misplaced.DefaultOptions())
	expect.OK(t, err)
	f.foreign = r.Foreign
	f.auc = c.auc(r)
	kept, total, keptAll, keptForeign := r.Kept(.5), 0, 0, 0
	ratios := func(use func(n int) func(int) bool) (precision, recall float64) {
		right, made, wanted := 0, 0, 0
		for n, captions := range c.noisy {
			a, b, all := labelsOf(captions, c.clean[n], use(n))
			right, made, wanted = right+a, made+b, wanted+all
		}
		return float64(right) / float64(made), float64(right) / float64(wanted)
	}
	for n, of := range kept {
		total += len(of)
		for i, k := range of {
			if k {
				keptAll++
				if c.foreign[n][i] {
					keptForeign++
				}
			}
		}
	}
	f.dropped, f.keptForeign = 1-float64(keptAll)/float64(total), float64(keptForeign)/float64(keptAll)
	f.precision0, f.recall0 = ratios(func(int) func(int) bool { return func(int) bool { return true } })
	f.precision, f.recall = ratios(func(n int) func(int) bool { return func(i int) bool { return kept[n][i] } })
	_, f.recallTrue = ratios(func(n int) func(int) bool { return func(i int) bool { return !c.foreign[n][i] } })
	return f, r
}

// captionFiles are files of captions of COCO and MSR-VTT.
func captionFiles(t testing.TB) (coco, msrvtt string) {
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("NMN_DATA names no folder with captions of COCO and MSR-VTT")
	}
	return filepath.Join(data, "coco-captions", "captions_restval2014_rebuilt.json.gz"),
		filepath.Join(data, "msrvtt", "train_val_annotation.zip")
}

// BenchmarkForeignCaptions measures the times in docs/background/benchmarks.md.
func BenchmarkForeignCaptions(b *testing.B) {
	coco, msrvtt := captionFiles(b)
	for _, of := range []struct {
		file  string
		share float64
	}{{coco, .4}, {msrvtt, .4}, {msrvtt, 0}} {
		b.Run(fmt.Sprintf("%s/replaced=%g", filepath.Base(filepath.Dir(of.file)), of.share), func(b *testing.B) {
			c := readCaptions(b, of.file, 0, of.share)
			o := misplaced.DefaultOptions()
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			for b.Loop() {
				if _, err := misplaced.Find(b.Context(), misplaced.Input{Classes: c.classes, Captions: c.noisy}, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Foreign captions are found among real ones, from the text alone. The required figures come from a trial of
// the model, with a margin for other draws: doubtful captions fall to one side together, so that precision
// and recall trade off. If no caption was replaced, none is dropped.
func TestForeignCaptions_OfRealData(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	coco, msrvtt := captionFiles(t)
	for _, test := range []struct {
		file                    string
		bags                    int
		replaced                float64
		auc, precision, recall0 float64
		recall, recallTrue      float64
		refused                 bool
	}{
		{file: coco, bags: 5000},
		{file: coco, bags: 5000, replaced: .2, auc: .984, precision: .99, recall0: .89, recall: .84, recallTrue: .88},
		{file: coco, bags: 5000, replaced: .4, auc: .967, precision: .97, recall0: .77, recall: .69, recallTrue: .74},
		{file: coco, bags: 5000, replaced: .6, auc: .894, precision: .92, recall0: .64, recall: .43, recallTrue: .57},
		{file: coco, bags: 5000, replaced: .8, refused: true},
		{file: msrvtt, bags: 2000},
		{file: msrvtt, bags: 2000, replaced: .4, auc: .955, precision: .94, recall0: .8, recall: .68, recallTrue: .76},
	} {
		name := fmt.Sprintf("%s %d, %g replaced", filepath.Base(filepath.Dir(test.file)), test.bags, test.replaced)
		captions := readCaptions(t, test.file, test.bags, test.replaced)
		began := time.Now()
		f, r := judge(t, captions)
		t.Logf("%s: share %.3f (%.3f to %.3f), AUC %.3f, dropped %.4f, foreign among kept %.3f, precision of labels "+
			"%.3f > %.3f, recall %.3f > %.3f (%.3f with true flags), %.2f s, refused: %q", name,
			f.foreign, r.Interval.Low, r.Interval.High, f.auc, f.dropped, f.keptForeign,
			f.precision0, f.precision, f.recall0, f.recall, f.recallTrue, time.Since(began).Seconds(), r.Refusal)
		switch {
		case test.refused != (r.Refusal != ""):
			t.Errorf("%s: refused: %q", name, r.Refusal)
		case test.refused || test.replaced == 0:
			if f.dropped > .002 {
				t.Errorf("%s: %.2f %% of the captions are dropped", name, 100*f.dropped)
			}
		case !(f.auc > test.auc-.01 && f.precision > test.precision-.02 && f.recall > test.recall-.03 &&
			f.precision+f.recall > test.precision+test.recall-.02):
			t.Errorf("%s: AUC %.3f, precision %.3f, recall %.3f, want %+v", name, f.auc, f.precision, f.recall, test)
		case math.Abs(f.foreign-test.replaced) > .04:
			t.Errorf("%s: the share is %.3f, want %g", name, f.foreign, test.replaced)
		case math.Abs(f.recall0-test.recall0) > .02 || math.Abs(f.recallTrue-test.recallTrue) > .02:
			t.Errorf("%s: other captions than in the trial: recall %.3f before, %.3f with true flags, want %+v", name,
				f.recall0, f.recallTrue, test)
		}
	}
}
