package misplaced

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/text"
)

// generated are the captions of 300 bags, five of each, about one of six things; two of bag 0 and 15 in 100 of the
// others are about another, and are named.
func generated(t testing.TB) (b *annotation.Bags, foreign []string) {
	t.Helper()
	things := []string{"dog grass ball park runs", "train tracks station smoke rails",
		"cake candles table knife frosting", "surfer wave board ocean wetsuit", "kitchen oven sink cabinets counter",
		"giraffe zoo fence trees neck"}
	random := rng.New(7)
	var lines strings.Builder
	lines.WriteString("sample,caption,id\n")
	for i := range 300 {
		for c := range 5 {
			about := i % 6
			if i == 0 && c < 2 || i > 0 && random.Float64() < .15 {
				about = (i + 1 + random.Intn(5)) % 6
				foreign = append(foreign, fmt.Sprintf("%d-%d", i, c))
			}
			order := []int{0, 1, 2, 3, 4}
			random.Shuffle(order)
			words := strings.Fields(things[about])
			fmt.Fprintf(&lines, "%d,a picture of %s %s %s,%d-%d\n", i, words[order[0]], words[order[1]], words[order[2]], i, c)
		}
	}
	b = expect.Value(annotation.ParseBags("g.csv", annotation.FormCSV, strings.NewReader(lines.String())))(t)
	return b, foreign
}

func TestAudit_FindsForeignCaptions(t *testing.T) {
	b, foreign := generated(t)
	o := DefaultAuditOptions()
	o.Truth = filepath.Join(t.TempDir(), "foreign.txt")
	expect.OK(t, os.WriteFile(o.Truth, []byte(strings.Join(foreign, "\n")), 0o666))
	o.Precision = .6
	r := expect.Value(Audit(t.Context(), b, o))(t)
	n, expected := r.Drops()
	if j := r.Judgement; j.Foreign != len(foreign) || !(j.AUC > .97) || !(j.Precision > .9) || !(j.Recall > .85) ||
		n == 0 || !(expected >= .6) {
		t.Errorf("%d dropped, %.3f expected; %+v", n, expected, *j)
	}
	if !r.Dropped[0][0] || !r.Dropped[0][1] || r.Dropped[0][2] {
		t.Errorf("of bag 0 are dropped %v", r.Dropped[0])
	}
	for b := range r.Dropped {
		for c, drop := range r.Dropped[b] {
			if drop != (r.Own[b][c] < r.Threshold) || drop && r.Own[b][c] >= .5 {
				t.Errorf("caption %d of bag %d with probability %.3f: dropped %v at %.3f", c, b, r.Own[b][c], drop, r.Threshold)
			}
		}
	}
	again, err := Audit(t.Context(), b, o)
	if err != nil || !reflect.DeepEqual(again.Own, r.Own) || !reflect.DeepEqual(again.Lowest(50), r.Lowest(50)) {
		t.Errorf("a second audit finds others, %v", err)
	}
	summarised(t, r)
	// The evidence against the worst captions is their words, and the words that the other captions share.
	// Nothing speaks against the best.
	worst := r.Worst(5)
	if len(worst) != 5 || len(r.Worst(-1)) != 0 {
		t.Errorf("%d and %d of the worst, want 5 and 0", len(worst), len(r.Worst(-1)))
	}
	lacks := 0
	for _, f := range worst {
		lacks += len(f.Lacks)
		if len(f.Against)+len(f.Lacks) > ReasonsShown {
			t.Errorf("%d and %d words against a caption, want %d at most", len(f.Against), len(f.Lacks), ReasonsShown)
		}
		if len(f.Against) == 0 || !slices.Contains(foreign, f.Caption) {
			t.Errorf("%+v", f)
		}
		for _, word := range f.Against {
			if !strings.Contains(f.Text, word) {
				t.Errorf("%q has no %q", f.Text, word)
			}
		}
		for _, word := range f.Lacks {
			if strings.Contains(f.Text, word) {
				t.Errorf("%q has %q", f.Text, word)
			}
		}
	}
	if lacks == 0 {
		t.Error("the worst lack nothing that the others of their bags have")
	}
	all := r.Lowest(-1)
	if len(all) != b.Len() || len(r.Lowest(3)) != 3 || len(r.Lowest(0)) != 0 || len(r.Lowest(b.Len()+1)) != b.Len() ||
		!slices.IsSortedFunc(all, func(x, y [2]int) int {
			return cmp.Compare(r.Own[x[0]][x[1]], r.Own[y[0]][y[1]])
		}) {
		t.Errorf("%d places in another order", len(all))
	}
}

