package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/rates"
	"nmn/loader/features"
)

// scoreFolder is a folder with scores.csv, labels.csv and truth.csv of 800 bags and three words, with
// labels missing at .3 and false at .05; the scores of the last word carry no information.
func scoreFolder(t *testing.T) string {
	t.Helper()
	const bags, classes = 800, 3
	dir := t.TempDir()
	s := rng.New(9)
	var scores, labels, truth strings.Builder
	for _, b := range []*strings.Builder{&scores, &labels, &truth} {
		b.WriteString("id,cat,dog,fog\n")
	}
	for i := range bags {
		for _, b := range []*strings.Builder{&scores, &labels, &truth} {
			fmt.Fprintf(b, "bag%d", i)
		}
		for c := range classes {
			o := s.Normal(-1, 6)
			p := rates.Sigmoid(o)
			if c == 2 {
				p = .3
			}
			y := s.Float64() < p
			z := y
			if u := s.Float64(); y && u < .3 || !y && u < .05 {
				z = !y
			}
			fmt.Fprintf(&scores, ",%.7f", rates.Sigmoid(o))
			for b, v := range map[*strings.Builder]bool{&labels: z, &truth: y} {
				if v {
					b.WriteString(",1")
				} else {
					b.WriteString(",0")
				}
			}
		}
		for _, b := range []*strings.Builder{&scores, &labels, &truth} {
			b.WriteString("\n")
		}
	}
	for name, b := range map[string]*strings.Builder{"scores.csv": &scores, "labels.csv": &labels, "truth.csv": &truth} {
		write(t, filepath.Join(dir, name), b.String())
	}
	return dir
}

// onScores is a command line on the files of a folder.
func onScores(command, dir string, args ...string) []string {
	return append([]string{command, "--scores", filepath.Join(dir, "scores.csv"), "--labels", filepath.Join(dir,
		"labels.csv")}, args...)
}

