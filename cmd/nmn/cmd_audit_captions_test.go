package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/misplaced"
	"nmn/loader/annotation"
)

// topics are what made captions speak of; each has words of its own.
var topics = [][]string{
	{"dog", "grass", "ball", "park", "runs"}, {"train", "tracks", "station", "smoke", "rails"},
	{"cake", "candles", "table", "knife", "frosting"}, {"surfer", "wave", "board", "ocean", "wetsuit"},
	{"kitchen", "oven", "sink", "cabinets", "counter"}, {"giraffe", "zoo", "fence", "trees", "neck"},
}

// captionFolder writes captions.json in the form of COCO, with 5 captions for each of 300 pictures. 3 in 20
// captions belong to other pictures; foreign.txt lists their ids.
func captionFolder(t *testing.T) string {
	t.Helper()
	type image struct {
		ID   int    `json:"id"`
		File string `json:"file_name"`
	}
	type caption struct {
		ID      int    `json:"id"`
		Image   int    `json:"image_id"`
		Caption string `json:"caption"`
		Extra   string `json:"extra"`
	}
	var file struct {
		Info        map[string]string `json:"info"`
		Images      []image           `json:"images"`
		Annotations []caption         `json:"annotations"`
	}
	file.Info = map[string]string{"note": "<kept>"}
	s := rng.New(3)
	var foreign strings.Builder
	for i := range 300 {
		file.Images = append(file.Images, image{i + 1, fmt.Sprintf("%d.jpg", i+1)})
		for c := range 5 {
			topic := i % len(topics)
			id := 10*(i+1) + c
			if s.Float64() < .15 {
				topic = (topic + 1 + s.Intn(len(topics)-1)) % len(topics)
				fmt.Fprintln(&foreign, id)
			}
			order := []int{0, 1, 2, 3, 4}
			s.Shuffle(order)
			var words []string
			for _, at := range order[:3] {
				words = append(words, topics[topic][at])
			}
			file.Annotations = append(file.Annotations,
				caption{id, i + 1, "a picture of the " + strings.Join(words, " and "), "x"})
		}
	}
	b, err := json.Marshal(file)
	expect.OK(t, err)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "captions.json"), string(b))
	write(t, filepath.Join(dir, "foreign.txt"), foreign.String())
	return dir
}

// onCaptions is a command line on the captions of a folder.
func onCaptions(dir string, args ...string) []string {
	return append([]string{"audit", "captions", filepath.Join(dir, "captions.json")}, args...)
}

func TestAuditCaptions_FindsThemAndDropsThem(t *testing.T) {
	dir := captionFolder(t)
	rows, kept := filepath.Join(dir, "own.csv"), filepath.Join(dir, "kept.json")
	v := readJSON(t, must(t, onCaptions(dir, "--truth", filepath.Join(dir, "foreign.txt"), "--output", rows, "--apply",
		kept, "--precision", ".7", "--top", "3", "--json")...))
	truth := v["truth"].(map[string]any)
	if auc := truth["auc"].(float64); !(auc > .97) || !(truth["precision"].(float64) > .85) ||
		!(truth["recall"].(float64) > .85) {
		t.Errorf("against the truth: %v", truth)
	}
	if foreign := v["foreign"].(float64); math.Abs(foreign-.15) > .04 || v["captions"].(float64) != 1500 ||
		v["refused"] != "" || len(v["worst"].([]any)) != 3 {
		t.Errorf("%v", v)
	}
	records := readCSV(t, read(t, rows))
	if len(records) != 1501 || !slices.Equal(records[0], misplaced.Columns) {
		t.Fatalf("%d rows", len(records))
	}
	if !slices.IsSortedFunc(records[1:], func(a, b []string) int {
		x, errX := strconv.ParseFloat(a[2], 64)
		y, errY := strconv.ParseFloat(b[2], 64)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		return cmp.Compare(x, y)
	}) {
		t.Error("the rows do not begin with the least probable captions")
	}
	left, err := annotation.ReadBags(t.Context(), kept)
	if err != nil || float64(left.Len()) != 1500-v["dropped"].(float64) || len(left.IDs) != 300 {
		t.Errorf("%d captions of %d bags are left, %v", left.Len(), len(left.IDs), err)
	}
	text := read(t, kept)
	if info := readJSON(t, text)["info"].(map[string]any); info["note"] != "<kept>" ||
		strings.Count(text, `"extra":"x"`) != left.Len() {
		t.Errorf("fields that nobody needs are gone: %v", info)
	}
}

func TestAuditCaptions_Golden(t *testing.T) {
	dir := captionFolder(t)
	truth := filepath.Join(dir, "foreign.txt")
	golden(t, "audit_captions.txt", must(t, onCaptions(dir, "--truth", truth, "--top", "5")...))
}

func TestAuditCaptions_RefusesInWords(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "one.csv"), filepath.Join(dir, "kept.csv")
	var b strings.Builder
	b.WriteString("sample,caption,id\n")
	for i := range 300 {
		fmt.Fprintf(&b, "b%d,a dog and a %s,c%d\n", i, topics[i%len(topics)][i%5], i)
	}
	write(t, in, b.String())
	page := filepath.Join(dir, "p.html")
	text := must(t, "audit", "captions", in, "--apply", out, "--page", page)
	if !strings.Contains(text, "Nothing is dropped: every picture has only one caption") || read(t, out) != b.String() {
		t.Errorf("%s", text)
	}
	if !strings.Contains(html.UnescapeString(read(t, page)), "every picture has only one caption") {
		t.Error("the page does not say why nothing is dropped")
	}
	v := readJSON(t, must(t, "audit", "captions", in, "--json"))
	if !strings.Contains(v["refused"].(string), "one caption") || v["dropped"].(float64) != 0 || v["foreign"] != nil {
		t.Errorf("%v", v)
	}
	decisions := filepath.Join(dir, "d.csv")
	write(t, decisions, "annotation_id,decision\nc7,drop\n")
	must(t, "audit", "captions", in, "--apply", out, "--decisions", decisions)
	if got := read(t, out); got != regexp.MustCompile(`b7,.*\n`).ReplaceAllString(b.String(), "") {
		t.Errorf("people decided about c7 alone: %s", got)
	}
}