// summarised compares the figures of a summary with the captions.
func summarised(t *testing.T, r *Report) {
	t.Helper()
	dropped, foreign, wrong := 0, 0.0, 0.0
	for b := range r.Own {
		for c, own := range r.Own[b] {
			foreign += 1 - own
			if r.Dropped[b][c] {
				dropped, wrong = dropped+1, wrong+1-own
			}
		}
	}
	s := r.Summary(2, nil)
	if s.Captions != 1500 || s.Bags != 300 || s.Words != r.Vocabulary.Len() || s.Precision != r.Options.Precision ||
		s.Threshold != r.Threshold || s.Refused != "" || len(s.Worst) != 2 || s.Truth != r.Judgement || s.Applied != nil {
		t.Errorf("%+v", s)
	}
	if s.Dropped != dropped || math.Abs(float64(s.ExpectedPrecision)-wrong/float64(dropped)) > 1e-12 ||
		math.Abs(float64(s.Foreign)-foreign/1500) > .02 || !(s.Gain > 0) {
		t.Errorf("%+v; %d are dropped, with probability %.3f foreign; in all %.3f are", s, dropped,
			wrong/float64(dropped), foreign/1500)
	}
	if i := s.Interval; i == nil || !(i.Low < s.Foreign && s.Foreign < i.High && i.High-i.Low < .15) {
		t.Errorf("interval %+v of %.3f", i, s.Foreign)
	}
}

// Captions of equal probability that are probably foreign are ordered by the evidence against them, per word.
// Captions of bags with hundreds of captions, and captions that are probably own, keep the order of the file.
func TestLowest_OrdersTies(t *testing.T) {
	b, _ := generated(t)
	things := []string{"dog grass ball", "train tracks smoke", "cake knife candles"}
	said := func(thing, words int) string { return strings.Join(strings.Fields(things[thing%3])[:words], " ") }
	for i := range b.Captions { // many captions, whose probabilities come from groups of similar scores
		b.Captions[i] = make([]annotation.BagCaption, 7)
	}
	b.Captions[299] = make([]annotation.BagCaption, mostOfBag+1)
	for i := range b.Captions {
		for c := range b.Captions[i] {
			b.Captions[i][c] = annotation.BagCaption{ID: fmt.Sprint(i, c), Text: said(i, 3-c%2)}
			if i%2 == 0 && c == i/2%5 || c > 7 && c%20 == 3 { // from another bag
				b.Captions[i][c].Text = said(i+1+c/20%3/2, 2+(i/6+c/20)%2)
			}
		}
	}
	r := expect.Value(Audit(t.Context(), b, DefaultAuditOptions()))(t)
	mentions := Mentions(b, r.Vocabulary)
	against := func(p [2]int) (sum float64) {
		if len(b.Captions[p[0]]) > mostOfBag {
			return 0
		}
		for _, reason := range r.Reasons(p[0], p[1], math.MaxInt) {
			sum += reason.Weight / float64(len(mentions[p[0]][p[1]]))
		}
		return sum
	}
	tied, large, own := 0, 0, 0
	all := r.Lowest(-1)
	for i, p := range all[1:] {
		before := all[i]
		inFile := before[0] < p[0] || before[0] == p[0] && before[1] < p[1]
		switch prob := r.Own[p[0]][p[1]]; {
		case r.Own[before[0]][before[1]] != prob:
			continue
		case prob >= .5:
			own++
		case len(b.Captions[p[0]]) > mostOfBag:
			large++
		case against(before) != against(p):
			inFile = against(before) < against(p)
			tied++
		}
		if !inFile {
			t.Errorf("caption %v, against which %.3f speaks, stands before %v with %.3f", before, against(before), p,
				against(p))
		}
	}
	if tied < 5 || large < 5 || own < 500 {
		t.Errorf("%d ties by words, %d in the large bag, and %d of own captions: too few to test with", tied, large, own)
	}
}

