package relabel

import (
	"errors"
	"strings"
	"testing"
)

// corrections have two classes and three clips.
var corrections = Labels{Words: []string{"dog", "red"}, Rows: map[string][]uint8{"a": {0, 1}, "b": {1, 0}, "c": {0, 0}}}

func rewriteClips(t *testing.T, text string, captioned bool) (got string, rows int, err error) {
	t.Helper()
	from, to := written(t, "labels.jsonl", text)
	if rows, err = Clips(t.Context(), from, captioned, corrections, to); err != nil {
		return "", rows, err
	}
	return contentOf(t, to), rows, nil
}

// Lines keep their bytes but for labels, and words that are no classes stay.
func TestClips_ChangesLabelsAlone(t *testing.T) {
	got, rows, err := rewriteClips(t, `{"format": "nmn-labels","version":1,"truth":true}
{"clip": "a",  "labels":["<x>","dog"], "truth":["red"]}
{"clip":"b"}
{"labels":["dog","red"],"clip":"c"}
{"clip":"d","labels":["dog"]}`, false)
	want := `{"format": "nmn-labels","version":1,"truth":true}
{"clip": "a",  "labels":["<x>","red"], "truth":["red"]}
{"clip":"b","labels":["dog"]}
{"labels":[],"clip":"c"}
{"clip":"d","labels":["dog"]}`
	if got != want || rows != 3 || err != nil {
		t.Errorf("%d rows, %v\n%s\nwant\n%s", rows, err, got, want)
	}
}

func TestClips_WritesLabelsForCaptions(t *testing.T) {
	got, _, err := rewriteClips(t, `{"format":"nmn-labels","version":1,"captions_per_sample":2,"truth":true}
{"clip":"a","captions":["a dog","a dog"],"truth":["red"]}
{"clip":"b","counts":{"red":1}}
`, true)
	want := `{"format":"nmn-labels","version":1,"truth":true}
{"clip":"a","labels":["red"],"truth":["red"]}
{"clip":"b","labels":["dog"]}
`
	if got != want || err != nil {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestClips_Refuses(t *testing.T) {
	_, _, err := rewriteClips(t, "{\"format\":\"nmn-labels\",\"version\":1}\n{\"clip\":\"a\",\"labels\":7}\n", false)
	if !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
}
