package features

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// shown are the labels of all rows by name.
func shown(l *Labels) string {
	var rows []string
	for row := range slices.Chunk(l.Values, len(l.Words)) {
		var names []string
		for k, v := range row {
			if v == 1 {
				names = append(names, l.Words[k])
			}
		}
		rows = append(rows, strings.Join(names, ";"))
	}
	return strings.Join(rows, " ")
}

// The number of each row's class, as scikit-learn and cleanlab have it, is a label of its own.
func TestOpen_NumbersOfClasses(t *testing.T) {
	x := file(t, "x.npy", npyFile("<f4", "(4, 1)", []float32{1, 2, 3, 4}))
	vector := file(t, "y.npy", npyFile("<i8", "(4,)", []int64{2, 0, 10, 2}))
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"a vector": {Options{Features: x, Labels: vector}, "2 0 10 2"},
		"with words": {Options{Features: x, Labels: vector,
			Words: strings.Fields("a b c d e f g h i j k")}, "c a k c"},
		"words that are numbers": {Options{Features: x, Labels: vector, Words: []string{"10", "0", "2"}}, "2 0 10 2"},
		"in a file of their own": {Options{Features: x, Labels: file(t, "y.csv", []byte("label\n2\n0\n10\n2\n"))},
			"2 0 10 2"},
		"a column of CSV": {Options{Features: file(t, "x.csv",
			[]byte("a,label,b\n1,2,3\n1,0.0,5\n1,10,3\n1,2,9\n"))}, "2 0 10 2"},
		"names in such a file": {Options{Features: file(t, "x.csv", []byte("a,Class\n1,dog\n2,cat\n3,\n"))}, "dog cat "},
		"a column of Parquet": {Options{Features: parquetFile(t, []struct {
			A     float32 `parquet:"a"`
			Label int64   `parquet:"label"`
		}{{1, 3}, {2, 7}})}, "3 7"},
		"names in Parquet": {Options{Features: parquetFile(t, []struct {
			A     float32 `parquet:"a"`
			Label string  `parquet:"label"`
		}{{1, "dog"}, {2, "cat"}})}, "dog cat"},
	} {
		table := mustOpen(t, c.o)
		if table.Labels == nil || shown(table.Labels) != c.want {
			t.Errorf("%s: %+v, want %s", name, table.Labels, c.want)
		}
		if w := table.Rows.Width(); w != 1 && !(name == "a column of CSV" && w == 2) {
			t.Errorf("%s: %d features", name, w)
		}
	}
	if words := mustOpen(t, Options{Features: x, Labels: vector}).Labels.Words; !slices.Equal(words,
		[]string{"0", "2", "10"}) {
		t.Errorf("classes %q, want them by number", words)
	}
}

// A column that is called as labels are is never a feature without a word.
func TestOpen_RefusesLabelsAmongFeatures(t *testing.T) {
	y := file(t, "y.npy", npyFile("|u1", "(2, 2)", []uint8{0, 1, 1, 0}))
	for table, c := range map[string]struct {
		o    Options
		says []string
	}{
		"a,label\n1,3\n2,4\n": {Options{Labels: y}, []string{"column 2 (label)", "`data.features.ignore_columns` label",
			"`data.features.feature_columns` label"}},
		"a,y,dog\n1,3,1\n2,4,0\n": {Options{LabelColumns: []string{"dog"}}, []string{"column 2 (y)"}},
		"a,label\n1,0\n2,1\n": {Options{}, []string{"two classes (`data.features.list_column` label)",
			"`data.features.label_columns` label"}},
		"a,y\n1,0.25\n2,1\n":         {Options{}, []string{`"0.25" is no class`, "`data.features.feature_columns` y"}},
		"a,label,class\n1,2,3\n":     {Options{}, []string{`"label" and "class"`, "`data.features.list_column`"}},
		"a,label\n1,2\n2,-1\n":       {Options{}, []string{"row 2: -1 is not the number of a class"}},
		"a,label\n1,2\n2,99999999\n": {Options{}, []string{"row 2: 99999999 is not"}},
	} {
		c.o.Features = file(t, "x.csv", []byte(table))
		_, err := Open(t.Context(), c.o)
		if err == nil {
			t.Errorf("%q: opened", table)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v does not say %s", table, err, part)
			}
		}
	}
	for what, o := range map[string]Options{
		"a feature by name":       {Labels: y, FeatureColumns: []string{"y"}},
		"of rows without labels":  {Unlabelled: true, FeatureColumns: []string{"y"}},
		"of labels that are away": {Unlabelled: true, LabelsElsewhere: true},
	} {
		o.Features = file(t, "x.csv", []byte("x,y\n1,3\n2,4\n"))
		if w := mustOpen(t, o).Rows.Width(); w != 2 {
			t.Errorf("%s: %d features, want 2", what, w)
		}
	}
	o := Options{Labels: y, Features: file(t, "x.csv", []byte("x,y\n1,3.5\n2,4\n"))}
	if w := mustOpen(t, o).Rows.Width(); w != 2 {
		t.Errorf("numbers that are no classes: %d features, want 2", w)
	}
	unlabelled := Options{Unlabelled: true, Features: file(t, "x.csv", []byte("x,y\n1,3\n2,4\n"))}
	if w := mustOpen(t, unlabelled).Rows.Width(); w != 1 {
		t.Errorf("rows whose labels are to be predicted: %d features, want 1", w)
	}
}

