package report

import (
	"nmn/captioner/metrics"
	"nmn/eval"
)

// CaptionTable shows the scores of generated captions, as the COCO evaluation names them.
func CaptionTable(r *metrics.Result, meteorModules string) *Table {
	return CaptionScores("Captions", r.All, len(r.Captions), meteorModules)
}

// CaptionScores is CaptionTable for the scores of one set of captions, with a title.
func CaptionScores(title string, s metrics.Scores, captions int, meteorModules string) *Table {
	t := &Table{Title: title, Notes: []string{"METEOR 1.5 with the modules " + meteorModules + "."},
		Columns: append(NumberColumns(0, "captions"), NumberColumns(3, "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR",
			"ROUGE-L", "CIDEr-D")...)}
	cells := []Cell{count(captions)}
	for _, v := range append(s.BLEU[:], s.METEOR, s.ROUGEL, s.CIDErD) {
		cells = append(cells, figure(v))
	}
	t.Rows = []Row{{Cells: cells}}
	return t
}

// CaptionRow is a captioner, or a bound for comparison, with its scores for each seed.
type CaptionRow struct {
	Name   string
	Scores []metrics.Scores
	Aside  bool // a bound to compare with: no candidate for the best
}

// table4Columns are the columns of the paper's Table 4, in its order.
var table4Columns = []struct {
	name string
	of   func(metrics.Scores) float64
}{
	{"CIDEr", func(s metrics.Scores) float64 { return s.CIDErD }},
	{"Bleu-4", func(s metrics.Scores) float64 { return s.BLEU[3] }},
	{"ROUGE-L", func(s metrics.Scores) float64 { return s.ROUGEL }},
	{"METEOR", func(s metrics.Scores) float64 { return s.METEOR }},
}

// Table4 lays captioners out like the paper's Table 4: CIDEr-D, BLEU-4, ROUGE-L and METEOR times 100, means
// over seeds with their standard deviation.
func Table4(title string, rows []CaptionRow) *Table {
	t := blankTable4(title)
	t.Columns = append(t.Columns, Column{Name: "seeds"})
	for _, r := range rows {
		row := Row{Cells: []Cell{words(r.Name)}, aside: r.Aside, Rule: len(t.Rows) > 0 &&
			r.Aside != t.Rows[len(t.Rows)-1].aside}
		for _, c := range table4Columns {
			var values []eval.Number
			for _, s := range r.Scores {
				values = append(values, eval.Number(100*c.of(s)))
			}
			row.Cells = append(row.Cells, overSeeds(values))
		}
		t.Rows = append(t.Rows, Row{Cells: append(row.Cells, count(len(r.Scores))), aside: row.aside, Rule: row.Rule})
	}
	for c := range table4Columns {
		t.markBest(1+c, false)
	}
	return t
}

func blankTable4(title string) *Table {
	t := &Table{Title: title, Columns: []Column{{Name: "Model", Text: true}}}
	for _, c := range table4Columns {
		t.Columns = append(t.Columns, Column{Name: c.name, Decimals: 1})
	}
	return t
}

// PublishedCaptioner is a row of the paper's Table 4. Arm is empty for methods of others.
type PublishedCaptioner struct {
	Name   string
	Arm    string         // Baseline, nmnFI or nmnFD, all with MIL
	Scores [4]eval.Number // CIDEr, Bleu-4, ROUGE-L and METEOR, as printed
}

// PublishedCaptioners are the rows of the paper's Table 4, on the 497 validation clips of MSR-VTT, in its order.
func PublishedCaptioners() []PublishedCaptioner {
	return []PublishedCaptioner{
		{"VGG16*-MIL", Baseline, [4]eval.Number{34.8, 33.9, 56.8, 25.6}},
		{"VGG16-MIL-NMN-FI", nmnFI, [4]eval.Number{36.5, 36.2, 58.3, 26.4}},
		{"VGG16-MIL-NMN-FD", nmnFD, [4]eval.Number{34.9, 35.7, 58.2, 26.4}},
		{"MIMLL", "", [4]eval.Number{32.6, 33.7, 56.9, 25.9}},
		{"Mean-Pooling", "", [4]eval.Number{35.0, 30.4, 52.0, 23.7}},
		{"Soft-Attention", "", [4]eval.Number{37.1, 28.5, 53.3, 25.0}},
		{"S2VT", "", [4]eval.Number{35.2, 31.4, 55.9, 25.7}},
		{"C3D", "", [4]eval.Number{38.9, 37.4, 59.4, 26.4}},
		{"ResNet", "", [4]eval.Number{40.0, 38.9, 60.5, 26.9}},
	}
}

// PublishedTable4 is the paper's Table 4, on the 497 validation clips of MSR-VTT.
func PublishedTable4() *Table {
	t := blankTable4("Published: Table 4 of the paper, validation clips of MSR-VTT")
	for i, r := range PublishedCaptioners() {
		row := Row{Cells: []Cell{words(r.Name)}, Rule: i == 3}
		for _, v := range r.Scores {
			row.Cells = append(row.Cells, number(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
