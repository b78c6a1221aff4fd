package text

import (
	"unicode"
	"unicode/utf8"
)

// Character classes of the tokenizer. Functions on one byte cover ASCII. wordChar and letterAt cover Unicode
// and return the length of the character, 0 if it belongs to another class.

func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

func isDigit(c byte) bool { return c-'0' < 10 }

func isUpper(c byte) bool { return c-'A' < 26 }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// wordChar returns the length of the letter, digit or combining mark at s[i], or 0.
func wordChar(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		if isAlpha(c) || isDigit(c) {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
		return n
	}
	return 0
}

// letterAt returns the length of the letter at s[i], or 0.
func letterAt(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		if isAlpha(c) {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s[i:]); unicode.IsLetter(r) {
		return n
	}
	return 0
}

// run returns the end of the letters and digits that start at i.
func (sc *scanner) run(i int) int {
	for {
		n := wordChar(sc.src, i)
		if n == 0 {
			return i
		}
		i += n
	}
}

// letters returns the end of the letters that start at i.
func (sc *scanner) letters(i int) int {
	for {
		n := letterAt(sc.src, i)
		if n == 0 {
			return i
		}
		i += n
	}
}

// digits returns the end of the digits that start at i.
func (sc *scanner) digits(i int) int {
	for isDigit(sc.at(i)) {
		i++
	}
	return i
}
