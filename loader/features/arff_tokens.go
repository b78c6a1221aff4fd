package features

import "strings"

// cutWord returns the text up to the first blank, and what follows without blanks before it.
func cutWord(s string) (word, rest string) {
	end := strings.IndexAny(s, " \t")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

// token takes a value from the start of s: in single or double quotes with backslashes before quotes
// inside, or bare up to one of the characters of ends. rest begins with the character that ended it.
func token(s, ends string) (value, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] != '\'' && s[0] != '"' {
		end := strings.IndexAny(s, ends)
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), strings.TrimLeft(s[end:], " \t"), nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == s[0]:
			return b.String(), strings.TrimLeft(s[i+1:], " \t"), nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", formatf("the quote before %q is not closed", clip(s[1:]))
}

// fields appends the values between commas.
func fields(s string, dst []string) ([]string, error) {
	for {
		value, rest, err := token(s, ",")
		if err != nil {
			return nil, err
		}
		dst = append(dst, value)
		if rest == "" {
			return dst, nil
		}
		if rest[0] != ',' {
			return nil, formatf("%q after a quoted value, want a comma", clip(rest))
		}
		s = rest[1:]
	}
}