// Lines of JSON with a picture and one of its labels have no line for a picture: corrected labels become
// a new manifest.
func TestAudit_PairsInLinesOfJSON(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	rows, pairs := readCSV(t, read(t, dir, "labels.csv")), ""
	for _, row := range rows[1:] {
		for c, cell := range row[1:] {
			if cell == "1" {
				pairs += fmt.Sprintf("{\"path\":%q,\"label\":%q}\n", row[0], rows[0][1+c])
			}
		}
	}
	scores := ""
	for _, line := range strings.SplitAfter(read(t, dir, "scores.csv"), "\n") { // pictures without labels have no line
		id, _, _ := strings.Cut(line, ",")
		if id == "id" || strings.Contains(pairs, "{\"path\":\""+id+"\",") {
			scores += line
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("pairs.jsonl"), pairs)
	write(t, at("s.csv"), scores)
	audit := func(more ...string) called {
		return call(t, append([]string{"audit", "--scores", at("s.csv"), "--labels", at("pairs.jsonl")}, more...)...)
	}
	wantUsage(t, audit("--apply=force", "--output", at("fixed.jsonl")),
		"want .csv: these labels become a new manifest")
	if _, err := os.Stat(at("fixed.jsonl")); err == nil {
		t.Error("a file was written")
	}
	wantOK(t, audit("--page", at("audit.html")), "--output fixed.csv")
	wantOK(t, audit("--apply=force", "--output", at("fixed.csv")), "fixed.csv: a new manifest")
	if got := read(t, at("fixed.csv")); !strings.HasPrefix(got, "path,labels") {
		t.Errorf("%.100s", got)
	}
}

func TestRates_FindsRatesAndWritesThem(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	file := filepath.Join(dir, "rates.csv")
	v := readJSON(t, must(t, onScores("rates", dir, "--truth", filepath.Join(dir, "truth.csv"), "--output", file,
		"--json")...))
	classes := v["classes"].([]any)
	for c, want := range []string{"cat", "dog"} {
		class := classes[c].(map[string]any)
		interval := class["q01_interval"].(map[string]any)
		q := class["q01"].(float64)
		if class["class"] != want || math.Abs(q-.3) > .12 ||
			!(interval["low"].(float64) < q && q < interval["high"].(float64)) {
			t.Errorf("class %d: %v", c, class)
		}
	}
	if fog := fmt.Sprint(classes[2].(map[string]any)["diagnoses"]); !strings.Contains(fog, "not predictable") {
		t.Errorf("scores that tell nothing are diagnosed with %s", fog)
	}
	if e := v["mean_error"].(map[string]any); !(e["q01"].(float64) < .1) || !(e["q10"].(float64) < .05) {
		t.Errorf("mean error %v", e)
	}
	if theta := v["threshold"].(float64); !(theta > .2 && theta < .6) || len(v["class_thresholds"].([]any)) != 3 {
		t.Errorf("thresholds %v, %v", theta, v["class_thresholds"])
	}
	records := readCSV(t, read(t, file))
	if len(records) != 4 || records[3][0] != "fog" || records[3][1] != "" || records[1][1] == "" {
		t.Errorf("%q", records)
	}
	table := must(t, onScores("rates", dir, "--noise-rates-floor")...)
	wantParts(t, table, "cat", "not predictable", "are raised to at least", "1 of 3 classes")
}

func TestAudit_RanksAndJudges(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	suspects := filepath.Join(dir, "suspects.csv")
	v := readJSON(t, must(t, onScores("audit", dir, "--truth", filepath.Join(dir, "truth.csv"), "--suspects", suspects,
		"--top", "7", "--json")...))
	if n := len(v["suspects"].([]any)); n != 7 {
		t.Errorf("%d suspects", n)
	}
	first := v["suspects"].([]any)[0].(map[string]any)
	if !(first["p_wrong"].(float64) > .9) || first["class"] == "fog" {
		t.Errorf("first suspect %v", first)
	}
	truth := v["truth"].(map[string]any)
	if p := truth["posterior"].(map[string]any)["precision_at"].(map[string]any)["10"].(float64); p < .8 {
		t.Errorf("precision at 10 is %g", p)
	}
	records := readCSV(t, read(t, suspects))
	if len(records)-1 != int(v["suspects_total"].(float64)) || records[1][0] != first["id"] {
		t.Errorf("%d suspects in the file of %v", len(records)-1, v["suspects_total"])
	}
	for _, c := range v["classes"].([]any) {
		if class := c.(map[string]any); class["audited"] != true || (class["class"] == "fog") != (class["pooled"] == true) {
			t.Errorf("class %v", class)
		}
	}
	table := must(t, onScores("audit", dir, "--format", "markdown")...)
	wantParts(t, table, "**Labels that are probably wrong**",
		"1 of 3 classes: \\* has too few labels for its own noise rates")
}

// With --min-error 0 every known label of a word that is audited is listed, the surest first, and the same labels are
// corrected.
func TestAudit_RanksAllLabels(t *testing.T) {
	dir := scoreFolder(t)
	labels, rates := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "rates.csv")
	lines := strings.Split(read(t, labels), "\n")
	lines[1], lines[2] = "bag0,,,", "bag1,1,,0"
	write(t, labels, strings.Join(lines, "\n"))
	write(t, rates, "class,q01,q10\ncat,.3,.05\ndog,.3,.05\nfog,,\n")
	const known = 2*800 - 3
	audit := func(args ...string) map[string]any {
		return readJSON(t, must(t, onScores("audit", dir, append(args, "--noise-rates", rates, "--json")...)...))
	}
	page := filepath.Join(dir, "page.html")
	all := audit("--min-error", "0", "--top", "9999", "--page", page)
	suspects, last := all["suspects"].([]any), 1.
	for i, s := range suspects {
		s := s.(map[string]any)
		if wrong := s["p_wrong"].(float64); wrong > last || s["class"] == "fog" || s["rank"] != float64(i+1) {
			t.Fatalf("suspect %d behind %g: %v", i, last, s)
		} else {
			last = wrong
		}
	}
	found := all["found"].(map[string]any)
	if len(suspects) != known || all["suspects_total"] != float64(known) || last > .01 ||
		found["suspects"] != float64(known) || found["labels"] != float64(known) || found["rows_with_suspects"] != 799. {
		t.Errorf("%d suspects of %v, the last with %g; found %v", len(suspects), all["suspects_total"], last, found)
	}
	if text := read(t, page); !strings.Contains(text, `"suspects":1597,`) || strings.Count(text, `"given":`) != 500 {
		t.Errorf("the page holds %d suspects", strings.Count(text, `"given":`))
	}
	table := must(t, onScores("audit", dir, "--noise-rates", rates, "--min-error", "0")...)
	if !strings.Contains(strings.Join(strings.Fields(table), " "),
		"1597 of 1597 audited labels, present or absent, are ranked, including those that are probably right. The first ") {
		t.Error(table)
	}
	fixed := correctedAt(t, dir, "--noise-rates", rates)
	if fixed[0] != fixed[1] || strings.Count(fixed[0], "\n") < 50 {
		t.Errorf("other labels are corrected with --min-error 0:\n%.300s\n%.300s", fixed[0], fixed[1])
	}
}

