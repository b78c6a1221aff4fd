package relabel

import (
	"slices"

	"nmn/loader/manifest"
)

// pairPlan holds the new content of the lines of a manifest that has a line for each picture and label: the
// names that each line gives then, an empty one for no label. A line with several names is followed by copies
// of itself, a line with none is removed, and a line that is not in the plan stays as it is.
type pairPlan map[int][]string

// planPairs plans the new labels of the lines of m. changed counts the rows in which a line changes.
func planPairs(m *manifest.Manifest, l *Labels) (plan pairPlan, changed int) {
	lines := map[int][]manifest.Line{}
	for _, line := range m.Lines {
		lines[line.Row] = append(lines[line.Row], line)
	}
	plan = pairPlan{}
	for i := range m.Rows {
		row := &m.Rows[i]
		before := namesOf(m, row)
		names, other := l.Names(row.ID, before)
		if !other {
			continue
		}
		changed++
		added := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(before, name) })
		var kept, free []int // numbers of lines
		for _, line := range lines[row.Line] {
			if line.Label >= 0 && !slices.Contains(names, m.Labels[line.Label]) {
				plan[line.Number] = nil
				free = append(free, line.Number)
			} else {
				kept = append(kept, line.Number)
			}
		}
		for len(added) > 0 && len(free) > 0 {
			plan[free[0]] = added[:1]
			added, kept, free = added[1:], append(kept, free[0]), free[1:]
		}
		switch {
		case len(kept) == 0:
			plan[free[0]] = []string{""} // the picture stays, without a label
		case len(added) > 0:
			last := slices.Max(kept)
			plan[last] = append(slices.Clone(plan[last]), added...)
			if len(plan[last]) == len(added) { // the line states what it did, too
				plan[last] = append([]string{same}, added...)
			}
		}
	}
	return plan, changed
}

// same marks, in a plan, that a line keeps its name.
const same = "\x00"
