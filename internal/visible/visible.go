// Package visible shows names and words that come from files. It makes them safe in lines for a terminal, on
// which a control character could move the cursor or begin another line, and in tables for programs, which
// hold only UTF-8.
package visible

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is s as part of a line for display. Invisible characters are written as in Go, such as \x1b, \n or
// \u202e, and so are bytes that are not UTF-8. Nothing else changes.
func Line(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for at, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[at:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[at])
		case hidden(r):
			quoted := strconv.QuoteToASCII(string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// OneLine is Line of a text of several lines, which are joined by semicolons.
func OneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return Line(strings.Join(lines, "; "))
}

// hidden reports whether a character does not show, less blanks that are as wide as they seem.
func hidden(r rune) bool {
	return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}

// Name is the name of a file as UTF-8. Each byte that is not UTF-8 is written as \x and two hexadecimal
// digits in lower case, and so is a backslash before three such characters. Different names stay different,
// and FileName finds the file again. Names in UTF-8 are unchanged, unless they hold such an escape.
func Name(file string) string {
	if utf8.ValidString(file) && !strings.Contains(file, `\x`) {
		return file
	}
	var b strings.Builder
	for at, r := range file {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(file[at:], string(utf8.RuneError)),
			r == '\\' && escaped(file[at:]):
			fmt.Fprintf(&b, `\x%02x`, file[at])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// FileName is the file that Name has named.
func FileName(name string) string {
	var b strings.Builder
	for at := 0; at < len(name); {
		if !escaped(name[at:]) {
			b.WriteByte(name[at])
			at++
			continue
		}
		value, _ := strconv.ParseUint(name[at+2:at+4], 16, 8) // both are digits
		b.WriteByte(byte(value))
		at += 4
	}
	return b.String()
}

// escaped reports whether s begins with an escape of Name.
func escaped(s string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }
	return len(s) >= 4 && s[0] == '\\' && s[1] == 'x' && digit(s[2]) && digit(s[3])
}
