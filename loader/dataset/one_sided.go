package dataset

import (
	"fmt"
	"strings"
)

// OneSided are the words whose labels tell nothing to learn: those on no row, and those on all. positive are
// the rows that have each word.
func OneSided(words []string, positive []int, rows int) (never, always []string) {
	for c, n := range positive {
		switch n {
		case 0:
			never = append(never, words[c])
		case rows:
			always = append(always, words[c])
		}
	}
	return never, always
}

// DescribeOneSided says of such words what it means; empty where there are none.
func DescribeOneSided(never, always []string) string {
	var parts []string
	if never != nil {
		parts = append(parts, fmt.Sprintf("%d on no row: %s", len(never), Abridged(never)))
	}
	if always != nil {
		parts = append(parts, fmt.Sprintf("%d on every row: %s", len(always), Abridged(always)))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + ". Nothing can be learned or told of them"
}