// correctedAt is the record of what --apply corrects, by default and with --min-error 0.
func correctedAt(t *testing.T, dir string, args ...string) (out [2]string) {
	t.Helper()
	for i, least := range []string{"0.5", "0"} {
		fixed := filepath.Join(dir, "fixed.csv")
		must(t, onScores("audit", dir, append(args, "--apply=force", "--precision", "0.6", "--min-error", least, "--output",
			fixed)...)...)
		out[i] = read(t, fixed) + read(t, filepath.Join(dir, "fixed.changes.csv"))
	}
	return out
}

// The list as Parquet, read by the reader of feature files, and by pyarrow where a python3 has it.
func TestAudit_SuspectsAsParquet(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	path := filepath.Join(dir, "suspects.parquet")
	v := readJSON(t, must(t, onScores("audit", dir, "--suspects", path, "--top", "100000", "--json")...))
	want := v["suspects"].([]any)
	table, err := features.Open(t.Context(), features.Options{Features: path, Ignore: []string{"id", "class", "kind",
		"rates"}, Unlabelled: true})
	expect.OK(t, err)
	defer table.Close()
	if table.Rows.Len() != len(want) || len(want) < 100 {
		t.Fatalf("%d rows of %d suspects", table.Rows.Len(), len(want))
	}
	row := make([]float32, table.Rows.Width())
	for i, s := range want {
		expect.OK(t, table.Rows.Read(i, row))
		for c, column := range table.Columns {
			if x := s.(map[string]any)[column].(float64); row[c] != float32(x) {
				t.Fatalf("row %d: %s is %v, want %v", i+1, column, row[c], x)
			}
		}
	}
	t.Run("pyarrow", func(t *testing.T) {
		program := cmp.Or(os.Getenv("NMN_PYTHON"), "python3")
		if err := exec.Command(program, "-c", "import pyarrow.parquet").Run(); err != nil {
			t.Skipf("%s cannot import pyarrow (NMN_PYTHON names another): %v", program, err)
		}
		out, err := exec.Command(program, "-c", "import json, pyarrow.parquet as p, sys\n"+
			"t = p.read_table(sys.argv[1]); print(json.dumps([str(t.schema.field('given').type), t.to_pylist()]))",
			path).Output()
		expect.OK(t, err)
		var got []any
		expect.OK(t, json.Unmarshal(out, &got))
		if got[0] != "uint8" || !reflect.DeepEqual(got[1], v["suspects"]) {
			t.Errorf("given is of type %v, or other rows", got[0])
		}
	})
}

