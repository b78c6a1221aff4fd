package report

import (
	"fmt"
	"hash/fnv"
	"html/template"

	"nmn/labels/audit"
	"nmn/labels/audit/multiclass"
)

// NewClassPage is NewAuditPage for classes that exclude each other: each item suggests another class. Suspects
// without another class that is more probable are left out.
func NewClassPage(name string, r *multiclass.Report, items int, picture func(row int) []byte) *AuditPage {
	open := r.Open()
	p := &AuditPage{Name: name, Exclusive: true, Items: []AuditItem{}, Images: []template.URL{},
		Counts: audit.Counts{Bags: r.Rows, Labels: r.Known(), Audited: r.Known(), Suspects: len(r.Suspects),
			Open: len(open), Classes: len(r.Classes)},
		Summary: []string{classSuspectNote(r), noiseNote(r)}}
	if left := len(r.Suspects) - len(open) - decidedSuspects(r); left > 0 {
		p.Summary = append(p.Summary, fmt.Sprintf("The page leaves out %d of them, because no other class is more "+
			"probable.", left))
	}
	if n := len(r.Decisions); n > 0 {
		changed := 0
		for row, class := range r.Decisions {
			if class != r.Labels[row] {
				changed++
			}
		}
		p.Decided = fmt.Sprintf("You have decided on %d labels, and found %d of them wrong.", n, changed)
	}
	for y, c := range r.Classes {
		shown := AuditClass{Word: r.Word(y), Labels: c.Labels, Audited: true}
		shown.Lines = []string{fmt.Sprintf("%d labels. Suspects among them: %d.", c.Labels, c.Suspects)}
		if r.Noise != multiclass.Unknown {
			shown.Detail = fmt.Sprintf("labelled right %.0f %%", 100*c.Right)
			shown.Lines = append(shown.Lines, fmt.Sprintf("About %.0f samples belong to this class. %.1f %% of them are "+
				"labelled so, and %.1f %% are labelled %s.", c.True, 100*c.Right, 100*c.ConfusedRate, r.Word(c.Confused)))
		}
		p.Classes = append(p.Classes, shown)
	}
	hash := fnv.New64a()
	for _, s := range mixed(open, items, func(s multiclass.Suspect) int32 { return s.Given }) {
		suggested := int(s.Suggested)
		item := AuditItem{ID: r.ID(int(s.Row)), Class: int(s.Given), Kind: audit.Incorrect, Given: 1, Wrong: s.Wrong,
			P: s.P, Suggested: &suggested}
		if picture != nil {
			item.Image = addPicture(&p.Images, picture(int(s.Row)))
		}
		p.Items = append(p.Items, item)
		fmt.Fprintf(hash, "%q %q %q\n", item.ID, r.Word(item.Class), r.Word(suggested))
	}
	p.Key = fmt.Sprintf("%016x", hash.Sum64())
	return p
}

// decidedSuspects returns how many suspects have a decision.
func decidedSuspects(r *multiclass.Report) (n int) {
	for _, s := range r.Suspects {
		if _, decided := r.Decisions[s.Row]; decided {
			n++
		}
	}
	return n
}
