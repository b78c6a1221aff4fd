package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/rng"
)

// classFolder is a folder with softmax.csv, labels.csv and truth.csv of 600 bags of three classes, a fifth of them with
// a wrong label.
func classFolder(t *testing.T) string {
	t.Helper()
	const bags = 600
	dir, s := t.TempDir(), rng.New(4)
	classes := []string{"cat", "dog", "cow"}
	var scores, labels, truth strings.Builder
	scores.WriteString("id,cat,dog,cow\n")
	labels.WriteString("id,animal\n")
	truth.WriteString("id,animal\n")
	for i := range bags {
		var p [3]float64
		sum := 0.0
		y := i % 3
		for c := range p {
			p[c] = math.Exp(s.Normal(0, 1))
			if c == y {
				p[c] *= 40
			}
			sum += p[c]
		}
		z := y
		if s.Float64() < .2 {
			z = (y + 1) % 3
		}
		fmt.Fprintf(&scores, "b%d,%.6f,%.6f,%.6f\n", i, p[0]/sum, p[1]/sum, p[2]/sum)
		fmt.Fprintf(&labels, "b%d,%s\n", i, classes[z])
		fmt.Fprintf(&truth, "b%d,%s\n", i, classes[y])
	}
	for name, b := range map[string]*strings.Builder{"scores": &scores, "labels": &labels, "truth": &truth} {
		write(t, filepath.Join(dir, name+".csv"), b.String())
	}
	return dir
}

// One label for each bag: the noise is found, suspects have the right class suggested, and the corrected labels come in
// the form of the labels and can be audited again.
func TestAudit_OneClassForEachBag(t *testing.T) {
	dir := classFolder(t)
	fixed, truth := filepath.Join(dir, "fixed.csv"), filepath.Join(dir, "truth.csv")
	v := readJSON(t, must(t, onScores("audit", dir, "--truth", truth, "--apply=force", "--precision", "0.9", "--output",
		fixed, "--json")...))
	if r := v["pooled_rate"].(float64); math.Abs(r-.2) > .08 || v["form"] != "classes" {
		t.Errorf("rate %g of form %v", r, v["form"])
	}
	judged := v["truth"].(map[string]any)
	if ap := judged["posterior"].(map[string]any)["ap"].(float64); ap < .9 || judged["suggested_right"].(float64) < .95 {
		t.Errorf("judged %v", judged)
	}
	if n := v["correction"].(map[string]any)["changed"].(float64); n < 80 || n > 160 {
		t.Errorf("%g labels are corrected", n)
	}
	records := readCSV(t, read(t, fixed))
	if len(records) != 601 || strings.Join(records[0], ",") != "id,animal" {
		t.Fatalf("%d records", len(records))
	}
	wrong, left := 0, 0
	given := strings.Split(read(t, filepath.Join(dir, "labels.csv")), "\n")
	for i, line := range strings.Split(strings.TrimSpace(read(t, truth)), "\n") {
		if given[i] != line {
			wrong++
		}
		if strings.Join(records[i], ",") != line {
			left++
		}
	}
	if left > wrong/4 {
		t.Errorf("%d of %d wrong labels are left", left, wrong)
	}
	again := readJSON(t, must(t, "audit", "--scores", filepath.Join(dir, "scores.csv"), "--labels", fixed, "--json"))
	if a, b := again["suspects_total"].(float64), v["suspects_total"].(float64); a > b/3 {
		t.Errorf("%g suspects among the corrected labels, %g before", a, b)
	}
	table := must(t, onScores("audit", dir)...)
	wantParts(t, table, "suggested", "else mostly", "Totals", "samples with suspects")
}

