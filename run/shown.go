package run

import (
	"cmp"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/report"
	"nmn/train"
)

// ShownFile is the file of a run folder with what the page of an experiment shows of a run beside others.
const ShownFile = "shown.json"

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

func writeShown(dir string, s *report.Scored) error {
	if s == nil {
		return nil
	}
	return durable.SaveJSON(filepath.Join(dir, ShownFile), s)
}

// ReadShown reads the ShownFile of a run folder; nil where a run, of an older version, has none.
func ReadShown(dir string) (*report.Scored, error) {
	return durable.LoadJSON[report.Scored](filepath.Join(dir, ShownFile),
		"remove the file to leave the run out of the page of the experiment")
}
