package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
	"nmn/text"
)

// npyBytes writes an array the way NumPy does: a header padded to 64 bytes, then the elements.
func npyBytes(descr, shape string, fortran bool, data any) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	return npyWithHeader(fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape), data,
		descr[0] == '>')
}

func npyWithHeader(header string, data any, bigEndian bool) []byte {
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString(npy.Magic + "\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	var order binary.ByteOrder = binary.LittleEndian
	if bigEndian {
		order = binary.BigEndian
	}
	binary.Write(&b, order, data)
	return b.Bytes()
}

// wantError wants an error of a kind that says something.
func wantError(t *testing.T, name string, err, want error, says string) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("%.60q: error %v, want %v naming %q", name, err, want, says)
	}
}

func anyNumber(v float64) error {
	if v != v {
		return fmt.Errorf("NaN: %w", ErrValue)
	}
	return nil
}

// endless gives the same byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestReadCSV_RowWithoutEndIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MiB")
	}
	for _, start := range []string{"", "dog\n", "dog\n\""} {
		_, err := readCSV(io.MultiReader(strings.NewReader(start), endless('1')), "long.csv", cellRule{fault: anyNumber})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "a row of more than") {
			t.Errorf("after %q: %v, want an error about the row", start, err)
		}
	}
}

func TestReadNPY_TypesOrdersAndLayouts(t *testing.T) {
	want := []float32{0, 1, 2, 3, 4, 5}
	for name, b := range map[string][]byte{
		"float32":     npyBytes("<f4", "(2, 3)", false, []float32{0, 1, 2, 3, 4, 5}),
		"float64 big": npyBytes(">f8", "(2, 3)", false, []float64{0, 1, 2, 3, 4, 5}),
		"float16":     npyBytes("<f2", "(2, 3)", false, []uint16{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500}),
		"uint8":       npyBytes("|u1", "(2, 3)", false, []uint8{0, 1, 2, 3, 4, 5}),
		"int64":       npyBytes("<i8", "(2, 3)", false, []int64{0, 1, 2, 3, 4, 5}),
		"uint16 big":  npyBytes(">u2", "(2, 3)", false, []uint16{0, 1, 2, 3, 4, 5}),
		"Fortran":     npyBytes("<f4", "(2, 3)", true, []float32{0, 3, 1, 4, 2, 5}),
	} {
		for _, size := range []int64{-1, int64(len(b))} {
			m, err := readNPY(bytes.NewReader(b), name, size, cellRule{fault: anyNumber})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if m.Rows != 2 || m.Cols != 3 || !slices.Equal(m.Values, want) {
				t.Errorf("%s: %d×%d %v", name, m.Rows, m.Cols, m.Values)
			}
		}
	}
	m, err := readNPY(bytes.NewReader(npyBytes("<i2", "(1, 2)", false, []int16{-3, 300})), "int16", -1,
		cellRule{fault: anyNumber})
	if err != nil || m.Values[0] != -3 || m.Values[1] != 300 {
		t.Errorf("negative integers: %v %v", m, err)
	}
}

func TestReadNPY_RefusesHostileFiles(t *testing.T) {
	good := npyBytes("<f4", "(2, 2)", false, []float32{1, 2, 3, 4})
	nan := float32(math.NaN())
	for _, c := range []struct {
		name string
		file []byte
		want error
		says string
	}{
		{"empty", nil, ErrFormat, "does not begin"},
		{"other file", []byte("PK\x03\x04 an .npz"), ErrFormat, "does not begin"},
		{"version", append([]byte(npy.Magic+"\x09\x00"), good[8:]...), ErrFormat, "version 9"},
		{"header cut", good[:30], ErrFormat, "cut short"},
		{"header of 4 GB", []byte(npy.Magic + "\x02\x00\xff\xff\xff\xff{"), ErrFormat, "4294967295"},
		{"data cut", good[:len(good)-3], ErrShape, "row 2, column 2"},
		{"data appended", append(slices.Clone(good), 0), ErrShape, "more bytes"},
		{"shape of 2e8", npyBytes("<f4", "(100000000, 2)", false, []float32{1}), ErrShape, "row 1, column 2"},
		{"shape beyond int", npyBytes("<f4", fmt.Sprintf("(%d, %[1]d)", math.MaxInt), false, []float32{1}),
			ErrShape, "too large"},
		{"negative shape", npyBytes("<f4", "(-1, 2)", false, []float32{1}), ErrFormat, "shape at"},
		{"vector", npyBytes("<f4", "(4,)", false, []float32{1, 2, 3, 4}), ErrShape, "samples × classes"},
		{"no rows", npyBytes("<f4", "(0, 4)", false, []float32{}), ErrShape, "empty"},
		{"pickled objects", npyBytes("|O", "(2, 2)", false, []float32{1}), ErrFormat, "type"},
		{"structured", npyWithHeader("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }",
			[]float32{1}, false), ErrFormat, "structured"},
		{"key missing", npyWithHeader("{'descr': '<f4', 'shape': (1, 1)}", []float32{1}, false), ErrFormat, "want the keys"},
		{"key twice", npyWithHeader("{'descr': '<f4', 'descr': '<f4', 'shape': (1, 1)}", []float32{1}, false),
			ErrFormat, "repeated"},
		{"no dictionary", npyWithHeader("[]", []float32{1}, false), ErrFormat, "want"},
		{"NaN", npyBytes("<f4", "(2, 2)", false, []float32{1, 2, nan, 4}), ErrValue, "row 2, column 1"},
		{"NaN in Fortran layout", npyBytes("<f4", "(2, 2)", true, []float32{1, 2, nan, 4}), ErrValue, "row 1, column 2"},
	} {
		_, err := readNPY(bytes.NewReader(c.file), "s.npy", -1, cellRule{fault: anyNumber})
		wantError(t, c.name, err, c.want, c.says)
		if err != nil && !strings.HasPrefix(err.Error(), "s.npy") {
			t.Errorf("%s: %v does not name the file", c.name, err)
		}
	}
	if _, err := readNPY(bytes.NewReader(good), "s.npy", int64(len(good))+1, cellRule{fault: anyNumber}); !errors.Is(err,
		ErrShape) {
		t.Errorf("file longer than its shape: %v", err)
	}
}

