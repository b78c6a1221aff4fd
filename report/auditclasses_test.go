package report

import (
	"fmt"
	"strings"
	"testing"

	"nmn/labels/audit/multiclass"
)

// One label is wrong, which is too few to find noise: the tables say that it is unknown, and that there is a suspect
// all the same.
func TestClassAuditTables_SayThatNoiseIsUnknown(t *testing.T) {
	in := &multiclass.Input{Classes: 2}
	for i := range 40 {
		p := .8 + .004*float32(i)
		if i%2 == 1 {
			p = 1 - p
		}
		in.Scores = append(in.Scores, p, 1-p)
		in.Labels = append(in.Labels, int32(i%2))
		in.Rows++
	}
	in.Labels[24] = 1
	for least, says := range map[float64][]string{
		.5: {"0 of 40 labels are wrong with a probability of at least 0.5", "Suspects with the labels that confident learning flags: 1.",
			"show no noise",
			"The suspects are the labels that confident learning flags."},
		.9: {"0 of 40 labels are wrong with a probability of at least 0.9", "show no noise"},
	} {
		o := multiclass.DefaultOptions()
		o.MinError = least
		r, err := multiclass.Audit(t.Context(), in, o)
		check(t, err)
		text := strings.Join(strings.Fields(written(t, Text, ClassAuditTables(r, 1, 0)...)), " ")
		has(t, text, says...)
		if strings.Contains(text, "labels that confident learning flags") != (least <= multiclass.FlaggedToo) {
			t.Errorf("%g: %s", least, text)
		}
	}
}

// exclusiveReport has three classes. Every tenth sample of class 0 is labelled 1.
func exclusiveReport(t *testing.T, least float64) *multiclass.Report {
	t.Helper()
	in := &multiclass.Input{Classes: 3, Words: []string{"cat", hostile, "cow"}}
	for i := range 3000 {
		p, z := [3]float32{.02, .02, .02}, int32(i%3)
		p[z] = .96
		if i%30 == 0 {
			z = 1
		}
		in.Scores, in.Labels, in.IDs = append(in.Scores, p[:]...), append(in.Labels, z), append(in.IDs, fmt.Sprint("row", i))
		in.Rows++
	}
	o := multiclass.DefaultOptions()
	o.MinError, o.Plateau = least, true
	r, err := multiclass.Audit(t.Context(), in, o)
	check(t, err)
	return r
}

// The page has each suspect without a decision that has another class suggested, with both classes and its picture.
func TestClassPage_SuggestsAnotherClass(t *testing.T) {
	r := exclusiveReport(t, .5)
	r.Decisions = multiclass.Decisions{0: 0, 30: 1}
	var asked []int
	p := NewClassPage("name", r, 5, func(row int) []byte {
		asked = append(asked, row)
		return []byte("jpeg")
	})
	page := said(t, p.Write)
	got := pageData[AuditPage](t, page)
	if !got.Exclusive || got.Counts.Suspects != 100 || got.Counts.Open != 98 || len(got.Items) != 5 ||
		len(got.Images) != 5 || len(asked) != 5 {
		t.Fatalf("%d items and %d pictures of %+v, %d asked for", len(got.Items), len(got.Images), got.Counts, len(asked))
	}
	for _, item := range got.Items {
		if item.ID == "row0" || item.ID == "row30" || item.Class != 1 || item.Suggested == nil || *item.Suggested != 0 ||
			item.P < .5 {
			t.Errorf("item %+v", item)
		}
	}
	if got.Decided != "You have decided on 2 labels, and found 1 of them wrong." {
		t.Errorf("decided: %q", got.Decided)
	}
	if c := got.Classes[0]; c.Labels != 900 || len(c.Lines) != 2 ||
		!strings.Contains(c.Lines[1], "9.7 % are labelled "+hostile) {
		t.Errorf("class %+v", c)
	}
	lacks(t, page, "Kind of error", "any kind, incorrect")
	if key := NewClassPage("other", r, 5, nil).Key; key != got.Key {
		t.Error("the name changes the key")
	}
	for i := range r.Suspects {
		r.Suspects[i].Suggested = 2
	}
	if key := NewClassPage("name", r, 5, nil).Key; key == got.Key {
		t.Error("other suggestions have the same key")
	}
}

// Suspects without another class are counted, and left out.
func TestClassPage_LeavesOutSuspectsWithoutAnotherClass(t *testing.T) {
	p := NewClassPage("name", exclusiveReport(t, 0), 500, nil)
	if len(p.Items) != 100 || p.Counts.Suspects != 3000 || !strings.Contains(strings.Join(p.Summary, " "),
		"leaves out 2900 of them") {
		t.Errorf("%d items of %d; %q", len(p.Items), p.Counts.Suspects, p.Summary)
	}
}
