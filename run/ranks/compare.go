package ranks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"nmn/group"
	"nmn/internal/setting"
)

// mostShown bounds the length of a value in a message.
const mostShown = 120

// Compare refuses, on all ranks, ranks that do not work on the same as rank 0: own says for each of a number of things
// what this rank works on. The error, a *setting.Error, names the first rank that differs and the first thing.
func Compare(g group.Group, own map[string]string) error {
	if g.Size() == 1 {
		return nil
	}
	encoded, err := json.Marshal(own) // with sorted keys
	if err != nil {
		return err
	}
	all, err := g.Gather(encoded)
	if err != nil {
		return err
	}
	theirs := make([]map[string]string, len(all))
	for rank, encoded := range all {
		if err := json.Unmarshal(encoded, &theirs[rank]); err != nil {
			return fmt.Errorf("rank %d does not say what it works on: %w", rank, err)
		}
	}
	for rank := 1; rank < len(theirs); rank++ {
		if key := difference(theirs[0], theirs[rank]); key != "" {
			return differs(g, rank, key, theirs[rank][key], theirs[0][key])
		}
	}
	return nil
}

// differs is the error of all ranks where one of them has another thing than rank 0.
func differs(g group.Group, rank int, what, its, first string) error {
	return toldError{setting.Errorf("", "rank %d (%s) differs from rank 0 (%s): its %s is %s, that of rank 0 is %s: all "+
		"ranks need the same program, configuration and data", rank, g.Names()[rank], g.Names()[0], what, shown(its),
		shown(first))}
}

// difference is the first key whose values differ; empty for none.
func difference(a, b map[string]string) string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if a[key] != b[key] {
			return key
		}
	}
	return ""
}

func shown(value string) string {
	switch {
	case value == "":
		return "empty"
	case len(value) > mostShown:
		return value[:mostShown] + "…"
	}
	return value
}
