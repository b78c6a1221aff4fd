package features

import (
	"slices"

	"golang.org/x/text/unicode/norm"

	"nmn/text"
)

// joined makes one column of those whose names differ in spelling alone. A label holds if it holds in one of them, and
// is unknown if it is unknown in one and holds in none. Counts are added.
func (l *Labels) joined(words []string, rule labelRule) *Labels {
	rows := make([]int, len(l.Words))
	for i, z := range l.Values {
		if z > 0 && !(rule.gaps && z == Unknown) {
			rows[i%len(rows)]++
		}
	}
	one := &Labels{}
	to := make([]int, len(l.Words))
	for c, name := range text.JoinAlike(l.Words, rows, words) {
		if to[c] = slices.Index(one.Words, name); to[c] < 0 {
			to[c], one.Words = len(one.Words), append(one.Words, name)
		}
	}
	if slices.Equal(one.Words, l.Words) {
		return l
	}
	k := len(one.Words)
	one.Values = make([]uint8, len(l.Values)/len(to)*k)
	for i, z := range l.Values {
		at := &one.Values[i/len(to)*k+to[i%len(to)]]
		switch unknown := rule.gaps && (z == Unknown || *at == Unknown); {
		case unknown && (z == 1 || *at == 1):
			*at = 1
		case unknown:
			*at = Unknown
		default:
			*at = uint8(min(int(*at)+int(z), rule.most))
		}
	}
	return one
}

// joinLists gives labels that differ in spelling alone one name.
func joinLists(lists [][]string, words []string) {
	var names []string
	var rows []int
	at := map[string]int{}
	for _, list := range lists {
		for _, name := range list {
			name = norm.NFC.String(name)
			if _, ok := at[name]; !ok {
				at[name], names, rows = len(names), append(names, name), append(rows, 0)
			}
			rows[at[name]]++
		}
	}
	joined := text.JoinAlike(names, rows, words)
	for _, list := range lists {
		for i, name := range list {
			list[i] = joined[at[norm.NFC.String(name)]]
		}
	}
}