func TestAuditCaptions_Mistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct {
		args string
		says string
	}{
		{"", "type nmn audit captions DATA; 0 arguments are given"},
		{"x --precision 0", "--precision is 0"},
		{"x --precision NaN", "--precision is NaN"},
		{"x --min-error .5", "--min-error belongs to --page"},
		{"x --page p.html --min-error 2", "--min-error is 2"},
		{"x --top -1", "at least 0"},
		{"x --vocab v --vocab-size 7", "--vocab-size cannot be combined"},
		{"x --logits", "--logits belongs to --scores"},
		{"x --decisions d.csv", "--decisions needs --apply"},
		{"x --output o.txt", "want a name that ends in .csv, .jsonl or .parquet"},
		{"x --images .", "audit captions: --images belongs to --page"},
		{"x --output o.csv --apply o.csv", "need three different files"},
		{"x y", "type nmn audit captions DATA; 2 arguments are given"},
	} {
		wantUsage(t, call(t, append([]string{"audit", "captions"}, strings.Fields(test.args)...)...), test.says)
	}
	for name, content := range map[string]string{"a.csv": "sample,caption,id\nx,y,1\nx,z,1\n",
		"b.jsonl": "{\"sample\":\"\xff\"}\n", "c.json": "{}", "d.csv": "sample,caption\nx,...\n"} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		c := call(t, "audit", "captions", path, "--apply", filepath.Join(dir, "out"+filepath.Ext(name)))
		if c.code != exitFailure || strings.Count(c.err, "\n") != 1 || !strings.Contains(c.err, name) {
			t.Errorf("%s: exit code %d, %q", name, c.code, c.err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "out*")); len(left) > 0 || err != nil {
		t.Errorf("failed runs leave %q, %v", left, err)
	}
	one := filepath.Join(dir, "one.csv")
	write(t, one, "sample,caption\na,x\n")
	for out, says := range map[string]string{one: "are read from it", filepath.Join(dir, "k.json"): "ends in .csv"} {
		wantFailure(t, call(t, "audit", "captions", one, "--apply", out), says)
	}
}

func TestAuditCaptions_PageAndDecisions(t *testing.T) {
	t.Parallel()
	dir := captionFolder(t)
	page, kept := filepath.Join(dir, "page.html"), filepath.Join(dir, "kept.json")
	must(t, onCaptions(dir, "--page", page, "--page-items", "7")...)
	element := regexp.MustCompile(`(?s)<script id="data" type="application/json">(.*?)</script>`)
	data := element.FindStringSubmatch(read(t, page))
	var p struct {
		Items []struct{ ID, Fingerprint string }
	}
	if data == nil || json.Unmarshal([]byte(data[1]), &p) != nil || len(p.Items) != 7 {
		t.Fatalf("page with %v", p)
	}
	decisions := filepath.Join(dir, "caption-decisions.csv")
	write(t, decisions, fmt.Sprintf("annotation_id,decision,fingerprint\n%s,keep,%s\n%s,drop,%s\n", p.Items[0].ID,
		p.Items[0].Fingerprint, p.Items[1].ID, p.Items[1].Fingerprint))
	v := readJSON(t, must(t, onCaptions(dir, "--decisions", decisions, "--apply", kept, "--page", page, "--json")...))
	applied := v["applied"].(map[string]any)
	if applied["rescued"].(float64) != 1 || applied["decided"].(float64) != 1 ||
		applied["automatic"].(float64) != v["dropped"].(float64)-2 {
		t.Errorf("%v dropped; %v", v["dropped"], applied)
	}
	if text := read(t, page); strings.Contains(text, p.Items[0].Fingerprint) {
		t.Error("what is decided is on the page again")
	}
	write(t, decisions, "annotation_id,decision,fingerprint\n"+p.Items[0].ID+",keep,"+p.Items[1].Fingerprint+"x\n")
	wantFailure(t, call(t, onCaptions(dir, "--decisions", decisions, "--apply", kept)...), "caption-decisions.csv:2")
}

// A file of Flickr30k is audited, and written again in its form.
func TestAuditCaptions_TokenFile(t *testing.T) {
	dir := t.TempDir()
	in, out, decisions := filepath.Join(dir, "r.token"), filepath.Join(dir, "kept.token"), filepath.Join(dir, "d.csv")
	var b strings.Builder
	for i := range 100 {
		for n := range 2 {
			fmt.Fprintf(&b, "b%d.jpg#%d\ta \"dog\" and a %s\n", i, n, topics[i%len(topics)][n])
		}
	}
	write(t, in, b.String())
	write(t, decisions, "annotation_id,decision\nb7.jpg#1,drop\n")
	v := readJSON(t, must(t, "audit", "captions", in, "--apply", out, "--decisions", decisions,
		"--precision", "1", "--json"))
	if want := regexp.MustCompile(`b7.jpg#1.*\n`).ReplaceAllString(b.String(), ""); v["samples"].(float64) != 100 ||
		read(t, out) != want {
		t.Errorf("%v, kept %s", v, read(t, out))
	}
}
