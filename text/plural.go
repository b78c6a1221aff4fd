package text

import (
	"cmp"
	"fmt"
	"strings"
)

// Plural is the plural of a noun that names what has labels, or the labels, for messages. The zero value is "samples".
type Plural string

// String returns the plural.
func (p Plural) String() string { return cmp.Or(string(p), "samples") }

// One returns the singular.
func (p Plural) One() string {
	if one, ok := strings.CutSuffix(p.String(), "sses"); ok {
		return one + "ss"
	}
	return strings.TrimSuffix(p.String(), "s")
}

// Count returns the number followed by the noun, in the singular after 1.
func (p Plural) Count(n int) string {
	if n == 1 {
		return "1 " + p.One()
	}
	return fmt.Sprintf("%d %v", n, p)
}

// Count returns a number followed by a noun that is given in the plural.
func Count(n int, noun string) string { return Plural(noun).Count(n) }
