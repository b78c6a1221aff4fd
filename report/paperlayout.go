package report

import (
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/text"
)

// paperOrder are the parts of speech in the order of the columns of the paper's tables.
var paperOrder = []text.POS{text.VB, text.NN, text.JJ, text.DT, text.PRP, text.IN, text.Others}

// allMIL is the last column of the paper's Table 2: the mean over all words of the same arm with MIL.
const allMIL = "All-MIL"

// blankLayout is table 1, 2 or 3 of the paper without rows.
func blankLayout(table, decimals int, title string) (*Table, error) {
	t := &Table{Title: title}
	switch table {
	case 1:
	case 2:
		t.Columns = append(t.Columns, Column{Name: noiseColumn, Text: true})
	case 3:
		t.Columns = append(t.Columns, Column{Name: levelColumn, Text: true})
	default:
		return nil, fmt.Errorf("report: table %d of the paper has another layout, want 1, 2 or 3", table)
	}
	t.Columns = append(t.Columns, Column{Name: "arm", Text: true})
	for _, p := range paperOrder {
		t.Columns = append(t.Columns, Column{Name: p.String(), Decimals: decimals, Spread: true})
	}
	t.Columns = append(t.Columns, Column{Name: "All", Decimals: decimals, Spread: true})
	if table == 2 {
		t.Columns = append(t.Columns, Column{Name: allMIL, Decimals: decimals, Spread: true})
	}
	return t, nil
}

// layoutRow is a row of blankLayout: first is the cell before the arm, which Table 1 lacks.
func layoutRow[T any](table int, first Cell, arm string, g eval.ByGroup[T], mil T, cell func(T) Cell) Row {
	var row Row
	if table != 1 {
		row.Cells = append(row.Cells, first)
	}
	row.Cells = append(append(row.Cells, words(arm)), groupCells(g, paperOrder, cell)...)
	if table == 2 {
		row.Cells = append(row.Cells, cell(mil))
	}
	return row
}

func same(c Cell) Cell { return c }

// PaperLayout lays runs out as the paper's Table 1, 2 or 3: average precision with human agreement in percent, a row
// for each arm and a column for each part of speech, mean and standard deviation over seeds. On the paper's data, the
// published figures follow in a row below each arm. The best of our arms is bold in each block.
func PaperLayout(table int, runs []Run) (*Table, error) {
	decimals := 1 // of a spread over seeds more would mean nothing
	if slices.ContainsFunc(runs, func(r Run) bool { return r.PaperData }) {
		decimals = 2 // as printed
	}
	t, err := blankLayout(table, decimals, fmt.Sprintf("Table %d: average precision with human agreement (%%)", table))
	if err != nil {
		return nil, err
	}
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	if sizes, ok := commonSizes(cells); ok {
		t.Rows = append(t.Rows, layoutRow(table, words(""), "count", sizes, sizes.All, count))
		t.Rows[0].aside = true
	}
	published := false
	var block cellKey
	for _, c := range cells {
		of := c
		if table == 2 && c.mil {
			if at(cells, c.noise, c.arm, false) != nil {
				continue // it stands in the column of the row without MIL
			}
			of.runs = nil
		}
		rows := t.armRows(table, cells, c, of)
		rows[0].Rule = len(t.Rows) > 0 && (c.noise != block.noise || table != 2 && c.mil != block.mil)
		published = published || len(rows) > 1
		t.Rows, block = append(t.Rows, rows...), c.cellKey
	}
	for i, c := range t.Columns {
		if !c.Text {
			t.markBest(i, false)
		}
	}
	if !slices.ContainsFunc(cells, func(c cellOf) bool { return c.runs[0].Result.GroupSize.Group != nil }) {
		for _, p := range paperOrder {
			t.drop(t.column(p.String()))
		}
	}
	t.Notes = append(t.Notes, seedsNote(cells))
	if published {
		t.Notes = append(t.Notes, `Rows "`+publishedSource+`" are the published figures, of one run each.`)
	}
	return t, nil
}

// armRows returns the row of an arm and, on the paper's data, a row with its published figures.
func (t *Table) armRows(table int, cells []cellOf, c, of cellOf) []Row {
	mil, first := overSeeds(nil), c.noiseCell()
	if with := at(cells, c.noise, c.arm, true); table == 2 && with != nil {
		mil = humanCells(with.runs, humanOf).All
	}
	if table == 3 {
		first = words(c.runs[0].Level)
	}
	name := c.runs[0].armTitle()
	switch {
	case c.runs[0].PaperData:
		name = paperName(c.arm, c.mil && table != 2)
	case c.mil && table != 2:
		name += " + MIL"
	}
	rows := []Row{layoutRow(table, first, name, humanCells(of.runs, humanOf), mil, same)}
	p, ok := publishedFor(c.cellKey, c.runs[0].Level)
	if !ok || !c.runs[0].PaperData {
		return rows
	}
	other := eval.Undefined()
	key := c.cellKey
	if key.mil = true; table == 2 {
		if with, ok := publishedFor(key, ""); ok {
			other = with.AP.All
		}
	}
	row := layoutRow(table, first, name+", "+publishedSource, p.AP, other, number)
	row.aside = true
	return append(rows, row)
}