// Rates that were written are read back, and with the calibration each label is judged by them.
func TestAudit_TakesRatesFromAFile(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	file := filepath.Join(dir, "rates.csv")
	must(t, onScores("rates", dir, "--output", file)...)
	row := map[string]float64{}
	lines := strings.Split(read(t, file), "\n")
	for i, name := range strings.Split(lines[0], ",") {
		row[name], _ = strconv.ParseFloat(strings.Split(lines[1], ",")[i], 64)
	}
	given := readJSON(t, must(t, onScores("audit", dir, "--noise-rates", file, "--calibrate", "--json",
		"--top", "2400")...))
	scores := map[string]float64{} // of the first word
	for _, line := range strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "scores.csv"))), "\n")[1:] {
		fields := strings.Split(line, ",")
		p, _ := strconv.ParseFloat(fields[1], 64)
		scores[fields[0]] = row["a"]*math.Log(p/(1-p)) + row["b"]
	}
	judged := 0
	for _, s := range given["suspects"].([]any) {
		s := s.(map[string]any)
		o := scores[fmt.Sprint(s["id"])]
		if s["class"] != "cat" || math.Abs(o) > 6 { // beyond it the file has too few digits for the logit
			continue
		}
		judged++
		rho := rates.Posterior(o, uint8(s["given"].(float64)), row["q01"], row["q10"])
		if want := math.Abs(s["given"].(float64) - rho); math.Abs(s["p_wrong"].(float64)-want) > 1e-3 {
			t.Errorf("%v is wrong with %v, want %g", s["id"], s["p_wrong"], want)
		}
	}
	if judged < 10 {
		t.Errorf("%d suspects of %v", judged, row)
	}
	plain := readJSON(t, must(t, onScores("audit", dir, "--noise-rates", file, "--json")...))
	if fmt.Sprint(given["suspects_total"]) == fmt.Sprint(plain["suspects_total"]) {
		t.Error("scores are calibrated without --calibrate")
	}
	write(t, file, "class,q01,q10\ncat,.1,2\n")
	wantFailure(t, call(t, onScores("audit", dir, "--noise-rates", file)...), "rates.csv:2: ")
	write(t, file, "class,q01,q10\ncat,.1,.1\ndog,.1,.1\nfog,,\n")
	wantFailure(t, call(t, onScores("audit", dir, "--noise-rates", file, "--calibrate")...), "columns a and b")
	must(t, onScores("audit", dir, "--noise-rates", file)...)
}

// The corrected labels differ from the given ones where the record says, and nowhere else; they are
// nearer to the truth.
func TestAudit_CorrectsLabelsAndKeepsTheRecord(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	fixed, decisions := filepath.Join(dir, "fixed.csv"), filepath.Join(dir, "decisions.csv")
	first := readJSON(t, must(t, onScores("audit", dir, "--json", "--top", "2")...))["suspects"].([]any)
	verdicts := "id,class,given,decision\n"
	for i, s := range first {
		v := s.(map[string]any)
		verdicts += fmt.Sprintf("%v,%v,%v,%s\n", v["id"], v["class"], v["given"], []string{"reject", "accept"}[i])
	}
	write(t, decisions, verdicts)
	out := readJSON(t, must(t, onScores("audit", dir, "--apply=force", "--precision", "0.9", "--decisions", decisions,
		"--output", fixed, "--json")...))
	o := out["correction"].(map[string]any)
	if o["accepted"] != 1. || o["rejected"] != 1. || !(o["automatic"].(float64) > 20) ||
		!(o["expected_precision"].(float64) >= .9) {
		t.Errorf("correction %v", o)
	}
	labels := func(name string) *table.Matrix {
		m, err := table.ReadLabels(name)
		expect.OK(t, err)
		return m
	}
	before, after, truth := labels(filepath.Join(dir, "labels.csv")), labels(fixed), labels(filepath.Join(dir,
		"truth.csv"))
	record := readCSV(t, read(t, dir, "fixed.changes.csv"))
	changed := map[string]bool{}
	for _, r := range record[1:] {
		changed[r[0]+" "+r[1]] = true
	}
	differ, better := 0, 0
	for i, z := range after.Values {
		name := after.IDs[i/3] + " " + after.Words[i%3]
		if (z != before.Values[i]) != changed[name] {
			t.Errorf("%s: from %v to %v, in the record %v", name, before.Values[i], z, changed[name])
		}
		if z != before.Values[i] {
			differ++
			if z == truth.Values[i] {
				better++
			}
		}
	}
	if differ != len(record)-1 || differ != int(o["changed"].(float64)) {
		t.Errorf("%d labels differ, the record has %d, the result %v", differ, len(record)-1, o["changed"])
	}
	if share := float64(better) / float64(differ); share < .8 {
		t.Errorf("%.2f of the changes are right, expected were .9", share)
	}
	rejected := first[0].(map[string]any)
	if changed[fmt.Sprintf("%v %v", rejected["id"], rejected["class"])] {
		t.Error("a rejected suspect was changed")
	}
	write(t, decisions, strings.Replace(verdicts, "reject", "perhaps", 1))
	wantFailure(t, call(t, onScores("audit", dir, "--decisions", decisions, "--output", fixed)...), "decisions.csv:2")
}

