package run

import (
	"cmp"
	"slices"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/report"
	"nmn/train"
)

// drawnBags is the number of bags whose words are kept for that page.
const drawnBags = 64

// drawBags chooses rows of scores by chance, by the identifiers of their bags alone: all arms have the same.
func drawBags(s *train.Scores, set *loader.Set) []int {
	rows := make([]int, len(s.Index))
	lot := make([]uint64, len(rows))
	for row, bag := range s.Index {
		rows[row], lot[row] = row, rng.Derive(0, set.IDs[bag])
	}
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(lot[a], lot[b]), cmp.Compare(set.IDs[s.Index[a]], set.IDs[s.Index[b]]))
	})
	return rows[:min(drawnBags, len(rows))]
}

// ReadShown reads what the page of an experiment shows of a run next to others. It returns nil for a run that
// is not complete, or whose set has no labels.
func ReadShown(dir string) (*report.Scored, error) {
	result, err := loadResult[struct {
		Shown *report.Scored `json:"shown"`
	}](dir)
	if result == nil {
		return nil, err
	}
	return result.Shown, nil
}
