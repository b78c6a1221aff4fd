package audit

import (
	"fmt"
	"strings"

	"nmn/format/table"
	"nmn/labels"
)

// The verdicts on a label.
const (
	Accept labels.Verdict = "accept" // the label is wrong: change it
	Reject labels.Verdict = "reject" // the label is right: keep it
)

// Cell is a label of a bag and a class.
type Cell struct{ Bag, Class int32 }

// Decisions are the verdicts of a reviewer.
type Decisions map[Cell]labels.Verdict

// decisions returns the form of a file of decisions. Its columns for each label are id, class, given (0 or 1,
// the label at the time of review) and decision (accept or reject). A bag or a class that the audit does not
// have, and a label that has changed since, are errors.
func (in *Input) decisions() *labels.Decisions[Cell] {
	bags, classes := labels.Positions(in.Bags, in.ID), labels.Positions(in.Classes, in.Word)
	return &labels.Decisions[Cell]{Columns: []string{"id", "class", "given", "decision"}, Needed: 4,
		Verdicts: [2]labels.Verdict{Accept, Reject}, Find: func(fields []string) (cell Cell, name string, err error) {
			id, class, given := fields[0], fields[1], strings.TrimSpace(fields[2])
			var ok bool
			if cell.Bag, ok = bags[id]; !ok {
				return cell, "", fmt.Errorf("no row has the id %.60q", id)
			}
			if cell.Class, ok = classes[class]; !ok {
				return cell, "", fmt.Errorf("there is no class %.60q", class)
			}
			if given != "0" && given != "1" {
				return cell, "", fmt.Errorf("given is %.40q, want the label 0 or 1", given)
			}
			name = fmt.Sprintf("sample %.60q, class %.60q", id, class)
			switch z := in.Labels[int(cell.Bag)*in.Classes+int(cell.Class)]; {
			case z == table.Unknown:
				return cell, "", fmt.Errorf("%s was decided when its label was %s; it is unknown now: the decision is for other "+
					"labels", name, given)
			case given[0] != '0'+z:
				return cell, "", fmt.Errorf("%s was decided when its label was %s; it is %d now: the decision is for other labels",
					name, given, z)
			}
			return cell, name, nil
		}}
}

// Undecided returns the suspects without a decision.
func (d Decisions) Undecided(suspects []Suspect) []Suspect {
	if len(d) == 0 {
		return suspects
	}
	var out []Suspect
	for _, s := range suspects {
		if _, decided := d[Cell{s.Bag, s.Class}]; !decided {
			out = append(out, s)
		}
	}
	return out
}
