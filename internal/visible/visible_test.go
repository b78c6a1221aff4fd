package visible_test

import (
	"testing"
	"unicode/utf8"

	"nmn/internal/visible"
)

func TestLine(t *testing.T) {
	for s, want := range map[string]string{
		"":                   "",
		"dog, Käse\u00a0 日本": "dog, Käse\u00a0 日本",
		`a\b"c`:              `a\b"c`,
		"a\x1b[2Jb":          `a\x1b[2Jb`,
		"a\nleft out: b\r":   `a\nleft out: b\r`,
		"a\xff\xfeb":         `a\xff\xfeb`,
		"a\u202egpj.b":       `a\u202egpj.b`,
		"a\u0085\u2028":      `a\u0085\u2028`,
		"a\ufffd":            `a\ufffd`,
	} {
		if got := visible.Line(s); got != want {
			t.Errorf("%q is shown as %q, want %q", s, got, want)
		}
	}
}

func TestName_StaysDifferent(t *testing.T) {
	for file, want := range map[string]string{
		"dog.jpg":      "dog.jpg",
		"a\xff.jpg":    `a\xff.jpg`,
		"a\xfe.jpg":    `a\xfe.jpg`,
		`a\xff.jpg`:    `a\x5cxff.jpg`,
		`a\xFF\n.jpg`:  `a\xFF\n.jpg`,
		"a\ufffd.jpg":  "a\ufffd.jpg",
		"a\x1b\n.jpg":  "a\x1b\n.jpg",
		`pics\xmas\xa`: `pics\xmas\xa`,
	} {
		if got := visible.Name(file); got != want {
			t.Errorf("%q is named %q, want %q", file, got, want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("a\xff")
	f.Add("\\x5cxff\\")
	f.Add("\\\\x\xe2\x80")
	f.Fuzz(func(t *testing.T, file string) {
		name := visible.Name(file)
		if back := visible.FileName(name); back != file || !utf8.ValidString(name) {
			t.Fatalf("%q is named %q, which is %q", file, name, back)
		}
		line := visible.Line(file)
		for _, r := range line {
			if r < ' ' || r == 0x7f || !utf8.ValidString(line) {
				t.Fatalf("%q is shown as %q", file, line)
			}
		}
	})
}

// U+FFFD is a character that a name may hold, and also Go's result for a byte that is not UTF-8.
func TestReplacementCharacter_BesideWhatIsNoUTF8(t *testing.T) {
	for s, want := range map[string]struct{ line, name string }{
		"\ufffd":             {`\ufffd`, "\ufffd"},
		"\ufffdb\xff":        {`\ufffdb\xff`, "\ufffdb\\xff"},
		"\xffb\ufffd":        {`\xffb\ufffd`, "\\xffb\ufffd"},
		"\xffb\xff":          {`\xffb\xff`, `\xffb\xff`},
		"\xff\ufffd\xef\xbf": {`\xff\ufffd\xef\xbf`, "\\xff\ufffd\\xef\\xbf"},
	} {
		if got := visible.Line(s); got != want.line {
			t.Errorf("%q is shown as %q, want %q", s, got, want.line)
		}
		if got := visible.Name(s); got != want.name || visible.FileName(got) != s {
			t.Errorf("%q is named %q, want %q", s, got, want.name)
		}
	}
}
