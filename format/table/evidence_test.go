package table

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Rows and columns are found by their names, or else belong to all bags and words in order.
func TestSelect_FindsRowsAndColumns(t *testing.T) {
	all, words := []string{"p", "q", "r"}, []string{"dog", "cat"}
	byOrder := string(npyBytes("<f8", "(3, 2)", false, []float64{1, 2, -3, 4, 5, -6e3}))
	for name, c := range map[string]struct {
		file    string
		content string
		bags    []string
		want    []float32
	}{
		"in order":         {"e.npy", byOrder, all, []float32{1, 2, -3, 4, 5, -6e3}},
		"some are held":    {"e.npy", byOrder, []string{"r", "p"}, []float32{5, -6e3, 1, 2}},
		"columns by name":  {"e.csv", "cat,dog\n2,1\n4,-3\n-6e3,5\n", all, []float32{1, 2, -3, 4, 5, -6e3}},
		"without ids":      {"e.csv", "cat,dog\n2,1\n4,-3\n0,5\n", []string{"q"}, []float32{-3, 4}},
		"all by name":      {"e.csv", "id,cat,dog\nr,-6e3,5\np,2,1\nq,4,-3\n", []string{"p", "q"}, []float32{1, 2, -3, 4}},
		"more than needed": {"e.csv", "id,dog,cat\nz,7,7\nq,-3,4\n", []string{"q"}, []float32{-3, 4}},
	} {
		m, err := ReadEvidence(writeFile(t, c.file, c.content))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := m.Select(c.bags, all, words); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestSelect_RefusesWhatDoesNotMatch(t *testing.T) {
	all, words := []string{"p", "q", "r"}, []string{"dog", "cat"}
	for name, c := range map[string]struct {
		file    string
		content string
		bags    []string
		want    error
		says    string
	}{
		"rows of the training set alone": {"e.npy", string(npyBytes("<f4", "(2, 2)", false, make([]float32, 4))), all[:2], ErrShape,
			"has 2 rows, and the data have 3 samples"},
		"too many rows": {"e.npy", string(npyBytes("<f4", "(4, 2)", false, make([]float32, 8))), all, ErrShape, "has 4 rows"},
		"too many columns": {"e.npy", string(npyBytes("<f4", "(3, 3)", false, make([]float32, 9))), all, ErrShape,
			"has 3 columns for the 2 classes"},
		"other words":          {"e.csv", "dog,cow\n1,2\n1,2\n1,2\n", all, ErrNames, `no class "cat"`},
		"a bag is missing":     {"e.csv", "id,dog,cat\np,1,2\nr,1,2\n", all, ErrNames, `no id "q", number 2`},
		"a sample comes twice": {"e.csv", "id,dog,cat\np,1,2\np,1,2\n", all[:1], ErrNames, "given twice"},
	} {
		m, err := ReadEvidence(writeFile(t, c.file, c.content))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = m.Select(c.bags, all, words)
		wantError(t, name, err, c.want, c.says)
	}
	m := &Matrix{Name: "none.npy", Rows: 1, Cols: 2, Values: make([]float32, 2)}
	if _, err := m.Select(nil, nil, words); !errors.Is(err, ErrShape) {
		t.Errorf("of no bags: %v", err)
	}
}

func TestReadEvidence_RefusesWhatIsNoFiniteNumber(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		content string
		want    error
		says    string
	}{
		"NaN": {"e.npy", string(npyBytes("<f4", "(1, 2)", false, []float32{0, float32(math.NaN())})), ErrValue,
			"row 1, column 2: evidence NaN"},
		"Inf": {"e.npy", string(npyBytes("<f4", "(1, 2)", false, []float32{float32(math.Inf(-1)), 0})), ErrValue,
			"row 1, column 1: evidence -Inf"},
		"too large":   {"e.npy", string(npyBytes("<f8", "(1, 1)", false, []float64{1e300})), ErrValue, "1e+300"},
		"NaN as text": {"e.csv", "dog\nnan\n", ErrValue, "e.csv:2: column 1 (dog)"},
		"Inf as text": {"e.csv", "dog\n0\n-inf\n", ErrValue, "e.csv:3: column 1 (dog)"},
		"no number":   {"e.csv", "dog\nyes\n", ErrFormat, "e.csv:2"},
	} {
		_, err := ReadEvidence(writeFile(t, c.file, c.content))
		wantError(t, name, err, c.want, c.says)
	}
}

// Whatever a file holds, accepted evidence is finite and has its shape, and an error names the file.
func FuzzReadEvidence(f *testing.F) {
	f.Add(false, []byte("id,dog,cat\np,1,-2\nq,0,3e4\n"))
	f.Add(false, []byte("dog\n1e39\n"))
	f.Add(true, npyBytes("<f4", "(2, 2)", true, []float32{1, -2, 0, 3}))
	f.Add(true, npyBytes(">f8", "(1, 1)", false, []float64{1e300}))
	f.Fuzz(func(t *testing.T, isNPY bool, content []byte) {
		name := "e.csv"
		if isNPY {
			name = "e.npy"
		}
		m, err := ReadEvidence(writeFile(t, name, string(content)))
		if err != nil {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name the file", err)
			}
			return
		}
		if len(m.Values) != m.Rows*m.Cols {
			t.Fatalf("%d values of %d×%d", len(m.Values), m.Rows, m.Cols)
		}
		for i, v := range m.Values {
			if !(math.Abs(float64(v)) <= math.MaxFloat32) {
				t.Fatalf("element %d is %g", i, v)
			}
		}
		bags := m.IDs
		if bags == nil {
			bags = make([]string, m.Rows)
		}
		if got, err := m.Select(bags, bags, m.Words); err == nil && !slices.Equal(got, m.Values) {
			t.Errorf("its own rows are %v of %v", got, m.Values)
		}
	})
}