// With --min-error 0 every known label is listed, the surest first, with its own class where no other is more probable.
func TestAudit_RanksAllClasses(t *testing.T) {
	dir := classFolder(t)
	labels, truth := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "truth.csv")
	lines := strings.Split(read(t, labels), "\n")
	lines[1] = "b0,"
	write(t, labels, strings.Join(lines, "\n"))
	some := readJSON(t, must(t, onScores("audit", dir, "--truth", truth, "--top", "999", "--json")...))
	all := readJSON(t, must(t, onScores("audit", dir, "--truth", truth, "--min-error", "0", "--top", "999", "--json")...))
	suspects, last, own := all["suspects"].([]any), 1., 0
	for i, s := range suspects {
		s := s.(map[string]any)
		wrong := s["p_wrong"].(float64)
		if s["suggested"] == s["given"] {
			if own++; math.Abs(s["p_suggested"].(float64)-(1-wrong)) > 1e-9 {
				t.Errorf("suspect %d: %v", i, s)
			}
		}
		if wrong > last || s["rank"] != float64(i+1) {
			t.Fatalf("suspect %d behind %g: %v", i, last, s)
		}
		last = wrong
	}
	others := 0 // of the suspects by default, which are all that have another class suggested
	for _, s := range some["suspects"].([]any) {
		if s := s.(map[string]any); s["suggested"] != s["given"] {
			others++
		}
	}
	if len(suspects) != 599 || last > .01 || own != 599-others || others < 80 {
		t.Errorf("%d suspects, %d with their own class suggested, the last with %g; by default %d with another",
			len(suspects), own, last, others)
	}
	if a, b := fmt.Sprint(all["truth"]), fmt.Sprint(some["truth"]); a != b {
		t.Errorf("judged as %s, by default as %s", a, b)
	}
	if fixed := correctedAt(t, dir); fixed[0] != fixed[1] || strings.Count(fixed[0], "\n") < 50 {
		t.Errorf("other labels are corrected with --min-error 0:\n%.300s\n%.300s", fixed[0], fixed[1])
	}
}

// All rows are ranked, the worst first.
func TestAudit_RanksRows(t *testing.T) {
	dir := classFolder(t)
	file := filepath.Join(dir, "rows.csv")
	v := readJSON(t, must(t, onScores("audit", dir, "--rows", file, "--top", "5", "--json")...))
	found := v["found"].(map[string]any)
	if found["suspects"] != v["suspects_total"] {
		t.Errorf("found %v", found)
	}
	records := readCSV(t, read(t, file))
	if len(records) != 601 {
		t.Fatalf("%d records", len(records))
	}
	if first := v["rows"].([]any)[0].(map[string]any); first["id"] != records[1][0] {
		t.Errorf("the first row is %v, in the file %s", first, records[1][0])
	}
	binary := scoreFolder(t)
	v = readJSON(t, must(t, onScores("audit", binary, "--rows", filepath.Join(binary, "rows.jsonl"), "--json")...))
	rows := strings.Split(strings.TrimSpace(read(t, filepath.Join(binary, "rows.jsonl"))), "\n")
	if len(rows) != 800 || !strings.Contains(rows[0], v["rows"].([]any)[0].(map[string]any)["id"].(string)) {
		t.Errorf("%d rows, the first is %s", len(rows), rows[0])
	}
}

func TestAudit_MistakesAboutRowsAndClasses(t *testing.T) {
	dir := classFolder(t)
	for _, test := range []struct {
		args []string
		says string
	}{
		{onScores("audit", dir, "--rows", "x.pdf"), ".csv, .jsonl, .parquet"},
		{onScores("audit", dir, "--calibrate", "--noise-rates", "x.csv"), "--noise-rates is for several labels"},
		{onScores("audit", dir, "--apply", "--output", "x.txt"), ".npy for one class"},
	} {
		wantUsage(t, call(t, test.args...), test.says)
	}
	write(t, filepath.Join(dir, "scores.csv"), "id,cat,dog,cow\nb0,.5,.9,.1\n")
	write(t, filepath.Join(dir, "labels.csv"), "id,animal\nb0,cat\n")
	wantFailure(t, call(t, onScores("audit", dir)...), "sum up to 1.5")
}
