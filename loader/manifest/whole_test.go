package manifest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestParse_WholeJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"list": {"\n[\n  {\"image\": \"a.jpg\", \"labels\": [\"cat\", \"dog\"], \"split\": \"train\"},\n\n" +
			"  {\"image\": \"b.jpg\",\n \"labels\": [], \"split\": \"val\"}\n]\n", "3 a.jpg train cat,dog; 5 b.jpg validate"},
		"labels by names": {"{\"a.jpg\": [\"cat\", \"dog\"],\n\"b.jpg\": []}", "1 a.jpg cat,dog; 2 b.jpg"},
		"empty names":     {`{"a.jpg": ["cat"], "b.jpg": [""]}`, "1 a.jpg cat; 1 b.jpg"},
		"one label each":  {`{"a.jpg": "cat", "b.jpg": "dog"}`, "1 a.jpg cat; 1 b.jpg dog"},
		"numbers":         {`{"a.jpg": 3, "b.jpg": 0}`, "1 a.jpg 3; 1 b.jpg 0"},
		"objects by names": {"{\"a.jpg\": {\"labels\": [\"cat\"], \"split\": \"test\"},\n " +
			"\"b.jpg\": {\"split\": \"train\", \"labels\": [\"dog\"]}}", "1 a.jpg test cat; 2 b.jpg train dog"},
	} {
		m := parsed(t, c.text)
		if got := m.numbered(); got != c.want || !m.WholeJSON || m.JSONLines {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParse_WholeJSONNamesWhatIsWrong(t *testing.T) {
	row := `{"path": "a.jpg", "labels": ["cat"]}`
	for text, want := range map[string]string{
		"[":                                "line 1, the file ends early",
		"[" + row + ",\n":                  "line 1, the file ends early",
		"[" + row + "]\n\n[]":              "line 1, something follows",
		"[" + row + "\n" + row + "]":       "line 2, expected comma",
		"[\n3]":                            "line 2, row 1, not a JSON object",
		"[]":                               "there are no rows",
		"[" + row + ",\n" + `{"path": 3}]`: `line 2, row 2, column "labels": it is missing`,
		`{"a.jpg": ["cat"],` + "\n" + `"b.jpg": {"labels": 1.5}}`: "line 2, row 2, column \"labels\"",
		`{"a.jpg": ["cat"],` + "\n" + `"a.jpg": ["dog"]}`:         `"a.jpg" repeats line 1`,
		`[{"path": "` + strings.Repeat("x", 3<<20) + `"}]`:        "a row of more than",
	} {
		_, err := parseText("m.json", text, Options{})
		refuse(t, text, err, want)
	}
}

// One array of rows is read as the same rows as JSON lines, whatever the rows are.
func FuzzWholeJSON(f *testing.F) {
	f.Add([]byte(`{"path": "a.jpg", "labels": ["cat"]}`), []byte(`{"labels": "dog", "path": "b.jpg"}`))
	f.Add([]byte(`{"path": "a.jpg"}`), []byte(`[3]`))
	f.Add([]byte(`{"path": " ", "labels": []}`), []byte(`{"path": "b.jpg", "labels": []}`)) // a row at fault
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, row := range [][]byte{a, b} {
			if !json.Valid(row) || bytes.ContainsAny(row, "\r\n") || len(bytes.TrimSpace(row)) == 0 || row[0] != '{' {
				return
			}
		}
		lines, errLines := parseText("m", string(a)+"\n"+string(b), Options{})
		whole, err := parseText("m", "["+string(a)+",\n"+string(b)+"]", Options{})
		if lines != nil && lines.WholeJSON { // labels by the names of pictures
			return
		}
		if (errLines == nil) != (err == nil) {
			t.Fatalf("lines: %v, whole: %v", errLines, err)
		}
		if err == nil && !reflect.DeepEqual(lines.Rows, whole.Rows) {
			t.Errorf("rows %+v, and whole %+v", lines.Rows, whole.Rows)
		}
	})
}
