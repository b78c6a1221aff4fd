package manifest

import (
	"slices"
	"strings"
	"testing"

	"nmn/loader"
	"nmn/text"
)

// A label that is given twice counts once, wherever it stands in the list.
func TestParse_LabelsCountOnce(t *testing.T) {
	m := parsed(t, "path,labels,split\na,dog;cat;dog,train\nb,cat;dog;ape;cat,train\n")
	for i, want := range [][]int32{{0, 1}, {0, 1, 2}} {
		if got := m.Rows[i].Labels; !slices.Equal(got, want) {
			t.Errorf("row %d has the labels %d, want %d", i+1, got, want)
		}
	}
	v, err := m.Vocabulary(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range v.Words() {
		if want := map[string]int{"cat": 2, "dog": 2, "ape": 1}[w.Text]; w.Count != want {
			t.Errorf("%q is on %d rows, want %d", w.Text, w.Count, want)
		}
	}
}

func TestParse_SaysWhichRowLacksASplit(t *testing.T) {
	for content, want := range map[string]string{
		"path,labels,split\na,dog,train\nb,dog,\n": "line 2 has a split and line 3 has none",
		"path,labels,split\na,dog,\nb,dog,test\n":  "line 3 has a split and line 2 has none",
		"path,labels,split\na,dog,x\n":             `"x" is no split`,
	} {
		if m, err := parseText("m.csv", content, Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", content, m, err, want)
		}
	}
}

func TestManifest_AssignsRowsToSplits(t *testing.T) {
	m := parsed(t, "path,labels\na,dog\nb,cat\nc,ape\n")
	if m.HasSplits() {
		t.Error("splits that nobody has given")
	}
	m.Assign(loader.ValidationSplit, []string{"a", "c"})
	m.Assign(loader.TrainSplit, []string{"b", "none"})
	var got []string
	for _, r := range m.Rows {
		got = append(got, r.ID+" "+r.Split)
	}
	if want := []string{"a validate", "b train", "c validate"}; !slices.Equal(got, want) || !m.HasSplits() {
		t.Errorf("rows %q, want %q", got, want)
	}
	// The vocabulary comes from the training rows, though others come first.
	if v, err := m.Vocabulary(10, 1); err != nil || v.Len() != 1 || v.Word(0).Text != "cat" {
		t.Errorf("words %v, %v", v, err)
	}
}

// Every row has its labels, truth and counts in its own place of the matrices.
func TestManifest_MatricesRowByRow(t *testing.T) {
	m := parsed(t, "path,labels,split,truth,counts\na,dog,test,cat,dog:4\nb,cat;dog,test,-,cat:1;dog:5\n"+
		"c,-,train,-,-\nd,ape;cat,test,dog,ape:9;cat:2\n")
	v, err := text.NewVocabulary([]text.Word{{Text: "cat"}, {Text: "dog"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Set(loader.TestSplit, v, 9, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ got, want []uint8 }{
		"labels": {s.Labels.Uint8s(), []uint8{0, 1, 1, 1, 1, 0}},
		"truth":  {s.Truth.Uint8s(), []uint8{1, 0, 0, 0, 0, 1}},
		"counts": {s.Counts.Uint8s(), []uint8{0, 4, 1, 5, 2, 0}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s %d, want %d", name, c.got, c.want)
		}
	}
}

// Only the labels on the most rows become classes if the size does not admit all.
func TestManifest_VocabularyOfASize(t *testing.T) {
	m := parsed(t, "path,labels,split\na,emu;dog,train\nb,dog;ape,train\nc,dog;ape,train\n")
	for size, want := range map[int]string{1: "dog", 2: "dog ape", 3: "dog ape emu", 9: "dog ape emu"} {
		v, err := m.Vocabulary(size, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range v.Words() {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d words: %q, want %q", size, got, want)
		}
	}
}

// The column of the pictures may have any name if the user names it.
func TestParse_PathColumnThatIsChosen(t *testing.T) {
	for content, o := range map[string]Options{
		"Foto,label\na.jpg,dog\n":                        {PathColumn: "Foto"},
		"file,image,label\nx,a.jpg,dog\n":                {PathColumn: "image"},
		"path,thumb,label\nx,a.jpg,dog\n":                {PathColumn: "thumb"},
		"{\"Foto\": \"a.jpg\", \"label\": [\"dog\"]}":    {PathColumn: "Foto"},
		"{\"path\": 1, \"Foto\": \"a.jpg\", \"y\": [1]}": {PathColumn: "Foto"},
	} {
		m, err := parseText("m.csv", content, o)
		if err != nil || m.Rows[0].ID != "a.jpg" || len(m.Rows[0].Labels) != 1 {
			t.Errorf("%q: %+v, %v", content, m, err)
		}
		o.PathColumn = "foto"
		if _, err := parseText("m.csv", content, o); err == nil ||
			!strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "\"foto\" (`data.path_column`)") {
			t.Errorf("%q: %v does not name the column that is not there", content, err)
		}
	}
}