func TestOpen_RefusesVectorsOfWhatIsNoClass(t *testing.T) {
	x := file(t, "x.npy", npyFile("<f4", "(2, 1)", []float32{1, 2}))
	for says, y := range map[string][]byte{
		"row 2: 0.5 is not the number":                  npyFile("<f4", "(2,)", []float32{1, .5}),
		"row 1: -1 is not the number":                   npyFile("<i4", "(2,)", []int32{-1, 5}),
		"row 2: 200000 is not the number":               npyFile("<i4", "(2,)", []int32{1, 200000}),
		"has 3 rows, the features in":                   npyFile("<i4", "(3,)", []int32{1, 0, 1}),
		"4 bytes of data, want 8":                       npyFile("<i4", "(2,)", []int32{1}),
		"row 2: 4 is not the number of a class, 0 to 2": npyFile("<i4", "(2,)", []int32{2, 4}),
	} {
		o := Options{Features: x, Labels: file(t, "y.npy", y)}
		if strings.Contains(says, "0 to 2") {
			o.Words = []string{"a", "b", "c"}
		}
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	vector := file(t, "x.npy", npyFile("<f4", "(2,)", []float32{1, 2}))
	if _, err := Open(t.Context(), Options{Features: vector}); err == nil ||
		!strings.Contains(err.Error(), "shape [2], want rows × numbers") {
		t.Errorf("features that are a vector: %v", err)
	}
}

// Labels that differ in spelling alone are one label, in columns and in lists, and in files of labels.
func TestOpen_JoinsLabels(t *testing.T) {
	x := file(t, "x.csv", []byte("a\n1\n2\n3\n"))
	for name, c := range map[string]struct {
		labels, truth string
		words         []string
		want, true    string
	}{
		"columns": {"Dog,cat,dog\n1,0,0\n,0,1\n0,1,\n", "dog,Cat,Dog\n1,0,0\n0,0,0\n0,1,1\n", nil,
			"[Dog cat] [1 0 1 0 255 1] [Dog cat dog]", "[Dog cat] [1 0 0 0 1 1]"},
		"columns of words": {"Dog,cat,dog\n1,0,0\n0,0,1\n0,1,0\n", "DOG,Cat\n1,0\n0,0\n0,1\n", []string{"CAT", "dog"},
			"[CAT dog] [0 1 0 1 1 0] [Dog cat dog]", "[CAT dog] [0 1 0 0 1 0]"},
		"lists": {"labels\nDog;cat\nDOG\ndog;DOG\n", "labels\nDog\nCat\n\"\"\n", nil,
			"[DOG cat] [1 1 1 0 1 0] [labels]", "[DOG cat] [1 0 0 1 0 0]"},
		"numbers": {"label\n0\n1\n2\n", "label\n0\n1\n2\n", nil, "[0 1 2] [1 0 0 0 1 0 0 0 1] [label]",
			"[0 1 2] [1 0 0 0 1 0 0 0 1]"},
	} {
		table, err := Open(t.Context(), Options{Features: x, Labels: file(t, "y.csv", []byte(c.labels)),
			Truth: file(t, "truth.csv", []byte(c.truth)), Words: c.words, JoinLabels: true})
		expect.OK(t, err)
		if got := fmt.Sprint(table.Labels.Words, table.Labels.Values, table.Labels.Columns); got != c.want {
			t.Errorf("%s: labels %s, want %s", name, got, c.want)
		}
		if got := fmt.Sprint(table.Truth.Words, table.Truth.Values); got != c.true {
			t.Errorf("%s: truth %s, want %s", name, got, c.true)
		}
		expect.OK(t, table.Close())
	}
	table, err := Open(t.Context(), Options{Features: x, Labels: file(t, "y.csv", []byte("dog,cat\n1,0\n0,1\n1,1\n")),
		Counts: file(t, "counts.csv", []byte("Dog,cat,dog\n3,1,2\n200,0,100\n0,1,0\n")), JoinLabels: true})
	expect.OK(t, err)
	if got := fmt.Sprint(table.Counts.Words, table.Counts.Values); got != "[dog cat] [5 1 255 0 0 1]" {
		t.Errorf("counts %s", got)
	}
	expect.OK(t, table.Close())
}
