package report

import (
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
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Write(&b, Text, ClassAuditTables(r, 1, 0)...); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, s := range says {
			if !strings.Contains(text, s) {
				t.Errorf("%g: %q is not in %s", least, s, text)
			}
		}
		if strings.Contains(text, "labels that confident learning flags") != (least <= multiclass.FlaggedToo) {
			t.Errorf("%g: %s", least, text)
		}
	}
}
