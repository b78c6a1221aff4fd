package report

import "nmn/captioner/metrics"

// CaptionTable shows the scores of generated captions, as the COCO evaluation names them.
func CaptionTable(r *metrics.Result, meteorModules string) *Table {
	return CaptionScores("Captions", r.All, len(r.Captions), meteorModules)
}

// CaptionScores is CaptionTable for the scores of one set of captions, with a title.
func CaptionScores(title string, s metrics.Scores, captions int, meteorModules string) *Table {
	t := &Table{
		Title: title,
		Columns: []Column{{Name: "captions"}, {Name: "BLEU-1", Decimals: 3}, {Name: "BLEU-2", Decimals: 3},
			{Name: "BLEU-3", Decimals: 3}, {Name: "BLEU-4", Decimals: 3}, {Name: "METEOR", Decimals: 3},
			{Name: "ROUGE-L", Decimals: 3}, {Name: "CIDEr-D", Decimals: 3}},
		Notes: []string{"METEOR 1.5 with the modules " + meteorModules + "."},
	}
	cells := []Cell{count(captions)}
	for _, v := range append(s.BLEU[:], s.METEOR, s.ROUGEL, s.CIDErD) {
		cells = append(cells, figure(v))
	}
	t.Rows = []Row{{Cells: cells}}
	return t
}