func TestReadCSV_WordsAndIdentifiers(t *testing.T) {
	m, err := readCSV(strings.NewReader("\xef\xbb\xbfid,cat,\"hot,dog\"\r\nb1, .25,1\r\n\r\nb2,0,5e-1\r\n"),
		"s.csv", cellRule{fault: anyNumber})
	expect.OK(t, err)
	if m.Rows != 2 || !slices.Equal(m.Words, []string{"cat", "hot,dog"}) ||
		!slices.Equal(m.IDs, []string{"b1", "b2"}) || !slices.Equal(m.Values, []float32{.25, 1, 0, .5}) {
		t.Errorf("%+v", m)
	}
	m, err = readCSV(strings.NewReader("cat,dog\n1,2\n"), "s.csv", cellRule{fault: anyNumber})
	if err != nil || m.IDs != nil || m.Cols != 2 {
		t.Errorf("without identifiers: %+v, %v", m, err)
	}
	// pandas and R write the index of a table without a name.
	m, err = readCSV(strings.NewReader(",cat\na,1\n"), "s.csv", cellRule{fault: anyNumber})
	if err != nil || !slices.Equal(m.IDs, []string{"a"}) || !slices.Equal(m.Words, []string{"cat"}) {
		t.Errorf("an index: %+v, %v", m, err)
	}
	// Runs on vectors of classes call these by their numbers, and write tables with identifiers.
	m, err = readCSV(strings.NewReader("id,0,1\na,0.25,0.5\n"), "s.csv", cellRule{fault: anyNumber})
	if err != nil || !slices.Equal(m.Words, []string{"0", "1"}) || m.Rows != 1 {
		t.Errorf("classes called by numbers: %+v, %v", m, err)
	}
}

