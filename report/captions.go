package report

import (
	"nmn/eval"
	"nmn/eval/caption"
)

// CaptionTable shows the scores of generated captions, as the COCO evaluation names them.
func CaptionTable(r *caption.Result, meteorModules string) *Table {
	t := &Table{
		Title: "Captions",
		Columns: []Column{{Name: "captions"}, {Name: "BLEU-1", Decimals: 3}, {Name: "BLEU-2", Decimals: 3}, {Name: "BLEU-3", Decimals: 3}, {Name: "BLEU-4", Decimals: 3},
			{Name: "METEOR", Decimals: 3}, {Name: "ROUGE-L", Decimals: 3}, {Name: "CIDEr-D", Decimals: 3}},
		Notes: []string{"METEOR 1.5 with the modules " + meteorModules + "."},
	}
	cells := []Cell{count(len(r.Captions))}
	for _, v := range append(r.All.BLEU[:], r.All.METEOR, r.All.ROUGEL, r.All.CIDErD) {
		cells = append(cells, number(eval.Number(v)))
	}
	t.Rows = []Row{{Cells: cells}}
	return t
}