func TestAudit_ChoosesTheWords(t *testing.T) {
	b, _ := generated(t)
	o := DefaultAuditOptions()
	o.Words = 7
	r, err := Audit(t.Context(), b, o)
	if err != nil || r.Vocabulary.Len() != 7 || r.Vocabulary.Word(0).Text != "a" {
		t.Fatalf("%v, %v; want the 7 most frequent", r, err)
	}
	o.Scores = filepath.Join(t.TempDir(), "s.csv")
	expect.OK(t, os.WriteFile(o.Scores, []byte("id,dog,train\n0,.9,.1\n5,.1,.2\n"), 0o666))
	if r, err = Audit(t.Context(), b, o); err != nil || !slices.Equal(r.Vocabulary.Texts(), []string{"dog", "train"}) {
		t.Fatalf("%v; want the words of the scores", err)
	}
	if !slices.ContainsFunc(r.Remarks, func(s string) bool {
		return strings.Contains(s, "pictures without scores") &&
			strings.HasSuffix(s, ": 298")
	}) {
		t.Errorf("remarks %q", r.Remarks)
	}
	if o.Vocabulary, err = text.NewVocabulary([]text.Word{{Text: "train"}}); err != nil {
		t.Fatal(err)
	}
	if r, err = Audit(t.Context(), b, o); err != nil || r.Vocabulary.Len() != 1 || len(r.input.Scores) != 2 {
		t.Fatalf("%v; want the vocabulary that is given", err)
	}
	if o.Vocabulary, err = text.NewVocabulary([]text.Word{{Text: "zebra"}}); err != nil {
		t.Fatal(err)
	}
	o.Scores = ""
	if _, err := Audit(t.Context(), b, o); !errors.Is(err, loader.ErrAnnotations) ||
		!strings.Contains(err.Error(), "no caption has a word of the vocabulary") {
		t.Errorf("words of others: %v", err)
	}
}

