package ranks

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nmn/group"
)

// partLength is how many entries of a list are compared by one digest.
const partLength = 1024

// CompareList is Compare for a list that is too long to be sent, as that of all pictures. The error names the first
// entry that differs: what is the name of one, as picture.
func CompareList(g group.Group, what string, list []string) error {
	if g.Size() == 1 {
		return nil
	}
	parts := slices.Collect(slices.Chunk(list, partLength))
	var digests []byte
	for _, part := range parts {
		encoded, err := json.Marshal(part)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(encoded)
		digests = append(digests, digest[:]...)
	}
	all, err := g.Gather(digests)
	if err != nil {
		return err
	}
	rank := slices.IndexFunc(all, func(theirs []byte) bool { return string(theirs) != string(all[0]) })
	if rank < 0 {
		return nil
	}
	at := firstDifference(all[rank], all[0]) / sha256.Size
	var own []string // of the first part that differs
	if at < len(parts) {
		own = parts[at]
	}
	encoded, err := json.Marshal(own)
	if err != nil {
		return err
	}
	if all, err = g.Gather(encoded); err != nil {
		return err
	}
	var its, first []string
	if err := errors.Join(json.Unmarshal(all[rank], &its), json.Unmarshal(all[0], &first)); err != nil {
		return fmt.Errorf("ranks do not say what they work on: %w", err)
	}
	i := firstDifference(its, first)
	return differs(g, rank, fmt.Sprintf("%s %d", what, at*partLength+i+1), entry(its, i), entry(first, i))
}

// firstDifference is the first index at which two slices differ, be it that one of them ends there.
func firstDifference[T comparable](a, b []T) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// entry is one of a list, or says that the list is shorter.
func entry(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "not there"
}
