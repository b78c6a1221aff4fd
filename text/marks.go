package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark reads punctuation or a symbol at i.
func (sc *scanner) mark(i int) int {
	switch c := sc.src[i]; c {
	case '\'':
		return sc.single(i)
	case '"':
		if c := sc.at(i + 1); isAlpha(c) || isDigit(c) || c == '$' { // what it opens
			return sc.add("``", i+1)
		}
		return sc.add("''", i+1)
	case '`':
		if sc.at(i+1) == '`' {
			return sc.add("``", i+2)
		}
		return sc.add("`", i+1)
	case '.', ',', ':', '-', '+':
		if end := sc.signed(i); end > i {
			sc.emit(i, end)
			return end
		}
		return sc.joint(i)
	case ';', '=':
		return sc.smiley(i)
	case '(', ')', '[', ']', '{', '}':
		return sc.add(brackets[c], i+1)
	case '!', '?':
		end := i + len(sc.src[i:]) - len(strings.TrimLeft(sc.src[i:], "!?"))
		sc.emit(i, end)
		return end
	case '#', '@': // #surf and @home, but # and 213
		end := i + 1
		if c := sc.at(i + 1); isAlpha(c) || c == '_' {
			for c := sc.at(end); isAlpha(c) || isDigit(c) || c == '_'; c = sc.at(end) {
				end++
			}
		}
		sc.emit(i, end)
		return end
	default:
		return sc.symbol(i)
	}
}

// signed returns the end of a number that starts with a sign or with a point, colon or comma.
func (sc *scanner) signed(i int) int {
	first := i
	if c := sc.at(i); c == '-' || c == '+' {
		first++
	}
	if end := sc.number(first); end > first {
		return end
	}
	return i
}

// joint reads periods, hyphens, commas, colons and plus signs outside numbers. Three to five
// periods are an ellipsis, also with blanks between them; two to four hyphens are a dash.
func (sc *scanner) joint(i int) int {
	switch c := sc.src[i]; c {
	case '.':
		if end := sc.ellipsis(i); end > i {
			return sc.add("...", end)
		}
	case '-':
		end := i + 1
		for sc.at(end) == '-' {
			end++
		}
		if n := end - i; n >= 2 && n <= 4 {
			return sc.add("--", end)
		}
		sc.emit(i, end)
		return end
	case ':':
		return sc.smiley(i)
	}
	sc.emit(i, i+1)
	return i + 1
}

// ellipsis returns the end of three to five periods, all adjacent or all with one blank between them, or i.
func (sc *scanner) ellipsis(i int) int {
	step := 1
	if sc.at(i+1) == ' ' {
		step = 2
	}
	n := 1
	for n < 5 && sc.at(i+n*step) == '.' && (step == 1 || sc.at(i+n*step-1) == ' ') {
		n++
	}
	if n < 3 {
		return i
	}
	return i + (n-1)*step + 1
}

// smiley reads eyes, a nose if any and a mouth that no letter follows, or the first character.
func (sc *scanner) smiley(i int) int {
	mouth := i + 1
	if c := sc.at(mouth); c == '-' || c == '\'' || c == 'o' || c == '*' {
		mouth++
	}
	c := sc.at(mouth)
	if c == 0 || strings.IndexByte(`()DPdpO\{@|[]`, c) < 0 || isAlpha(sc.at(mouth+1)) {
		sc.emit(i, i+1)
		return i + 1
	}
	face := strings.ToLower(sc.src[i : mouth+1])
	if b := brackets[c]; b != "" {
		face = sc.src[i:mouth] + b
	}
	return sc.add(face, mouth+1)
}

var brackets = map[byte]string{'(': "-lrb-", ')': "-rrb-", '[': "-lsb-", ']': "-rsb-", '{': "-lcb-", '}': "-rcb-"}

// symbol emits one character, or drops it if it is not text.
func (sc *scanner) symbol(i int) int {
	c := sc.src[i]
	if c < utf8.RuneSelf {
		if c > ' ' && c < 0x7f {
			sc.emit(i, i+1)
		}
		return i + 1
	}
	r, n := utf8.DecodeRuneInString(sc.src[i:])
	if r != utf8.RuneError && (unicode.IsPunct(r) || unicode.In(r, unicode.Sc, unicode.Sm)) {
		sc.emit(i, i+n)
	}
	return i + n
}