func TestAudit_RefusesOptionsAndFiles(t *testing.T) {
	b, _ := generated(t)
	for _, precision := range []float64{0, -1, 1.1, math.NaN()} {
		o := DefaultAuditOptions()
		o.Precision = precision
		if _, err := Audit(t.Context(), b, o); err == nil || !strings.Contains(err.Error(), "`audit.precision`") {
			t.Errorf("precision %g: %v", precision, err)
		}
	}
	for _, set := range []func(*AuditOptions, string){
		func(o *AuditOptions, path string) { o.Scores = path + ".csv" }, func(o *AuditOptions, path string) { o.Truth = path }} {
		o := DefaultAuditOptions()
		set(&o, filepath.Join(t.TempDir(), "none"))
		if _, err := Audit(t.Context(), b, o); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file that is not there: %v", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Audit(ended, cocoBags(t), DefaultAuditOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	none := &annotation.Bags{Name: "n", IDs: []string{"a"}, Captions: make([][]annotation.BagCaption, 1)}
	if _, err := Audit(t.Context(), none, DefaultAuditOptions()); !errors.Is(err, loader.ErrAnnotations) {
		t.Errorf("no captions: %v", err)
	}
}

// Nothing that captions can be leads to a probability that is none, or to a failure.
func TestAudit_WhateverCaptionsAre(t *testing.T) {
	random := rng.New(1)
	words := strings.Fields("dog cat car tree ball man woman grass road house")
	said := func() string { return words[random.Intn(10)] + " " + words[random.Intn(10)] }
	for name, caption := range map[string]func(i int) (bag, caption string){
		"one caption a bag": func(i int) (string, string) { return fmt.Sprint(i), said() },
		"all equal":         func(i int) (string, string) { return fmt.Sprint(i / 5), "a dog runs" },
		"one bag":           func(i int) (string, string) { return "a", said() },
		"one large bag":     func(i int) (string, string) { return fmt.Sprint(max(0, i-1000) / 5), said() },
		"the same everywhere": func(i int) (string, string) {
			return fmt.Sprint(i / 5), []string{"the same", said()}[min(1, i%5)]
		},
		"nearly all empty": func(i int) (string, string) { return fmt.Sprint(i / 5), []string{"dog", ""}[min(1, i%5)] },
	} {
		b := &annotation.Bags{Name: name, Form: annotation.FormCSV}
		for i := range 1500 {
			bag, text := caption(i)
			if len(b.IDs) == 0 || b.IDs[len(b.IDs)-1] != bag {
				b.IDs, b.Files, b.Captions = append(b.IDs, bag), append(b.Files, ""), append(b.Captions, nil)
			}
			last := len(b.IDs) - 1
			b.Captions[last] = append(b.Captions[last], annotation.BagCaption{ID: fmt.Sprint(i), Text: text})
		}
		b.IDs, b.Files, b.Captions = append(b.IDs, "none"), append(b.Files, ""), append(b.Captions, nil)
		r, err := Audit(t.Context(), b, DefaultAuditOptions())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := r.Summary(3, nil)
		if n, _ := r.Drops(); r.Refusal != "" && n > 0 || s.Captions != 1500 ||
			!slices.ContainsFunc(r.Remarks, func(s string) bool { return strings.HasPrefix(s, "pictures without captions") }) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The inference's remarks come first, then those about the captions and the scores.
func TestAudit_Remarks(t *testing.T) {
	b, _ := generated(t)
	for i := range b.Captions {
		b.Captions[i] = b.Captions[i][:max(0, min(2, i-3))] // five bags have none or one
		for c := range b.Captions[i] {
			b.Captions[i][c].Text = fmt.Sprintf("%s %d", b.Captions[i][c].Text, i)
		}
	}
	b.Captions[26][0].Text = b.Captions[20][0].Text // in two bags
	for i := 9; i < 300; i += 60 {
		b.Captions[i][0].Text = fmt.Sprint("nothing of all this ", i)
	}
	o := DefaultAuditOptions()
	o.Scores = filepath.Join(t.TempDir(), "s.csv")
	scores := "id,dog,grass,ball,train,tracks,station,cake,candles,table,surfer,wave,board,kitchen,oven,sink,giraffe," +
		"zoo,fence"
	for _, id := range []string{"10", "0", "x", "y"} {
		scores += "\n" + id + strings.Repeat(",.3", 18)
	}
	expect.OK(t, os.WriteFile(o.Scores, []byte(scores), 0o666))
	r := expect.Value(Audit(t.Context(), b, o))(t)
	want := []string{
		"1 captions cannot be compared with others, and are kept",
		"pictures without captions: 4",
		"captions without a word of the vocabulary, judged only by the words that they leave out: 5",
		"pictures without scores, whose captions are compared only with each other: 298",
		"rows of scores without a picture: 2",
		"captions that occur, word for word, with more than one picture: 1",
	}
	if !slices.Equal(r.Remarks, want) {
		t.Errorf("%q, want %q", r.Remarks, want)
	}
}

func TestFingerprint_TellsTextsApart(t *testing.T) {
	// The offset of FNV-1a, and what the reference implementation has for "a".
	if a, empty := Fingerprint("a"), Fingerprint(""); a != "af63dc4c8601ec8c" || empty != "cbf29ce484222325" {
		t.Errorf("%s, %s", a, empty)
	}
}
