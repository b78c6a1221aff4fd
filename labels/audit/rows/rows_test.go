package rows

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	_ "nmn/format/parquet"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// The average over the labels that have a say is that over all of them, in the order of its definition.
func TestAggregate_IsTheAverageOfAllLabels(t *testing.T) {
	s := rng.New(2, 1)
	var a Aggregate
	for _, n := range []int{1, 2, 7, 24, 25, 80, 500} {
		right := make([]float64, n)
		a.Reset()
		for i := range right {
			right[i] = s.Float64()
			a.Add(1 - right[i])
		}
		slices.SortFunc(right, func(x, y float64) int { return cmp.Compare(y, x) })
		want := right[0]
		for _, p := range right[1:] {
			want = .8*p + .2*want
		}
		if got, ok := a.Quality(); !ok || math.Abs(got-want) > 1e-15 {
			t.Errorf("%d labels: %.17g, want %.17g", n, got, want)
		}
	}
	a.Reset()
	if _, ok := a.Quality(); ok {
		t.Error("a row without labels has a quality")
	}
}

func example(t *testing.T) *Table {
	t.Helper()
	table := &Table{IDs: []string{"a", "b", "c", "d", "e", "f"}, Words: []string{"cat", "dog"},
		Kind: func(int) string { return "missing" },
		Scores: []Score{{.9, 0, 0, .1, -1}, {.2, 2, 1, .7, -1}, {.2, 1, 0, .8, 1}, {0, 0, -1, 0, -1}, {.95, 0, 1, .05, -1},
			{.1, 1, 1, .9, -1}}}
	table.Rank()
	return table
}

func TestTable_RanksAndSumsUp(t *testing.T) {
	table := example(t)
	var order []string
	for _, r := range table.Top(9) {
		order = append(order, r.ID)
	}
	if got := strings.Join(order, ""); got != "fbcaed" {
		t.Errorf("ranked %s", got)
	}
	second := table.Row(1)
	if second.Word != "dog" || second.Suspects != 2 || second.Rank != 2 {
		t.Errorf("row %+v", second)
	}
	if last := table.Row(5); last.Quality != nil || last.Word != "" {
		t.Errorf("a row without audited labels: %+v", last)
	}
	if third := table.Row(2); third.Suggest != "dog" {
		t.Errorf("suggested %q", third.Suggest)
	}
	s := table.Summary(12)
	if s.Suspects != 4 || s.SuspectRows != 3 {
		t.Errorf("summary %+v", s)
	}
}

// All formats hold the same rows.
func TestTable_WritesTheSameInEveryFormat(t *testing.T) {
	table, dir := example(t), t.TempDir()
	paths := map[string]string{}
	for _, ending := range Formats {
		paths[ending] = filepath.Join(dir, "rows"+ending)
		expect.OK(t, table.WriteFile(paths[ending]))
	}
	want := table.Top(6)
	got, err := parquet.ReadFile[Row](paths[".parquet"])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, Parquet has %+v", err, got)
	}
	text, err := os.ReadFile(paths[".jsonl"])
	expect.OK(t, err)
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var r Row
		if err := json.Unmarshal([]byte(line), &r); err != nil || !reflect.DeepEqual(r, want[i]) {
			t.Errorf("%v, line %d is %s", err, i+1, line)
		}
	}
	f, err := os.Open(paths[".csv"])
	expect.OK(t, err)
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	header := "id,rank,quality,suspects,class,kind,p_wrong,suggested"
	if err != nil || len(records) != 7 || strings.Join(records[0], ",") != header {
		t.Fatalf("%v, %d records", err, len(records))
	}
	if row := strings.Join(records[2], ","); row != "b,2,0.2,2,dog,missing,0.7," {
		t.Errorf("row %s", row)
	}
	table.IDs[0] = "\xff"
	for _, ending := range []string{".jsonl", ".parquet"} {
		if err := table.WriteFile(paths[ending]); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s takes a name that is not UTF-8: %v", ending, err)
		}
	}
	if err := table.WriteFile(filepath.Join(dir, "rows.pdf")); err == nil {
		t.Error("a .pdf is written")
	}
}
