package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// AlikeKey is a name of a class in small letters, with one blank for blanks, hyphens and underscores between its
// parts. Names with the same key may be one class.
func AlikeKey(name string) string {
	name = strings.ToLower(strings.TrimSpace(norm.NFC.String(name)))
	between := func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }
	key := strings.Join(strings.FieldsFunc(name, between), " ")
	if strings.IndexFunc(name, between) == 0 || key == "" { // such as -1, which is not 1
		return name
	}
	return key
}

// AlikeNames are the groups of names that have the same key, such as Dog and dog, in the order of the names.
func AlikeNames(names []string) [][]string {
	of := make(map[string][]string, len(names))
	var keys []string
	for _, name := range names {
		key := AlikeKey(name)
		if of[key] = append(of[key], name); len(of[key]) == 2 {
			keys = append(keys, key)
		}
	}
	groups := make([][]string, len(keys))
	for i, key := range keys {
		groups[i] = slices.Clip(of[key])
	}
	return groups
}

// JoinAlike returns, for each of names, the name that stands for all names with the same key: a word, else the one on
// most rows, and of several the first. Words stand for themselves, also if they have the same key.
func JoinAlike(names []string, rows []int, words []string) []string {
	byRows := make([]int, len(names))
	for k := range byRows {
		byRows[k] = k
	}
	slices.SortStableFunc(byRows, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })
	chosen := map[string]string{} // by key
	choose := func(name string) {
		if key := AlikeKey(name); chosen[key] == "" {
			chosen[key] = name
		}
	}
	known := make(map[string]bool, len(words))
	for _, word := range words {
		known[word] = true
		choose(word)
	}
	for _, k := range byRows {
		choose(names[k])
	}
	joined := slices.Clone(names)
	for k, name := range names {
		if !known[name] {
			joined[k] = chosen[AlikeKey(name)]
		}
	}
	return joined
}
