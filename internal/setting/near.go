package setting

import (
	"maps"
	"slices"
	"strings"
)

// Near returns the key that the user probably meant by an unknown one. It is the key that differs least, by
// few letters or only by its sections, because users remember the last part of a key. It is empty if no key
// is near. Of equally near keys it is the first in the alphabet.
func Near(written string, keys []string) string {
	if written == "" {
		return ""
	}
	writtenLast := lastPart(written)
	best, least := "", 2*(1+max(1, len(writtenLast)/4))
	for _, key := range slices.Sorted(slices.Values(keys)) {
		last := lastPart(key)
		elsewhere := distance(writtenLast, last)
		if strings.EqualFold(plain(last), plain(writtenLast)) {
			elsewhere = 0
		}
		// The sections themselves decide between keys of the same last part.
		if d := min(2*distance(written, key), 2*elsewhere+1); d < least {
			best, least = key, d
		}
	}
	return best
}

// KeysIn lists the keys of the single settings of a configuration, such as data.noise.
func KeysIn(config any) []string { return slices.Collect(maps.Keys(Values(config))) }

// lastPart is a key without its sections.
func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// plain is a word without separators, which users mix up.
func plain(word string) string { return strings.NewReplacer("_", "", "-", "").Replace(word) }

// distance is Levenshtein's: how many bytes are put in, taken away or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
