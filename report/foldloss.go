package report

// FoldLossTable shows the out-of-fold loss of each epoch, counted from 1, and which epoch was chosen by
// it.
func FoldLossTable(title string, loss []float64, best int) *Table {
	t := &Table{Title: title, Columns: []Column{{Name: "epoch"}, {Name: "loss", Decimals: 4},
		{Name: "remarks", Text: true}}}
	for i, v := range loss {
		remark := ""
		if i+1 == best {
			remark = "least: the scores come from this epoch"
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{count(i + 1), figure(v), words(remark)}})
	}
	return t
}
