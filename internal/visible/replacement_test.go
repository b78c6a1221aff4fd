package visible_test

import (
	"testing"

	"nmn/internal/visible"
)

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