func TestAudit_WritesAPageWithPictures(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	pictures := filepath.Join(dir, "pictures")
	expect.OK(t, os.Mkdir(pictures, 0o777))
	first := readJSON(t, must(t, onScores("audit", dir, "--json", "--top", "3")...))["suspects"].([]any)
	for i, s := range first {
		f, err := os.Create(filepath.Join(pictures, s.(map[string]any)["id"].(string)+".jpg"))
		expect.OK(t, err)
		if i == 2 { // not a picture
			f.WriteString("nothing")
		} else if err := jpeg.Encode(f, halfRed(1500, 700), nil); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	page := filepath.Join(dir, "page.html")
	must(t, onScores("audit", dir, "--page", page, "--page-items", "5", "--images", pictures, "--top", "0")...)
	text := read(t, page)
	if n := strings.Count(text, "data:image/jpeg;base64,"); n < 1 || n > 2 {
		t.Errorf("%d pictures in the page", n)
	}
	must(t, onScores("audit", dir, "--page", page, "--images", pictures, "--thumbnails", "0")...)
	if strings.Contains(read(t, page), "data:image/jpeg") {
		t.Error("a picture more than allowed")
	}
	wantFailure(t, call(t, onScores("audit", dir, "--page", page, "--images", filepath.Join(dir, "none"))...), "none")
}

func halfRed(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{200, 30, 30, 255}
			if x >= width/2 {
				c = color.RGBA{30, 30, 200, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func TestAudit_MistakesInUsage(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"rates", "--scores", "x.csv"}, "--labels"},
		{[]string{"audit"}, "--scores"},
		{[]string{"audit", "--images", "my pictures"}, "nmn audit DATA --images 'my pictures'"},
		{[]string{"audit", "--labels", "l.csv", "--images", "p"}, "nmn audit l.csv --images p"},
		{onScores("rates", dir, "--min-slope", "0"), "MinSlope"},
		{onScores("rates", dir, "--confidence", "1"), "Confidence"},
		{onScores("audit", dir, "--min-error", "-0.1"), "--min-error is -0.1, want at least 0 and at most 1"},
		{onScores("audit", dir, "--min-error", "1.1"), "--min-error is 1.1, want at least 0"},
		{onScores("audit", dir, "--min-error", "NaN"), "--min-error is NaN, want at least 0"},
		{onScores("audit", dir, "--apply"), "--output"},
		{onScores("audit", dir, "--output", "x.csv"), "--apply or --decisions"},
		{onScores("audit", dir, "--output", "x.parquet"), "--suspects x.parquet"},
		{onScores("audit", dir, "--suspects", "x.pdf"), ".csv, .jsonl, .parquet"},
		{onScores("audit", dir, "--apply", "--output", "x.npy"), ".csv"},
		{onScores("audit", dir, "--precision", "0.8"), "--apply"},
		{onScores("audit", dir, "--apply=force", "--precision", "1.5", "--output", "x.csv"), "--precision is 1.5"},
		{onScores("audit", dir, "--images", dir), "--page"},
		{onScores("audit", dir, "--calibrate"), "--noise-rates"},
		{onScores("audit", dir, "--top", "-1"), "--top"},
	} {
		wantUsage(t, call(t, test.args...), test.says)
	}
	for _, test := range []struct{ scores, labels, says string }{
		{"id,cat\na,.5\nb,NaN\n", "id,cat\na,1\nb,0\n", "scores.csv:3: column 2 (cat): NaN; score the sample again"},
		{"id,cat\na,.5\nb,inf\n", "id,cat\na,1\nb,0\n", "scores.csv:3: column 2 (cat): an infinite probability"},
		{"id,cat\na,.5\nb,.5\n", "id,cat\na,1\n", `labels.csv lacks "b", which is row 2 of`},
		{"id,cat\na,.5\n", "id,cat\na,2\n", "labels.csv:2: column 2 (cat): label 2, want 0 or 1"},
		{"id,cat\na,.5,1\n", "id,cat\na,1\n", "scores.csv:2: 3 fields, the header has 2"},
	} {
		write(t, filepath.Join(dir, "scores.csv"), test.scores)
		write(t, filepath.Join(dir, "labels.csv"), test.labels)
		for _, command := range []string{"rates", "audit"} {
			wantFailure(t, call(t, onScores(command, dir)...), test.says)
		}
	}
	write(t, filepath.Join(dir, "scores.csv"), "id,cat,dog,fog\nbag0,.5,7,.5\n")
	write(t, filepath.Join(dir, "labels.csv"), "id,cat,dog,fog\nbag0,1,0,0\n")
	wantFailure(t, call(t, onScores("rates", dir)...), "set --logits")
}

// No noise can be estimated for words on no bag, on one, or on all. The tables give the reason.
func TestAudit_OneSidedLabels(t *testing.T) {
	t.Parallel()
	dir := scoreFolder(t)
	labels := filepath.Join(dir, "labels.csv")
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(read(t, labels)), "\n") {
		if fields := strings.Split(line, ","); i > 0 {
			line = fields[0] + "," + fields[1] + ",0,1"
		}
		b.WriteString(line + "\n")
	}
	write(t, labels, b.String())
	for _, table := range []string{must(t, onScores("audit", dir)...), must(t, onScores("audit", dir, "--top", "0")...)} {
		wantParts(t, table, "on no sample", "on every sample", "2 of 3 classes are not audited")
	}
	for _, s := range readJSON(t, must(t, onScores("audit", dir, "--min-error", "1e-9", "--top", "9999",
		"--json")...))["suspects"].([]any) {
		if word := s.(map[string]any)["class"]; word != "cat" {
			t.Fatalf("a label of %v is suspected", word)
		}
	}
	write(t, labels, strings.ReplaceAll(b.String(), ",1", ",0"))
	if table := must(t, onScores("rates", dir)...); !strings.Contains(table, "none of 3 labels is present and absent often enough") ||
		strings.Contains(table, "All classes together") {
		t.Errorf("all labels equal:\n%s", table)
	}
	write(t, labels, "id,cat,dog,fog\nbag0,1,1,0\n")
	write(t, filepath.Join(dir, "scores.csv"), "id,cat,dog,fog\nbag0,.2,.3,.4\n")
	if v := readJSON(t, must(t, onScores("audit", dir, "--json")...)); v["suspects_total"] != 0. {
		t.Errorf("suspects of one bag: %v", v)
	}
}

// A page that lacks pictures because of a signal is not saved.
func TestAuditPage_InterruptedIsNotSaved(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := auditPage{file: "p.html", thumbnails: 1,
		ofRun: func(context.Context, string) ([]byte, error) { return []byte{1}, nil }}
	saved := false
	err := a.write(ctx, &program{terminal: systemTerminal(nil)}, 1, func(int) string { return "a" },
		func(picture func(bag int) []byte) func() error {
			cancel()
			if picture(0) != nil {
				t.Error("a picture after the interruption")
			}
			return func() error { saved = true; return nil }
		})
	if !errors.Is(err, context.Canceled) || saved {
		t.Errorf("%v, saved %v", err, saved)
	}
}
