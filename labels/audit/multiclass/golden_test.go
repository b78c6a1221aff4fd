package multiclass

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nmn/internal/expect"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rounded keeps four digits of every number, which do not depend on the processor.
func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // the value that was just written
		return v
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = rounded(v[k])
		}
	}
	return v
}

// Whole audits repeat their recorded results, for scores that have learned the noise and for scores that have
// not. Other tests check that the results are right, within chance.
func TestAudit_IsGolden(t *testing.T) {
	for name, learned := range map[string]bool{"learned": true, "sure": false} {
		in := draw(11, 400, 4, transition(4, .25), learned)
		r := audited(t, in)
		text := expect.Value(json.Marshal(map[string]any{"summary": r.Summary(12), "model": r.Model}))(t)
		var v any
		expect.OK(t, json.Unmarshal(text, &v))
		got := expect.Value(json.MarshalIndent(rounded(v), "", " "))(t)
		path := filepath.Join("testdata", name+".json")
		if *update {
			expect.OK(t, os.MkdirAll("testdata", 0o777))
			expect.OK(t, os.WriteFile(path, got, 0o666))
		}
		want := expect.Value(os.ReadFile(path))(t)
		if string(got) != string(want) {
			t.Errorf("%s differs (go test ./labels/audit/multiclass -update writes it anew):\n%s", path, got)
		}
	}
}
