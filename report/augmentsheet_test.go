package report

import "testing"

func TestSheet_ShowsEachEpochOfEachBag(t *testing.T) {
	cell := SheetCell{JPEG: []byte("jpeg"), Lines: []string{"ShearX +0.09", hostile},
		Labels: []SheetLabel{{"dog", ""}, {hostile, "63 %"}}, Further: 4}
	s := Sheet{Name: hostile, Applied: "RandAugment 2,9", Notes: []string{"a note"}, Columns: []string{"as it is",
		"epoch 1"},
		Rows: []SheetRow{{ID: "bag\u202e", Cells: []SheetCell{cell, cell}}, {ID: hostile,
			Cells: []SheetCell{cell, {Lines: []string{"cut short"}}}}}}
	page := said(t, s.WriteHTML)
	content, elements := parsed(t, page)
	if elements["img"] != 3 || elements["figure"] != 4 || elements["script"] != 0 || elements["b"] != 0 {
		t.Errorf("elements %v", elements)
	}
	has(t, content, "RandAugment 2,9", "a note", "epoch 1", "ShearX +0.09", "63 %", "and 4 more",
		"cut short")
	lacks(t, content, "\u202e")
	lacks(t, page, "://")
}

// What training pictures were changed by stands among the facts of a run.
func TestFacts_NameTheAugmentations(t *testing.T) {
	r := shownRun()
	r.Augment = "mirrored half of the time, mixup 0.2"
	has(t, htmlOf(t, r), "augmentations: "+r.Augment)
}
