package captions

import (
	"cmp"
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

	"nmn/format/table"
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
	lines.WriteString("bag,caption,id\n")
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
	b, err := annotation.ParseBags("g.csv", annotation.FormCSV, strings.NewReader(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	return b, foreign
}

func TestAudit_FindsForeignCaptions(t *testing.T) {
	b, foreign := generated(t)
	o := DefaultOptions()
	o.Truth = filepath.Join(t.TempDir(), "foreign.txt")
	if err := os.WriteFile(o.Truth, []byte(strings.Join(foreign, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Precision = .6
	r, err := Audit(t.Context(), b, o)
	if err != nil {
		t.Fatal(err)
	}
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
	// What speaks against the worst are their words, and what the others have; the best have nothing against them.
	for _, f := range r.Worst(5) {
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
	all := r.Lowest(-1)
	if len(all) != b.Len() || len(r.Lowest(3)) != 3 || !slices.IsSortedFunc(all, func(x, y [2]int) int {
		return cmp.Compare(r.Own[x[0]][x[1]], r.Own[y[0]][y[1]])
	}) {
		t.Errorf("%d places in another order", len(all))
	}
}

func TestAudit_ChoosesTheWords(t *testing.T) {
	b, _ := generated(t)
	o := DefaultOptions()
	o.Words = 7
	r, err := Audit(t.Context(), b, o)
	if err != nil || r.Vocabulary.Len() != 7 || r.Vocabulary.Word(0).Text != "a" {
		t.Fatalf("%v, %v; want the 7 most frequent", r, err)
	}
	o.Scores = filepath.Join(t.TempDir(), "s.csv")
	if err := os.WriteFile(o.Scores, []byte("id,dog,train\n0,.9,.1\n5,.1,.2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err = Audit(t.Context(), b, o); err != nil || !slices.Equal(r.Vocabulary.Texts(), []string{"dog", "train"}) {
		t.Fatalf("%v; want the words of the scores", err)
	}
	if !slices.ContainsFunc(r.Remarks, func(s string) bool {
		return strings.Contains(s, "bags without scores") &&
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
		o := DefaultOptions()
		o.Precision = precision
		if _, err := Audit(t.Context(), b, o); err == nil || !strings.Contains(err.Error(), "`audit.precision`") {
			t.Errorf("precision %g: %v", precision, err)
		}
	}
	for _, set := range []func(*Options, string){
		func(o *Options, path string) { o.Scores = path + ".csv" }, func(o *Options, path string) { o.Truth = path }} {
		o := DefaultOptions()
		set(&o, filepath.Join(t.TempDir(), "none"))
		if _, err := Audit(t.Context(), b, o); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file that is not there: %v", err)
		}
	}
	none := &annotation.Bags{Name: "n", IDs: []string{"a"}, Captions: make([][]annotation.BagCaption, 1)}
	if _, err := Audit(t.Context(), none, DefaultOptions()); !errors.Is(err, loader.ErrAnnotations) {
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
		r, err := Audit(t.Context(), b, DefaultOptions())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := r.Summary(3, nil)
		if n, _ := r.Drops(); r.Refusal != "" && n > 0 || s.Captions != 1500 ||
			!slices.ContainsFunc(r.Remarks, func(s string) bool { return strings.HasPrefix(s, "bags without captions") }) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestArranged_AnyRowsAndColumns(t *testing.T) {
	m := &table.Matrix{Rows: 2, Cols: 3, Values: []float32{1, 2, 3, 4, 5, 6}}
	for _, c := range []struct {
		rows, columns []int
		want          []float32
	}{{nil, nil, m.Values}, {[]int{1}, nil, []float32{4, 5, 6}}, {nil, []int{2, 0}, []float32{3, 1, 6, 4}},
		{[]int{1, 0}, []int{1}, []float32{5, 2}}} {
		if got := arranged(m, c.rows, c.columns); !slices.Equal(got, c.want) {
			t.Errorf("rows %v, columns %v: %v", c.rows, c.columns, got)
		}
	}
}

func TestRemarks_CountWhatIsUnusual(t *testing.T) {
	b := cocoBags(t)
	b.Captions[0][2].Text = "cats sleep" // in two bags now; in one of them twice
	r := judged(b, [][]float64{{1, 1, 1}, {1, 1}, {}}, nil)
	r.input.Captions[0][0] = []int32{0}
	want := []string{"bags without captions, in which there is nothing to judge: 1",
		"captions without a word of the vocabulary, for or against which only what they leave out speaks: 4",
		"captions that stand, word for word, in more bags than one: 1"}
	if got := r.remarks(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if found := r.Worst(2); len(found) != 0 {
		t.Errorf("captions that are of their bags for sure are listed: %+v", found)
	}
}

func TestFingerprint_TellsTextsApart(t *testing.T) {
	// The offset of FNV-1a, and what the reference implementation has for "a".
	if a, empty := Fingerprint("a"), Fingerprint(""); a != "af63dc4c8601ec8c" || empty != "cbf29ce484222325" {
		t.Errorf("%s, %s", a, empty)
	}
}

func TestWriteFile_NamesTheFileThatItCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "a.csv")
	if err := smallReport(t).WriteFile(path); err == nil || !strings.Contains(err.Error(), "cannot write") ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}
