package labels

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/text"
)

// A run leaves rates of some words and remarks about others; both come back.
func TestTable_OfARunReadsBackWithRemarks(t *testing.T) {
	table := Table{NewRow(text.Word{Text: "cat", POS: text.NN}), NewRow(text.Word{Text: "red", POS: text.JJ}),
		NewRow(text.Word{Text: "up,side", POS: text.Others})}
	table[0].Q01, table[0].Q10, table[0].T10 = .25, .5, .125
	table[2].Remarks = "too few labels; \"rare\""
	path := filepath.Join(t.TempDir(), "q.csv")
	expect.OK(t, table.WriteFile(path, table.LearntColumns()))
	back, err := ReadFile(path, threeWords(t), Left)
	expect.OK(t, err)
	if r := back.Rates(); r.Q01[0] != .25 || r.Q10[0] != .5 || !math.IsNaN(r.Q01[1]) || !math.IsNaN(r.Q10[2]) {
		t.Errorf("rates %+v", r)
	}
	if r := back.TrueRates(); r.Q10[0] != .125 || !math.IsNaN(r.Q01[0]) || !math.IsNaN(r.Q10[1]) {
		t.Errorf("true rates %+v", r)
	}
	if back[0].Remarks != "" || back[2].Remarks != table[2].Remarks {
		t.Errorf("remarks %q and %q", back[0].Remarks, back[2].Remarks)
	}
}

// Columns without any content are left out.
func TestTable_LearntColumnsAreThoseWithContent(t *testing.T) {
	row := func(t01, t10 float64, remarks string) Row { return Row{T01: t01, T10: t10, Remarks: remarks} }
	none := math.NaN()
	for want, table := range map[string]Table{
		"class pos q01 q10":                 {row(none, none, ""), row(none, math.Inf(1), "")},
		"class pos q01 q10 t01 t10":         {row(none, none, ""), row(0, none, "")},
		"class pos q01 q10 remarks":         {row(none, none, ""), row(none, none, "weak")},
		"class pos q01 q10 t01 t10 remarks": {row(none, .5, "weak"), row(none, none, "")},
	} {
		if got := strings.Join(table.LearntColumns(), " "); got != want {
			t.Errorf("%+v has the columns %q, want %q", table, got, want)
		}
	}
}

func TestReadWordsFile_TakesWordsInTheirOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rates.csv")
	table := Table{{Word: "a", Q01: .5, Q10: .25}, {Word: "b", Q01: .125, Q10: 1}}
	expect.OK(t, table.WriteFile(path, []string{"class", "q01", "q10"}))
	back, err := ReadWordsFile(path, []string{"b", "a"}, Given)
	if err != nil || back[0].Word != "b" || back[0].Q01 != .125 || back[1].Q10 != .25 {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := ReadWordsFile(path, []string{"b", "b"}, Given); err == nil {
		t.Error("a word that comes twice: no error")
	}
	if err := table.WriteFile(filepath.Join(path, "below"), nil); err == nil ||
		!strings.Contains(err.Error(), "cannot write ") {
		t.Errorf("a file in a file: %v", err)
	}
}

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func TestTable_WriteCSVReportsAFullDisk(t *testing.T) {
	for _, rows := range []int{0, 10_000} { // one is written at the end, the other midway
		if err := make(Table, rows).WriteCSV(fullDisk{}, EstimateColumns); err == nil {
			t.Errorf("%d rows: no error", rows)
		}
	}
}
