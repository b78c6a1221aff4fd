package multiclass

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nmn/format/table"
	"nmn/labels"
	"nmn/labels/audit"
)

// Decisions are the classes that a reviewer has decided on, by row. A row that keeps its label has that class.
type Decisions map[int32]int32

// decisionColumns are the columns of a file of decisions.
var decisionColumns = []string{"id", "given", "suggested", "decision"}

// ReadDecisions reads a file of decisions, as the page saves it, and keeps them. Its columns for each suspect are
// id, given (the class at the time of review), suggested and decision (accept or reject). The class of suggested
// may be any other one. A row or a class that the audit does not have, and a label that has changed since, are
// errors.
func (r *Report) ReadDecisions(path string) error {
	rows, classes := labels.Positions(r.Rows, r.ID), labels.Positions(r.Input.Classes, r.Word)
	suggested := map[int32]int32{}
	form := &labels.Decisions[int32]{Columns: decisionColumns, Needed: len(decisionColumns),
		Verdicts: [2]labels.Verdict{audit.Accept, audit.Reject},
		Find: func(fields []string) (row int32, name string, err error) {
			row, ok := rows[fields[0]]
			if !ok {
				return 0, "", fmt.Errorf("no row has the id %.60q", fields[0])
			}
			var named [2]int32
			for i, class := range fields[1:3] {
				if named[i], ok = classes[class]; !ok {
					return 0, "", fmt.Errorf("there is no class %.60q", class)
				}
			}
			name = fmt.Sprintf("sample %.60q", fields[0])
			if z := r.Labels[row]; z != named[0] {
				now := "unknown"
				if z != table.UnknownClass {
					now = r.Word(int(z))
				}
				return 0, "", fmt.Errorf("%s was decided when its class was %.60s; it is %.60s now: the decision is for "+
					"other labels", name, fields[1], now)
			}
			if named[0] == named[1] && labels.Verdict(strings.TrimSpace(fields[3])) == audit.Accept {
				return 0, "", fmt.Errorf("%s is given the class %.60s, which it has: want another class as suggested, or %s",
					name, fields[1], audit.Reject)
			}
			suggested[row] = named[1]
			return row, name, nil
		}}
	verdicts, err := form.ReadFile(path)
	if err != nil {
		return err
	}
	r.Decisions = make(Decisions, len(verdicts))
	for row, verdict := range verdicts {
		r.Decisions[row] = r.Labels[row]
		if verdict == audit.Accept {
			r.Decisions[row] = suggested[row]
		}
	}
	return nil
}

// Open returns the suspects without a decision for which another class is suggested, in the order of Suspects.
func (r *Report) Open() []Suspect {
	return slices.DeleteFunc(slices.Clone(r.Suspects), func(s Suspect) bool {
		_, decided := r.Decisions[s.Row]
		return decided || s.Suggested == s.Given
	})
}

func (r *Report) decided() (changes []change) {
	k := r.Input.Classes
	var own *row
	for i, class := range r.Decisions {
		z := r.Labels[i]
		if class == z {
			continue
		}
		if own == nil {
			own = r.newRow()
		}
		own.set(r.Scores[int(i)*k : (int(i)+1)*k])
		s := own.suspect(i, z)
		s.Suggested, s.P = class, own.posterior[class]
		changes = append(changes, change{s, accepted})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.Row, b.Row) })
	return changes
}
