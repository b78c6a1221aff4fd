package loader

import (
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