func TestReadCSV_NamesFileRowAndColumn(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       error
		says       string
	}{
		{"empty", "", ErrFormat, "empty file"},
		{"header only", "cat,dog\n", ErrFormat, "no rows"},
		{"only identifiers", "id\n1\n", ErrFormat, "names no class"},
		{"no header", "0.1,0.2\n0.3,0.4\n", ErrFormat, "only numbers"},
		{"semicolons", "cat;dog\n0,1;0,2\n", ErrFormat, "semicolons separate columns, want commas"},
		{"word twice", "cat,dog,cat\n1,2,3\n", ErrNames, `"cat" is given twice, as 1 and 3`},
		{"word empty", "cat,,dog\n1,2,3\n", ErrFormat, "column 2"},
		{"ragged, short", "cat,dog\n1,2\n3\n", ErrShape, "s.csv:3: 1 fields, the header has 2"},
		{"ragged, long", "id,cat\na,1,2\n", ErrShape, "s.csv:2: 3 fields"},
		{"text", "id,cat,dog\na,1,x\n", ErrFormat, "s.csv:2: column 3 (dog)"},
		{"NaN", "cat,dog\n1,2\nNaN,4\n", ErrValue, "s.csv:3: column 1 (cat): NaN"},
		{"too large", "cat\n1e99\n", ErrFormat, "float32"},
		{"empty field", "cat,dog\n1,\n", ErrFormat, "column 2 (dog)"},
		{"open quote", "cat,dog\n\"1,2\n3,4\n", ErrFormat, "s.csv"},
	} {
		_, err := readCSV(strings.NewReader(c.file), "s.csv", cellRule{fault: anyNumber})
		wantError(t, c.name, err, c.want, c.says)
	}
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	expect.OK(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestReadScoresAndCounts_CheckTheirValues(t *testing.T) {
	if _, err := ReadScores(writeFile(t, "s.csv", "cat\ninf\n"), false); !errors.Is(err, ErrValue) {
		t.Errorf("infinite probability: %v", err)
	}
	if m, err := ReadScores(writeFile(t, "s.csv", "cat\n-inf\n"), true); err != nil ||
		!math.IsInf(float64(m.Values[0]), -1) {
		t.Errorf("infinite log-odds: %v", err)
	}
	for _, bad := range []string{"6", "-1", "1.5", "nan"} {
		if _, err := ReadCounts(writeFile(t, "c.csv", "cat\n"+bad+"\n"), 5); !errors.Is(err, ErrValue) ||
			!strings.Contains(err.Error(), "c.csv:2: column 1 (cat)") {
			t.Errorf("count %s: %v", bad, err)
		}
	}
	if m, err := ReadCounts(writeFile(t, "c.csv", "cat\n5.0\n"), 5); err != nil || m.Values[0] != 5 {
		t.Errorf("count written as 5.0: %v", err)
	}
	npy := writeFile(t, "c.NPY", string(npyBytes("|u1", "(1, 2)", false, []uint8{0, 20})))
	if m, err := ReadCounts(npy, 20); err != nil || m.Counts[1] != 20 || m.Values != nil {
		t.Errorf("counts of 20 captions as uint8: %v", err)
	}
	// Counts are held as bytes, and agreement needs two captions.
	file := writeFile(t, "c.csv", "cat,dog\n1,0\n")
	for captions, ok := range map[int]bool{-1: false, 0: false, 1: false, 2: true, 255: true, 256: false, 1000: false} {
		if _, err := ReadCounts(file, captions); (err == nil) != ok || err != nil && (!errors.Is(err, ErrValue) ||
			!strings.Contains(err.Error(), "2 to 255")) {
			t.Errorf("%d captions: %v", captions, err)
		}
	}
	if m, err := ReadCounts(writeFile(t, "c.csv", "cat,dog\n255,0\n"), 255); err != nil || m.Values[0] != 255 {
		t.Errorf("255 of 255: %v", err)
	}
	for label, ok := range map[string]bool{"0": true, "1.0": true, "2": false, "0.5": false, "nan": false} {
		if _, err := ReadLabels(writeFile(t, "z.csv", "cat\n"+label+"\n")); (err == nil) != ok ||
			err != nil && !errors.Is(err, ErrValue) {
			t.Errorf("label %s: %v", label, err)
		}
	}
	if _, err := ReadScores(writeFile(t, "s.txt", "cat\n1\n"), false); !errors.Is(err, ErrFormat) {
		t.Errorf("unknown ending: %v", err)
	}
	if _, err := ReadScores(filepath.Join(t.TempDir(), "none.csv"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func matrix(name string, words, ids []string, cols int, values ...float32) *Matrix {
	return &Matrix{Name: name, Words: words, IDs: ids, Cols: cols, Rows: len(values) / cols, Values: values}
}

func TestJoin_MatchesByName(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "a", POS: text.NN}, {Text: "b", POS: text.VB}})
	expect.OK(t, err)
	scores := matrix("s", []string{"b", "a"}, []string{"x", "y"}, 2, .1, .2, .3, .4)
	counts := matrix("c", []string{"a", "b"}, []string{"y", "x"}, 2, 1, 2, 3, 4)
	in, err := Join(scores, counts, v)
	expect.OK(t, err)
	if !slices.Equal(in.Scores, []float32{.2, .1, .4, .3}) || !slices.Equal(in.Counts, []uint8{3, 4, 1, 2}) ||
		!slices.Equal(in.IDs, []string{"x", "y"}) {
		t.Errorf("with a vocabulary: %+v", in)
	}
	in, err = Join(scores, counts, nil)
	expect.OK(t, err)
	if !slices.Equal(in.Scores, scores.Values) || !slices.Equal(in.Counts, []uint8{4, 3, 2, 1}) ||
		!slices.Equal(in.Words, scores.Words) {
		t.Errorf("in the order of the scores: %+v", in)
	}
	in, err = Join(matrix("s.npy", nil, nil, 2, .1, .2, .3, .4), counts, nil)
	if err != nil || !slices.Equal(in.Words, counts.Words) || !slices.Equal(in.Counts, []uint8{1, 2, 3, 4}) ||
		in.Scores[0] != .1 {
		t.Errorf("scores without a header: %+v, %v", in, err)
	}
}

func TestJoin_RefusesWhatDoesNotMatch(t *testing.T) {
	v, err := text.NewVocabulary([]text.Word{{Text: "a"}, {Text: "b"}})
	expect.OK(t, err)
	ab, xy := []string{"a", "b"}, []string{"x", "y"}
	scores := matrix("s", ab, xy, 2, .1, .2, .3, .4)
	for _, c := range []struct {
		name           string
		scores, counts *Matrix
		v              *text.Vocabulary
		want           error
		says           string
	}{
		{"rows", scores, matrix("c", ab, nil, 2, 1, 2), nil, ErrShape,
			"s has 2 rows, c has 1: both need one for each sample"},
		{"an id more", scores, matrix("c", ab, []string{"y"}, 2, 1, 2), nil, ErrShape, `c lacks "x", which is row 1 of s`},
		{"an id less", matrix("s", ab, []string{"y"}, 2, 1, 2), matrix("c", ab, []string{"y", "x"}, 2, 1, 2, 3, 4), nil,
			ErrShape, `s lacks "x", which is row 2 of c`},
		{"columns", scores, matrix("c", nil, nil, 3, 1, 2, 3, 4, 5, 6), nil, ErrShape, "2 classes, c has 3"},
		{"another word", scores, matrix("c", []string{"a", "z"}, nil, 2, 1, 2, 3, 4), nil, ErrNames,
			`no class "b", number 2 of s`},
		{"not in the vocabulary", matrix("s", []string{"a", "z"}, nil, 2, 1, 2), matrix("c", nil, nil, 2, 1, 2), v,
			ErrNames, "the vocabulary"},
		{"vocabulary of another size", matrix("s", nil, nil, 1, 1), matrix("c", nil, nil, 1, 1), v, ErrShape,
			"1 columns for the 2 classes"},
		{"another id", scores, matrix("c", ab, []string{"x", "q"}, 2, 1, 2, 3, 4), nil, ErrNames, `no id "y"`},
		{"id twice", scores, matrix("c", ab, []string{"x", "x"}, 2, 1, 2, 3, 4), nil, ErrNames, "given twice"},
		{"id of the scores twice", matrix("s", ab, []string{"x", "x"}, 2, 1, 2, 3, 4),
			matrix("c", ab, xy, 2, 1, 2, 3, 4), nil, ErrNames, "given twice"},
	} {
		_, err := Join(c.scores, c.counts, c.v)
		wantError(t, c.name, err, c.want, c.says)
	}
}

func checkMatrix(t *testing.T, m *Matrix) {
	if m.Rows < 1 || m.Cols < 1 || len(m.Values) != m.Rows*m.Cols {
		t.Fatalf("%d×%d with %d values", m.Rows, m.Cols, len(m.Values))
	}
	if m.Words != nil && len(m.Words) != m.Cols || m.IDs != nil && len(m.IDs) != m.Rows {
		t.Fatalf("%d×%d with %d words and %d ids", m.Rows, m.Cols, len(m.Words), len(m.IDs))
	}
	for _, v := range m.Values {
		if v != v {
			t.Fatal("NaN was let through")
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{"cat,dog\n1,2\n", "id,cat\na,.5\nb,nan\n", "\"a\nb\",c\n1,2\n", "cat\n0x1p-3\n",
		"\xef\xbb\xbfcat\r\n1\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readCSV(bytes.NewReader(b), "fuzz.csv", cellRule{fault: anyNumber}); err == nil {
			checkMatrix(t, m)
		}
	})
}

func FuzzReadNPY(f *testing.F) {
	f.Add(npyBytes("<f4", "(2, 3)", false, []float32{0, 1, 2, 3, 4, 5}))
	f.Add(npyBytes("|u1", "(2, 1)", true, []uint8{0, 1}))
	f.Add(npyBytes("<f2", "(1, 1)", false, []uint16{0x7e00}))
	f.Add(npyBytes("<f8", "(99999999, 99999999)", false, []float64{1}))
	f.Add([]byte(npy.Magic + "\x02\x00\xff\xff\xff\xff{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readNPY(bytes.NewReader(b), "fuzz.npy", -1, cellRule{fault: anyNumber}); err == nil {
			checkMatrix(t, m)
		}
		if m, err := readNPY(bytes.NewReader(b), "fuzz.npy", int64(len(b)), cellRule{fault: anyNumber}); err == nil {
			checkMatrix(t, m)
		}
		labels := cellRule{limit: 1, fault: func(float64) error { return ErrValue }}
		if m, err := readNPY(bytes.NewReader(b), "fuzz.npy", -1, labels); err == nil && m.Counts != nil &&
			(len(m.Counts) != m.Rows*m.Cols || slices.Max(m.Counts) > 1) {
			t.Fatalf("labels %v of %d×%d", m.Counts, m.Rows, m.Cols)
		}
	})
}