// at finds the runs of an arm at a level of noise, or returns nil.
func at(cells []cellOf, noise float64, arm string, mil bool) *cellOf {
	i := slices.IndexFunc(cells, func(c cellOf) bool { return near(c.noise, noise) && c.arm == arm && c.mil == mil })
	if i < 0 {
		return nil
	}
	return &cells[i]
}

// humanCells are average precision with human agreement of runs that differ in their seeds, in percent.
func humanCells(runs []Run, human func(*eval.Result) *eval.Human) (g eval.ByGroup[Cell]) {
	over := func(figure func(eval.ByGroup[eval.Number]) eval.Number) Cell {
		var values []eval.Number
		for i := range runs {
			if h := human(runs[i].Result); h != nil {
				values = append(values, 100*figure(h.AP))
			}
		}
		return overSeeds(values)
	}
	for p := range text.POSCount {
		g.Group = append(g.Group,
			over(func(g eval.ByGroup[eval.Number]) eval.Number { return g.In(text.POS(p), eval.Undefined()) }))
	}
	g.All = over(func(g eval.ByGroup[eval.Number]) eval.Number { return g.All })
	return g
}

func seedsNote(cells []cellOf) string {
	least, most := 0, 0
	for i, c := range cells {
		if n := len(c.runs); i == 0 || n < least {
			least = n
		}
		most = max(most, len(c.runs))
	}
	switch {
	case most <= 1:
		return "One seed: there is no spread."
	case least == most:
		return fmt.Sprintf("Mean ± standard deviation over %d seeds.", most)
	}
	return fmt.Sprintf("Mean ± standard deviation over %d to %d seeds.", least, most)
}

// PublishedLayout is Table 1, 2 or 3 of the paper with the published figures alone, for comparison with
// tables of other data.
func PublishedLayout(table int) (*Table, error) {
	t, err := blankLayout(table, 2, "")
	if err != nil {
		return nil, err
	}
	t.Title = fmt.Sprintf("Published, on %s: Table %d of the paper", publishedOn(table), table)
	sizes := publishedSizes(table)
	t.Rows = append(t.Rows, layoutRow(table, words(""), "count", sizes, sizes.All, count))
	var block Published
	for _, p := range PublishedRows() {
		if p.Table != table || table == 2 && p.MIL {
			continue
		}
		name, first, mil := paperName(p.Arm, p.MIL), noiseCell(p.Noise), eval.Undefined()
		if p.Cited {
			name += " (Fang et al.)"
		}
		if table == 3 {
			first = words(p.Level)
		}
		if with, ok := publishedFor(cellKey{noise: p.Noise, mil: true, arm: p.Arm}, ""); ok {
			mil = with.AP.All
		}
		row := layoutRow(table, first, name, p.AP, mil, number)
		row.Rule = block.Noise != p.Noise || block.MIL != p.MIL
		t.Rows, block = append(t.Rows, row), p
	}
	return t, nil
}

// publishedOn names the data of a table of the paper.
func publishedOn(table int) string {
	if table == 3 {
		return "MSR-VTT"
	}
	return "COCO"
}

// ObservedTable compares the prediction of the observed labels, p(z=1|I), with the prediction of the true labels, for
// the arms of the runs that have both: average precision with human agreement in percent, over seeds.
func ObservedTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	t := &Table{Title: "Prediction of observed and of true labels, average precision with human agreement (%)",
		Columns: []Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true},
			{Name: "p(y=1|I)", Decimals: 2, Spread: true}, {Name: "p(z=1|I)", Decimals: 2, Spread: true},
			{Name: "difference", Decimals: 2, Spread: true}, {Name: "published p(y=1|I)", Decimals: 2},
			{Name: "published p(z=1|I)", Decimals: 2}}}
	for _, c := range cells {
		var y, z, d []eval.Number
		for _, r := range c.runs {
			if o := r.Result.Observed; o != nil && o.Human != nil && r.Result.Human != nil {
				y = append(y, 100*r.Result.Human.AP.All)
				z = append(z, 100*o.Human.AP.All)
				d = append(d, y[len(y)-1]-z[len(z)-1])
			}
		}
		if len(y) == 0 {
			continue
		}
		row := Row{Cells: []Cell{c.noiseCell(), words(c.runs[0].armName()), overSeeds(y), overSeeds(z), overSeeds(d),
			unknown(), unknown()}}
		if p, ok := publishedFor(c.cellKey, ""); ok && c.arm == nmnFD && near(c.noise, observedNoise) {
			row.Cells[5], row.Cells[6] = number(p.AP.All), number(PublishedObserved(c.mil))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{seedsNote(cells), "The published figures come from COCO at 80 % noise."}
	return t, nil
}
