package setting

import "strings"

// Alternatives lists the values that a setting may have, for messages: a, b or c.
func Alternatives[T ~string](all []T) string {
	names := Texts(all)
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Texts are the values as plain texts.
func Texts[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = string(a)
	}
	return texts
}
