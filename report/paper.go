package report

import (
	"math"
	"slices"
	"strconv"

	"nmn/eval"
	"nmn/text"
)

// PaperTable lays runs out like the paper's Tables 1 and 2, and runs on videos like Table 3: one row for each
// noise level and arm, and for videos also for each training level. Its figures are average precision with
// human agreement in percent, means over the words of each part of speech and over all. Several seeds are
// averaged. On the paper's data, the published figures have their own row below ours. The best of our arms is
// bold, separately with and without MIL. Runs without caption counts show dashes.
func PaperTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	t := &Table{
		Title:   "Concept detection, average precision with human agreement (%)",
		Columns: append(TextColumns(noiseColumn, levelColumn, "arm", "source"), NumberColumns(2, groupNames()...)...),
	}
	if sizes, ok := commonSizes(cells); ok {
		t.Rows = append(t.Rows, groupRow(words(""), "", "words", "", groupCells(sizes, tagOrder, count)))
	}
	published := false
	for i := 0; i < len(cells); {
		first := len(t.Rows)
		block := cells[i].cellKey
		for ; i < len(cells) && cells[i].sameBlock(block); i++ {
			published = t.addPaperRows(cells[i]) || published
		}
		t.Rows[first].Rule = true
	}
	for c := 4; c < len(t.Columns); c++ {
		t.markBest(c, false)
	}
	tables := "Table 1 without replaced captions, Table 2 with"
	if !slices.ContainsFunc(runs, func(r Run) bool { return r.Level != "" }) {
		t.drop(t.column(levelColumn))
	} else {
		tables = "Table 3"
	}
	if !slices.ContainsFunc(runs, func(r Run) bool { return r.Result == nil || r.Result.GroupSize.Group != nil }) {
		for _, name := range groupNames()[:text.POSCount] {
			t.drop(t.column(name))
		}
	}
	if published {
		t.Notes = append(t.Notes, `Rows of source "`+publishedSource+`" are the published figures: `+tables+".")
	}
	return t, nil
}

const (
	publishedSource = "paper"
	levelColumn     = "level"
)

// addPaperRows adds an arm, its observed prediction if it has one, and the figures that the paper prints for
// them. It reports whether the paper prints any.
func (t *Table) addPaperRows(c cellOf) (published bool) {
	paper := c.runs[0].PaperData
	name := c.runs[0].armName()
	t.Rows = append(t.Rows, apRow(c, name, humanOf))
	if p, ok := publishedFor(c.cellKey, c.runs[0].Level); ok && paper {
		t.Rows = append(t.Rows, publishedRow(c, name, p.AP))
		published = true
	}
	if c.runs[0].Result.Observed == nil {
		return published
	}
	name += ", observed"
	observed := apRow(c, name, func(r *eval.Result) *eval.Human {
		if r.Observed == nil {
			return nil
		}
		return r.Observed.Human
	})
	observed.aside = true
	t.Rows = append(t.Rows, observed)
	if paper && c.runs[0].Level == "" && c.arm == nmnFD && near(c.noise, observedNoise) {
		t.Rows = append(t.Rows, publishedRow(c, name, onlyAll(PublishedObserved(c.mil))))
		published = true
	}
	return published
}

// apRow averages the human-agreement AP over the seeds of a cell.
func apRow(c cellOf, name string, human func(*eval.Result) *eval.Human) Row {
	mean := func(c Cell) Cell { return number(c.Value) }
	return groupRow(c.noiseCell(), c.runs[0].Level, name, seeds(len(c.runs)),
		groupCells(humanCells(c.runs, human), tagOrder, mean))
}

func humanOf(r *eval.Result) *eval.Human { return r.Human }

func seeds(n int) string {
	if n == 1 {
		return "ours"
	}
	return "ours, " + strconv.Itoa(n) + " seeds"
}

func publishedRow(c cellOf, name string, ap eval.ByGroup[eval.Number]) Row {
	row := groupRow(c.noiseCell(), c.runs[0].Level, name, publishedSource, groupCells(ap, tagOrder, number))
	row.aside = true
	return row
}

func groupRow(setting Cell, level, arm, source string, figures []Cell) Row {
	return Row{Cells: append([]Cell{setting, words(level), words(arm), words(source)}, figures...)}
}

// tagOrder are the parts of speech in the order of their tags.
var tagOrder = []text.POS{text.NN, text.VB, text.JJ, text.DT, text.PRP, text.IN, text.Others}

// groupCells are the cells of some groups and of all words. Without parts of speech the groups are empty.
func groupCells[T any](g eval.ByGroup[T], order []text.POS, cell func(T) Cell) []Cell {
	cells := make([]Cell, len(order))
	for i, p := range order {
		if g.Group != nil {
			cells[i] = cell(g.Group[p])
		}
	}
	return append(cells, cell(g.All))
}

func groupNames() []string {
	var names []string
	for _, p := range tagOrder {
		names = append(names, p.String())
	}
	return append(names, "All")
}

// publishedFor finds the figures of Tables 1 and 2 for an arm, or of Table 3 for an arm with a level.
func publishedFor(k cellKey, level string) (Published, bool) {
	for _, p := range PublishedRows() {
		if k.kind == "" && p.Level == level && !p.Cited && p.Arm == k.arm && p.MIL == k.mil && near(p.Noise, k.noise) {
			return p, true
		}
	}
	return Published{}, false
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// commonSizes returns the numbers of words when all runs have the same vocabulary.
func commonSizes(cells []cellOf) (eval.ByGroup[int], bool) {
	var sizes eval.ByGroup[int]
	for i, c := range cells {
		for _, r := range c.runs {
			if i == 0 {
				sizes = r.Result.GroupSize
			}
			if s := r.Result.GroupSize; s.All != sizes.All || !slices.Equal(s.Group, sizes.Group) {
				return sizes, false
			}
		}
	}
	return sizes, len(cells) > 0
}
