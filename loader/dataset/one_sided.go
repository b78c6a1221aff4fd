package dataset

import (
	"fmt"
	"strings"
)

// DescribeOneSided explains labels that hold on no row or on every row; empty if there are none.
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
	return strings.Join(parts, "; ") + ". Nothing can be learned or measured for them"
}
