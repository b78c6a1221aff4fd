package features

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// file writes a file into a folder of the test and returns its path.
func file(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	expect.OK(t, os.WriteFile(path, content, 0o666))
	return path
}

func zipped(t testing.TB, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	expect.OK(t, z.Close())
	return b.Bytes()
}

// mustOpen opens a table that is closed at the end of the test.
func mustOpen(t testing.TB, o Options) *Table {
	t.Helper()
	table, err := Open(t.Context(), o)
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// all returns all rows, concatenated.
func all(t testing.TB, rows Rows) []float32 {
	t.Helper()
	values := make([]float32, 0, rows.Len()*rows.Width())
	row := make([]float32, rows.Width())
	for i := range rows.Len() {
		expect.OK(t, rows.Read(i, row))
		values = append(values, row...)
	}
	return values
}

// refused checks that opening, or reading the rows, returns an error of a kind with the given texts.
func refused(t *testing.T, o Options, kind error, says ...string) {
	t.Helper()
	table, err := Open(t.Context(), o)
	if err == nil {
		defer table.Close()
		row := make([]float32, table.Rows.Width())
		for i := 0; err == nil && i < table.Rows.Len(); i++ {
			err = table.Rows.Read(i, row)
		}
	}
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one of the kind %q", err, kind)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
	if text := err.Error(); !strings.Contains(text, filepath.Base(o.Features)) &&
		!strings.Contains(text, filepath.Base(o.Labels)) {
		t.Errorf("error %q names no file", err)
	}
}

func TestOpen_LabelsInFilesOfTheirOwn(t *testing.T) {
	x := file(t, "x.csv", []byte("id,a,b\np,1,2\nq,3,4\nr,5,6\n"))
	want := []uint8{1, 0, 0, 1, 1, 1}
	for name, content := range map[string]string{
		"columns.csv": "id,cat,dog\nq,0,1\nr,1,1\np,1,0\n", // in another order of rows
		"lists.csv":   "labels,id\ndog|cat,r\ncat,p\n dog ,q\n",
		"m.arff": "@relation m\n@attribute id string\n@attribute cat {0,1}\n@attribute dog " +
			"{0,1}\n@data\nr,1,1\np,1,0\nq,0,1\n",
	} {
		table := mustOpen(t, Options{Features: x, Labels: file(t, name, []byte(content))})
		if !slices.Equal(table.Labels.Words, []string{"cat", "dog"}) || !slices.Equal(table.Labels.Values, want) {
			t.Errorf("%s: %+v, want %v", name, table.Labels, want)
		}
		if !slices.Equal(table.IDs, []string{"p", "q", "r"}) ||
			!slices.Equal(all(t, table.Rows), []float32{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s: rows %v %v", name, table.IDs, all(t, table.Rows))
		}
	}
}

// The column of identifiers that is asked for may be in one of the two files, and id in the other.
func TestOpen_IdentifiersByTwoNames(t *testing.T) {
	for x, y := range map[string]string{
		"name,a,b\np,1,2\nq,3,4\n": "id,cat,dog\nq,0,1\np,1,0\n",
		"id,a,b\np,1,2\nq,3,4\n":   "name,cat,dog\nq,0,1\np,1,0\n",
	} {
		table := mustOpen(t, Options{Features: file(t, "x.csv", []byte(x)), Labels: file(t, "y.csv", []byte(y)),
			IDColumn: "name"})
		if !slices.Equal(table.Labels.Words, []string{"cat", "dog"}) || !slices.Equal(table.Labels.Values,
			[]uint8{1, 0, 0, 1}) || !slices.Equal(all(t, table.Rows), []float32{1, 2, 3, 4}) {
			t.Errorf("%q and %q: %+v", x, y, table.Labels)
		}
	}
}

// Names in both Unicode normal forms are one label.
func TestOpen_ListsInBothNormalForms(t *testing.T) {
	x := file(t, "x.csv", []byte("id,a\np,1\nq,3\n"))
	y := file(t, "y.csv", []byte("id,labels\np,caf\u00e9\nq,cafe\u0301|dog\n"))
	for _, words := range [][]string{nil, {"cafe\u0301", "dog"}} {
		table := mustOpen(t, Options{Features: x, Labels: y, Words: words})
		if len(table.Labels.Words) != 2 || !slices.Equal(table.Labels.Values, []uint8{1, 0, 1, 1}) {
			t.Errorf("with the words %+q: %+q %v", words, table.Labels.Words, table.Labels.Values)
		}
	}
}

func TestOpen_MatrixOfLabelsTakesTheVocabulary(t *testing.T) {
	x := file(t, "x.npy", npyFile("<f4", "(2, 1)", []float32{1, 2}))
	y := file(t, "y.npy", npyFile("|u1", "(2, 2)", []uint8{0, 1, 1, 1}))
	table := mustOpen(t, Options{Features: x, Labels: y})
	if !slices.Equal(table.Labels.Words, []string{"class 1", "class 2"}) ||
		!slices.Equal(table.Labels.Values, []uint8{0, 1, 1, 1}) || table.IDs != nil {
		t.Errorf("%+v", table.Labels)
	}
	table = mustOpen(t, Options{Features: x, Labels: y, Words: []string{"cat", "dog"}, IDs: []string{"a", "b"}})
	if !slices.Equal(table.Labels.Words, []string{"cat", "dog"}) || !slices.Equal(table.IDs, []string{"a", "b"}) {
		t.Errorf("%+v, %v", table.Labels, table.IDs)
	}
	refused(t, Options{Features: x, Labels: y, Words: []string{"cat"}}, ErrFormat, "y.npy", "2 columns", "1 words")
	refused(t, Options{Features: x, IDs: []string{"a", "a"}}, ErrValue, "row 2", `"a"`, "row 1")
	refused(t, Options{Features: x, IDs: []string{"a"}}, ErrFormat, "1 identifiers for the 2 rows")
	refused(t, Options{Features: x, Labels: file(t, "y3.npy", npyFile("|u1", "(3, 1)", []uint8{0, 1, 1}))}, ErrFormat,
		"3 rows", "2")
	refused(t, Options{Features: x, Labels: file(t, "y2.npy", npyFile("|u1", "(2, 1)", []uint8{0, 2}))}, ErrValue,
		"y2.npy", "row 2, column 1", "want 0 or 1")
}

func TestOpen_VocabularyOrdersColumnsAndRefusesOthers(t *testing.T) {
	x := file(t, "x.csv", []byte("a,l_cat,l_dog\n1,1,0\n2,0,1\n"))
	table := mustOpen(t, Options{Features: x, LabelColumns: []string{"l_*"}, Words: []string{"l_dog", "l_cat"}})
	if !slices.Equal(table.Labels.Values, []uint8{0, 1, 1, 0}) || table.Rows.Width() != 1 {
		t.Errorf("%+v", table.Labels)
	}
	refused(t, Options{Features: x, LabelColumns: []string{"l_*"}, Words: []string{"l_dog"}}, ErrFormat, `"l_cat"`,
		"not in the vocabulary")
	refused(t, Options{Features: x, LabelColumns: []string{"l_*"}, Words: []string{"l_dog", "l_cow", "l_cat"}},
		ErrFormat, `no column for the word "l_cow"`)
	refused(t, Options{Features: x, LabelColumns: []string{"m_*"}}, ErrFormat, `no column matches "m_*"`, `"l_cat"`)
	lists := file(t, "y.csv", []byte("labels\ndog\ncow\n"))
	refused(t, Options{Features: x, Labels: lists, Words: []string{"dog"}}, ErrValue, "y.csv", "row 2",
		`"cow" is not in the vocabulary`)
}

func TestOpen_TruthCountsAndSplits(t *testing.T) {
	x := file(t, "x.csv", []byte("id,v,split,cat,dog\na,1,train,1,0\nb,2,test,0,1\n"))
	table := mustOpen(t, Options{
		Features: x, LabelColumns: []string{"cat", "dog"},
		Truth:  file(t, "truth.csv", []byte("dog,cat,id\n1,1,b\n0,1,a\n")),
		Counts: file(t, "counts.npy", npyFile("<i8", "(2, 2)", []int64{5, 0, 0, 3})),
	})
	if !slices.Equal(table.Truth.Values, []uint8{1, 0, 1, 1}) || !slices.Equal(table.Counts.Values, []uint8{5, 0, 0, 3}) ||
		!slices.Equal(table.Splits, []string{"train", "test"}) {
		t.Errorf("truth %v, counts %v, splits %v", table.Truth, table.Counts, table.Splits)
	}
	refused(t, Options{Features: x, LabelColumns: []string{"cat", "dog"},
		Truth: file(t, "t.csv", []byte("id,dog,cat\na,1,1\nc,1,1\n"))}, ErrFormat, `no row for "b"`, "row 2")
}

func TestOpen_UnlabelledLeavesLabelsUnread(t *testing.T) {
	with := file(t, "with.csv", []byte("v,cat\n1,surely\n2,0\n"))
	without := file(t, "without.csv", []byte("v\n1\n2\n"))
	for _, x := range []string{with, without} {
		table := mustOpen(t, Options{Features: x, LabelColumns: []string{"cat"}, Unlabelled: true})
		if table.Labels != nil || !slices.Equal(all(t, table.Rows), []float32{1, 2}) {
			t.Errorf("%s: %+v", x, table)
		}
	}
}

func TestOpen_LimitOfMemory(t *testing.T) {
	x := file(t, "x.csv", zipped(t, "a,b\n"+strings.Repeat("1,2\n", 1000)))
	refused(t, Options{Features: x + "", Limit: 4000}, ErrFormat, "limit is 4000", "`features.output`")
	if table := mustOpen(t, Options{Features: x, Limit: 8000}); table.Rows.Len() != 1000 {
		t.Errorf("%d rows", table.Rows.Len())
	}
}

func TestOpen_SpillsATableThatMemoryCannotHold(t *testing.T) {
	x := file(t, "x.csv", []byte("id,a,b,cat\np,1,2,1\nq,3,4,0\nr,5,6,1\n"))
	for _, name := range []string{"x.npy", "x.safetensors"} {
		spill := filepath.Join(t.TempDir(), name)
		table := mustOpen(t, Options{Features: x, LabelColumns: []string{"cat"}, Spill: spill, Limit: 8})
		if got := all(t, table.Rows); !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) || !table.OnDisk ||
			!slices.Equal(table.Labels.Values, []uint8{1, 0, 1}) {
			t.Errorf("%s: %v, %+v", name, got, table)
		}
	}
	spill := filepath.Join(t.TempDir(), "x.npy")
	refused(t, Options{Features: file(t, "y.csv", []byte("a,b\n1,2\n3,x\n")), Spill: spill}, ErrValue, "line 3")
	if left, err := os.ReadDir(filepath.Dir(spill)); err != nil || len(left) > 0 {
		t.Errorf("a table that cannot be read leaves %v, %v", left, err)
	}
}

func TestOpen_UnknownKind(t *testing.T) {
	refused(t, Options{Features: "x.pkl"}, ErrFormat, ".pkl", ".npy")
	x := file(t, "x.csv", []byte("v\n1\n"))
	refused(t, Options{Features: x, Labels: file(t, "y.pkl", nil)}, ErrFormat, ".pkl", ".xml")
	refused(t, Options{Features: x, Labels: "FILE"}, fs.ErrNotExist, "stat FILE: no such file")
}

// some rows of a matrix, in order.
func chosen(rows Rows, indices ...int) iter.Seq2[[]float32, error] {
	return func(yield func([]float32, error) bool) {
		row := make([]float32, rows.Width())
		for _, i := range indices {
			if err := rows.Read(i, row); !yield(row, err) {
				return
			}
		}
	}
}

func TestMeasure_ColumnsOnTheirOwn(t *testing.T) {
	nan := float32(math.NaN())
	rows := newMemoryRows(4)
	for _, row := range [][]float32{
		{1e7, 4, .1, nan},
		{1e7 + 2, 4, .1, 3},
		{99, 99, 99, 99}, // not among those asked for
		{1e7 + 4, 4, .1, 5},
	} {
		expect.OK(t, rows.add(row))
	}
	m, err := Measure(4, chosen(rows, 0, 1, 3))
	expect.OK(t, err)
	if m.Rows != 3 || m.Constant != 2 || m.Mean[0] != 1e7+2 || m.Mean[1] != 4 || m.Mean[3] != 4 {
		t.Errorf("%+v", m)
	}
	if want := math.Sqrt(8. / 3); math.Abs(m.Deviation[0]-want) > 1e-9 || m.Deviation[1] != 0 || m.Deviation[2] != 0 ||
		m.Deviation[3] != 1 {
		t.Errorf("deviations %v, want %v, 0, 0, 1", m.Deviation, want)
	}
}

func TestMeasure_PassesOverBrokenRows(t *testing.T) {
	inf := float32(math.Inf(1))
	x := mustOpen(t, Options{Features: file(t, "x.npy", npyFile("<f4", "(3, 1)", []float32{2, inf, 4}))})
	m, err := Measure(1, chosen(x.Rows, 0, 1, 2))
	if err != nil || m.Rows != 2 || m.Mean[0] != 3 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := Measure(1, chosen(x.Rows, 1)); !errors.Is(err, ErrValue) ||
		!strings.Contains(err.Error(), "row 2, column 1") {
		t.Errorf("no row left: %v", err)
	}
}

func TestWriter_BothFormatsReadBack(t *testing.T) {
	for _, name := range []string{"x.npy", "x.safetensors"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path, 3)
		expect.OK(t, err)
		var want []float32
		for i := range 20_000 { // beyond the buffer
			row := []float32{float32(i), -1, .5}
			expect.OK(t, w.Write(row))
			want = append(want, row...)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there before it is complete", name)
		}
		expect.OK(t, errors.Join(w.Commit(), w.Close()))
		if got := all(t, mustOpen(t, Options{Features: path}).Rows); !slices.Equal(got, want) {
			t.Errorf("%s: other rows come back", name)
		}
	}
	if _, err := Create("x.csv", 3); !errors.Is(err, ErrFormat) {
		t.Errorf("another format: %v", err)
	}
}

