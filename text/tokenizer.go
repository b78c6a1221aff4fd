package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokenizer splits a caption into lower-case Penn Treebank tokens, with the behaviour of Stanford's PTBTokenizer 3.4.1
// under -preserveLines -lowerCase on one caption, which the COCO caption tools run: "Don't stop." gives do, n't, stop
// and a period; double quotation marks become two back quotes or two apostrophes, round brackets -lrb- and -rrb-.
//
// Left out, because captions do not have them: e-mail and web addresses, SGML, telephone numbers with blanks, and the
// rewriting of currency signs and of British spellings. A line break is a blank.
//
// The zero value keeps every token. A Tokenizer is a value without state, safe for concurrent use.
type Tokenizer struct {
	// DropPunctuation leaves out the tokens that coco-caption leaves out, see captionPunctuation.
	DropPunctuation bool
}

// Append appends the tokens of s to dst and returns the extended slice. Tokens share memory with one
// lower-case copy of s (or with s itself if it is lower case), so a caption costs at most one allocation
// apart from the growth of dst. Bytes that are not UTF-8 and characters that are neither letters, digits,
// marks, punctuation, currency nor mathematical signs are dropped.
func (t Tokenizer) Append(dst []string, s string) []string {
	first := len(dst)
	sc := scanner{tokens: dst, src: s, ascii: isASCII(s)}
	if !sc.ascii {
		sc.src = typographic.Replace(s)
		sc.ascii = isASCII(sc.src)
	}
	sc.lower = sc.src
	if sc.ascii {
		sc.lower = strings.ToLower(sc.src)
	}
	for i := 0; i < len(sc.src); {
		i = sc.token(i)
	}
	if t.DropPunctuation {
		kept := slices.DeleteFunc(sc.tokens[first:], captionPunctuation)
		return sc.tokens[:first+len(kept)]
	}
	return sc.tokens
}

// typographic replaces typographic characters by ASCII, as the tokenizer does.
var typographic = strings.NewReplacer(
	"‘", "'", "’", "'", "ʼ", "'", "“", "``", "”", "''", "…", "...", "–", "--", "—", "--",
	"½", "1/2", "¼", "1/4", "¾", "3/4", "⅓", "1/3", "⅔", "2/3", "\u00a0", " ", "\u00ad", "")

// captionPunctuation reports whether coco-caption drops the token before it scores captions. Its list names the
// brackets in capitals, while the tokens are lower case: brackets stay, and so do runs such as "!!".
func captionPunctuation(token string) bool {
	switch token {
	case "''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";":
		return true
	}
	return false
}

// IsPunctuation reports whether a token holds neither a letter nor a digit, or names a bracket.
// Such tokens never enter a vocabulary.
func IsPunctuation(token string) bool {
	switch token {
	case "-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-":
		return true
	}
	for i := 0; i < len(token); {
		if n := wordChar(token, i); n > 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(token[i:])
		i += n
	}
	return true
}

// scanner walks over one caption. Rules look at src, whose capitals separate an abbreviation from the
// end of a sentence; tokens are cut from lower, which has the same offsets when src is ASCII.
type scanner struct {
	src, lower string
	ascii      bool
	tokens     []string
}

// emit appends src[i:j] in lower case.
func (sc *scanner) emit(i, j int) {
	if sc.ascii {
		sc.tokens = append(sc.tokens, sc.lower[i:j])
		return
	}
	sc.tokens = append(sc.tokens, strings.ToLower(sc.src[i:j]))
}

// add appends a token that is not a piece of the caption and returns where to go on.
func (sc *scanner) add(token string, next int) int {
	sc.tokens = append(sc.tokens, token)
	return next
}

// at returns byte i, 0 at and beyond the end.
func (sc *scanner) at(i int) byte {
	if i >= 0 && i < len(sc.src) {
		return sc.src[i]
	}
	return 0
}

// token reads what starts at i, appends its tokens, and returns the offset after it, always greater than i.
func (sc *scanner) token(i int) int {
	c := sc.src[i]
	if isSpace(c) {
		return i + 1
	}
	if wordChar(sc.src, i) == 0 {
		return sc.mark(i)
	}
	end := sc.run(i)
	if isDigit(c) {
		if fraction := sc.mixedFraction(i); fraction > 0 {
			return sc.add(strings.ReplaceAll(sc.src[i:fraction], " ", "\u00a0"), fraction)
		}
	}
	if end == len(sc.src) || isSpace(sc.src[end]) { // most words of a caption
		sc.word(i, end)
		return end
	}
	return sc.compound(i, end)
}

// word emits the plain word src[i:end], split if it is two words written as one.
func (sc *scanner) word(i, end int) {
	if cut := assimilation(sc.src[i:end]); cut > 0 {
		sc.emit(i, i+cut)
		i += cut
	}
	sc.emit(i, end)
}

// assimilation returns the position at which the Penn Treebank cuts a word such as "cannot" or "gonna", or 0.
func assimilation(w string) int {
	if len(w) != 5 && len(w) != 6 {
		return 0
	}
	switch strings.ToLower(w) {
	case "cannot", "gonna", "gotta", "lemme", "gimme", "wanna":
		return 3
	}
	return 0
}

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
