package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchWitness_FieldsForMachines(t *testing.T) {
	t.Parallel()
	for _, scores := range []bool{false, true} {
		f := readJSON(t, must(t, "bench", "witness", "--samples", "300", "--captions-per-sample", "5", "--words", "100",
			"--repeats", "2", "--threads", "1", fmt.Sprintf("--with-scores=%t", scores), "--json"))
		positive(t, f, []string{"s", "s_min", "s_max", "captions_per_s", "peak_memory_mib", "foreign", "foreign_low",
			"foreign_high", "auc", "mentions"})
		if f["samples"] != 300. || f["captions"] != 1500. || f["words"] != 100. || f["replaced"] != .4 ||
			f["threads"] != 1. ||
			f["scored"] != scores || f["source"] != "generated" || f["refusal"] != nil {
			t.Errorf("the setting is told as %v", f)
		}
	}
	out := must(t, "bench", "witness", "--samples", "300", "--words", "100")
	if !strings.Contains(out, "1500 captions of 300 pictures") || !strings.Contains(out, "AUC") {
		t.Errorf("got %s", out)
	}
}

// captionsOfBags writes captions of bags in COCO's form: two of each, about one of three things.
func captionsOfBags(t *testing.T, bags int) string {
	t.Helper()
	var images, captions []string
	for n := range bags {
		thing := []string{"dog on grass", "red bus street", "cat with laptop"}[n%3]
		images = append(images, fmt.Sprintf(`{"id":%d,"file_name":"%d.jpg"}`, n, n))
		for c := range 2 {
			captions = append(captions, fmt.Sprintf(`{"id":%d,"image_id":%d,"caption":"a %s"}`, 2*n+c, n, thing))
		}
	}
	path := filepath.Join(t.TempDir(), "captions.json")
	writeBench(t, path, fmt.Appendf(nil, `{"images":[%s],"annotations":[%s]}`, strings.Join(images, ","),
		strings.Join(captions, ",")))
	return path
}

func TestBenchWitness_OfAFile(t *testing.T) {
	path := captionsOfBags(t, 200)
	f := readJSON(t, must(t, "bench", "witness", "--captions", path, "--replaced", "0", "--json"))
	if f["source"] != path || f["samples"] != 200. || f["captions"] != 400. || f["words"] != 10. || f["auc"] != nil {
		t.Errorf("got %v", f)
	}
	f = readJSON(t, must(t, "bench", "witness", "--captions", path, "--samples", "120", "--words", "4", "--replaced", ".5",
		"--json"))
	if f["samples"] != 120. || f["words"] != 4. || f["replaced"] != .5 || f["auc"] == nil {
		t.Errorf("got %v", f)
	}
	// One of two captions can be replaced, not two fifths of them.
	if c := call(t, "bench", "witness", "--captions", path); c.code != 1 || !strings.Contains(c.err, "whole number") {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
}

func TestBenchWitness_RefusesWhatItCannotMeasure(t *testing.T) {
	for _, args := range [][]string{{"file"}, {"--samples", "-1"}, {"--samples", "1"}, {"--captions-per-sample", "-2"},
		{"--words", "0"}, {"--replaced", "1.5"}, {"--replaced", "nan"}, {"--threads", "-1"}, {"--repeats", "0"},
		{"--warmup", "-1"}, {"--captions", ""}, {"--captions", "c.json", "--with-scores"}} {
		if c := call(t, append([]string{"bench", "witness"}, args...)...); c.code != 2 {
			t.Errorf("%q: exit code %d: %s", args, c.code, c.err)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.json")
	if c := call(t, "bench", "witness", "--captions", missing); c.code != 1 || !strings.Contains(c.err, missing) {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
}