func TestDescribe_LabelsOnNoRowAndOnAll(t *testing.T) {
	text := []byte("id,a,b,l1,l2,l3,w\nu,1,2,0,1,1,.5\nv,3,4,0,1,0,.25\n")
	table, err := Open(t.Context(), Options{Features: file(t, "x.csv", text), LabelColumns: []string{"l*"},
		WeightColumn: "w"})
	expect.OK(t, err)
	defer table.Close()
	d, err := table.Describe()
	expect.OK(t, err)
	if d.Rows != 2 || d.Features != 2 || d.PerRow != 1.5 || d.FirstID != "u" || !slices.Equal(d.Never, []string{"l1"}) ||
		!slices.Equal(d.Always, []string{"l2"}) || !slices.Equal(d.Weights, []float32{.25, .5}) {
		t.Errorf("described as %+v", d)
	}
}

func TestDescribe_CountsRowsOnDiskThatAreNoFeatures(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.npy")
	table, err := Open(t.Context(), Options{Features: file(t, "x.csv", []byte("a,b\n1,2\n3,4\n5,6\n"))})
	expect.OK(t, err)
	defer table.Close()
	expect.OK(t, WriteFile(name, table.Rows))
	onDisk, err := Open(t.Context(), Options{Features: name})
	expect.OK(t, err)
	defer onDisk.Close()
	d, err := onDisk.Describe()
	if err != nil || !d.OnDisk || d.Rows != 3 || d.Features != 2 || d.Unusable != 0 {
		t.Errorf("described as %+v, %v", d, err)
	}
	if err := WriteFile(filepath.Join(t.TempDir(), "x.csv"), table.Rows); err == nil || !strings.Contains(err.Error(),
		".safetensors") {
		t.Errorf("features as CSV: %v", err)
	}
}

func TestOrder_OfColumnsByName(t *testing.T) {
	open := func(text string) *Table {
		t.Helper()
		table, err := Open(t.Context(), Options{Features: file(t, "x.csv", []byte(text))})
		expect.OK(t, err)
		t.Cleanup(func() { expect.OK(t, table.Close()) })
		return table
	}
	table := open("c,a,b\n3,1,2\n6,4,5\n")
	expect.OK(t, table.Order(nil, "m"))
	expect.OK(t, table.Order([]string{"a", "b", "c"}, "m"))
	row := make([]float32, 3)
	for i, want := range []string{"[1 2 3]", "[4 5 6]"} {
		if expect.OK(t, table.Rows.Read(i, row)); fmt.Sprint(row) != want {
			t.Errorf("row %d is %v, want %s", i+1, row, want)
		}
	}
	if fmt.Sprint(table.Columns) != "[a b c]" {
		t.Errorf("columns %q", table.Columns)
	}
	for text, says := range map[string]string{
		"a,b\n1,2\n":     `lacks the column "c", which is feature 1 of the model`,
		"a,c,d\n1,2,3\n": `column "d" of "`,
	} {
		if err := open(text).Order([]string{"c", "a"}, "the model"); err == nil || !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
