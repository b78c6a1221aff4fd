package measure

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nmn/labels/misplaced"
)

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

// judge finds foreign captions in c. clean are the captions before some were replaced.
func judge(t *testing.T, c *Captions, clean [][][]int32) (f found, r *misplaced.Result) {
	t.Helper()
	r, err := misplaced.Find(t.Context(), c.Input, misplaced.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	f.foreign = r.Foreign
	f.auc = c.AUC(r)
	kept, total, keptAll, keptForeign := r.Kept(.5), 0, 0, 0
	ratios := func(use func(n int) func(int) bool) (precision, recall float64) {
		right, made, wanted := 0, 0, 0
		for n, captions := range c.Input.Captions {
			a, b, c := labelsOf(captions, clean[n], use(n))
			right, made, wanted = right+a, made+b, wanted+c
		}
		return float64(right) / float64(made), float64(right) / float64(wanted)
	}
	for n, of := range kept {
		total += len(of)
		for i, k := range of {
			if k {
				keptAll++
				if c.Foreign[n][i] {
					keptForeign++
				}
			}
		}
	}
	f.dropped, f.keptForeign = 1-float64(keptAll)/float64(total), float64(keptForeign)/float64(keptAll)
	f.precision0, f.recall0 = ratios(func(int) func(int) bool { return func(int) bool { return true } })
	f.precision, f.recall = ratios(func(n int) func(int) bool { return func(i int) bool { return kept[n][i] } })
	_, f.recallTrue = ratios(func(n int) func(int) bool { return func(i int) bool { return !c.Foreign[n][i] } })
	return f, r
}

// Foreign captions are found among real ones, from the text alone. The required figures come from a trial of
// the model, with a margin for other draws: doubtful captions fall to one side together, so that precision
// and recall trade off. If no caption was replaced, none is dropped.
func TestWitness_RealCaptions(t *testing.T) {
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("NMN_DATA names no folder with captions of COCO and MSR-VTT")
	}
	if testing.Short() {
		t.Skip("some ten seconds")
	}
	coco := filepath.Join(data, "coco-captions", "captions_restval2014_rebuilt.json.gz")
	msrvtt := filepath.Join(data, "msrvtt", "train_val_annotation.zip")
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
		c := CaptionFile{File: test.file, Bags: test.bags, Words: 1000}
		clean, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Replaced = test.replaced
		captions, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		f, r := judge(t, captions, clean.Input.Captions)
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
