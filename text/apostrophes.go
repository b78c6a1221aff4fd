package text

import "strings"

// apostropheWords keep their apostrophe; the key is the part ahead of it, the value the part after it.
var apostropheWords = map[string]string{
	"dunkin": "", "somethin": "", "ol": "", "c": "mon", "diff": "rent", "nor": "easter", "e": "er",
	"s": "mores", "ev": "ry", "li": "l", "nat": "l", "cont": "d",
}

// apostrophe returns the end of a word that keeps an inner or final apostrophe, or w. Those are
// foreign and regional names (vowel, apostrophe, vowel or capital: Hawai'i), a capital before at
// least two letters (T'Challa) and a list of words.
func (sc *scanner) apostrophe(i, w int) int {
	if sc.at(w) != '\'' || sc.letters(i) != w {
		return w
	}
	after := sc.letters(w + 1)
	if rest, ok := apostropheWords[strings.ToLower(sc.src[i:w])]; ok && strings.EqualFold(sc.src[w+1:after], rest) {
		return after
	}
	if w == i+1 {
		switch c := sc.at(i); {
		case c|0x20 == 'y' && after > w+1: // y'all is y' and all
			return w + 1
		case (c == 'n' || isUpper(c) && c != 'I') && after >= w+3:
			return after
		case c|0x20 == 'd', c|0x20 == 'j', c|0x20 == 'l': // French articles: l'
			return w + 1
		}
		return w
	}
	if next := sc.at(w + 1); isVowel(sc.at(w-1)) &&
		(next == 'a' || next == 'e' || next == 'i' || next == 'o' || next == 'u' || isUpper(next)) {
		return after
	}
	return w
}

func isVowel(c byte) bool { return strings.IndexByte("aeiouy", c|0x20) >= 0 }

// single reads what starts with an apostrophe: a clitic ('s), a shortened word ('em), or a quote,
// which opens before a letter that something follows and closes otherwise.
func (sc *scanner) single(i int) int {
	if sc.at(i+1) == '\'' {
		return sc.add("''", i+2)
	}
	if isDigit(sc.at(i + 1)) { // '90s
		if sc.at(i+1) >= '2' && sc.at(i+2) == '0' && sc.at(i+3) == 's' && sc.run(i+1) == i+4 {
			sc.emit(i, i+4)
			return i + 4
		}
		return sc.add("'", i+1)
	}
	end := sc.letters(i + 1)
	switch strings.ToLower(sc.src[i+1 : end]) {
	case "s", "m", "d", "re", "ve", "ll", "em", "til", "till", "cause":
		sc.emit(i, end)
		return end
	case "n": // rock 'n' roll
		if sc.at(end) == '\'' {
			end++
		}
		sc.emit(i, end)
		return end
	case "tis", "twas":
		sc.emit(i, i+2)
		sc.emit(i+2, end)
		return end
	}
	if n := letterAt(sc.src, i+1); n > 0 && i+1+n < len(sc.src) && !isSpace(sc.src[i+1+n]) {
		return sc.add("`", i+1)
	}
	return sc.add("'", i+1)
}
