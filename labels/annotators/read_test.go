package annotators

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
)

const pets = "picture,annotator,labels,unknown,asked\n" +
	"a.jpg,ann,dog;cat,,\n" +
	"a.jpg,bob,dog,bird,\n" +
	"b.jpg,ann,-,,cat|dog\n" +
	"b.jpg,bob,,,\n"

func parsed(t *testing.T, text string, o ReadOptions) *Table {
	t.Helper()
	return expect.Value(Parse("pets.csv", strings.NewReader(text), o))(t)
}

func TestParse_CSVAndJSONLinesAreTheSame(t *testing.T) {
	lines := `{"picture": "a.jpg", "annotator": "ann", "labels": ["dog", "cat", "dog"]}
{"picture": "a.jpg", "annotator": "bob", "labels": ["dog"], "unknown": ["bird"], "asked": null}

{"picture": "b.jpg", "annotator": "ann", "labels": [], "asked": ["cat", "dog"]}
{"picture": "b.jpg", "annotator": "bob", "labels": [], "more": 1}`
	for name, text := range map[string]string{"CSV": pets, "JSON lines": lines} {
		got := parsed(t, text, ReadOptions{})
		if !slices.Equal(got.BagIDs, []string{"a.jpg", "b.jpg"}) || !slices.Equal(got.AnnotatorNames, []string{"ann",
			"bob"}) || !slices.Equal(got.Words, []string{"dog", "cat", "bird"}) {
			t.Errorf("%s: %q, %q, %q", name, got.BagIDs, got.AnnotatorNames, got.Words)
		}
		if got.Bags != 2 || got.Annotators != 2 || got.Classes != 3 || len(got.Rows) != 4 {
			t.Fatalf("%s: %+v", name, got)
		}
		for i, want := range []Row{{Given: []int32{0, 1}}, {Annotator: 1, Given: []int32{0}, Unknown: []int32{2}},
			{Bag: 1, Given: []int32{}, Asked: []int32{0, 1}}, {Bag: 1, Annotator: 1, Given: []int32{}}} {
			row := got.Rows[i]
			if row.Bag != want.Bag || row.Annotator != want.Annotator || !slices.Equal(row.Given, want.Given) ||
				!slices.Equal(row.Unknown, want.Unknown) || !slices.Equal(row.Asked, want.Asked) ||
				(row.Asked == nil) != (want.Asked == nil) {
				t.Errorf("%s: row %d is %+v, want %+v", name, i+1, row, want)
			}
		}
	}
}

func TestParse_VocabularyAndBagsOfOthers(t *testing.T) {
	got := parsed(t, pets, ReadOptions{Words: []string{"cat", "fox", "dog"}, Bags: []string{"z", "b.jpg", "a.jpg"}})
	if got.Bags != 3 || got.Classes != 3 || got.Outside != 1 || !slices.Equal(got.Rows[0].Given, []int32{0, 2}) ||
		got.Rows[0].Bag != 2 {
		t.Errorf("%+v", got)
	}
	got = parsed(t, "picture,annotator,labels\na,x,bird;dog;fox;cat\n", ReadOptions{Words: []string{"cat", "dog"}})
	if got.Outside != 2 || !slices.Equal(got.Rows[0].Given, []int32{0, 1}) {
		t.Errorf("%+v", got)
	}
	if _, err := Parse("pets.csv", strings.NewReader(pets), ReadOptions{Bags: []string{"a.jpg"}}); err == nil ||
		!strings.Contains(err.Error(), `line 4, column "picture": "b.jpg" is not one of the samples`) {
		t.Errorf("%v", err)
	}
	if other := parsed(t, "note,labels,picture,annotator\nx,dog,1,2\n", ReadOptions{}); !slices.Equal(other.Ignored,
		[]string{"note"}) || other.BagIDs[0] != "1" {
		t.Errorf("%+v", other)
	}
}

func TestParse_ErrorsNameLineAndCure(t *testing.T) {
	for text, says := range map[string]string{
		"":                           "the file is empty",
		" \n":                        "the file is empty",
		"[{}]":                       "one array of JSON",
		"picture,annotator,labels\n": "there are no rows",
		"picture,labels\na,b\n": "line 1: there is no column annotator, columns " +
			"are picture, labels",
		"a,ann,dog\nb,ann,dog\n":                                                 "line 1: there is no column sample or picture",
		"picture,picture,annotator,labels\n":                                     "picture",
		"picture,annotator,labels\na,ann\n":                                      "line 2",
		"picture,annotator,labels\n,ann,dog\n":                                   `line 2, column "picture": a name is empty`,
		"picture,annotator,labels\na,,dog\n":                                     `line 2, column "annotator": a name is empty`,
		"picture,annotator,labels\na,x,dog;;b\n":                                 `line 2, column "labels": a name is empty`,
		"picture,annotator,labels\na,x,NaN\n":                                    "missing value",
		"picture,annotator,labels\na,x,\xff\n":                                   "is not UTF-8",
		"picture,annotator,labels\na,x\x01y,b\n":                                 "control character",
		"picture,annotator,labels\na,x,d\na,x,\n":                                `line 3, annotator "x" has labelled sample "a" in line 2 already`,
		"picture,annotator,labels,unknown\na,x,d,d\n":                            `column "unknown": label "d" is given too`,
		"picture,annotator,labels,asked\na,x,d,e\n":                              `column "asked": label "d" is given and not asked for`,
		"picture,annotator,labels\na,x,\"open\n":                                 "line 2",
		"{\"picture\": \"a\"}":                                                   `line 1, column "annotator": "" is not text`,
		"{\"picture\": \"a\", \"annotator\": [1]}":                               `column "annotator": "[1]" is not text`,
		"{\"picture\": null, \"annotator\": \"x\", \"labels\": []}":              `column "picture": "null" is not text`,
		"{\"picture\": \"a\", \"annotator\": \"x\"}":                             `column "labels": "" is not a list`,
		"{\"picture\": \"a\", \"annotator\": \"x\", \"labels\": null}":           "is not a list",
		"{\"picture\": \"a\", \"annotator\": \"x\", \"labels\": \"dog\"}":        "is not a list",
		"{\"picture\": \"a\", \"annotator\": \"x\", \"labels\": []}\n{\"picture": "line 2, not a JSON object",
		"{\"picture\": \"" + strings.Repeat("x", maxLine) + "\"}":                "line 1, longer than",
	} {
		_, err := Parse("pets.csv", strings.NewReader(text), ReadOptions{})
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "pets.csv") {
			t.Errorf("%.60q: %v, want %q", text, err, says)
		}
	}
	for _, name := range []string{"sample", "item", "Image", "file_name", "id"} {
		other := parsed(t, "id2,"+name+",annotator,labels\n7,a.jpg,ann,dog\n", ReadOptions{})
		lines := parsed(t, `{"n": 7, "`+name+`": "a.jpg", "annotator": "ann", "labels": ["dog"]}`, ReadOptions{})
		if other.BagIDs[0] != "a.jpg" || lines.BagIDs[0] != "a.jpg" {
			t.Errorf("%s: samples %q and %q", name, other.BagIDs, lines.BagIDs)
		}
	}
	crowd := parsed(t, "image,worker_id,label\na.jpg,ann,dog\n", ReadOptions{})
	if !slices.Equal(crowd.AnnotatorNames, []string{"ann"}) || !slices.Equal(crowd.Words, []string{"dog"}) {
		t.Errorf("annotators %q, labels %q", crowd.AnnotatorNames, crowd.Words)
	}
	numbers := parsed(t, `{"picture": 12, "annotator": 3, "labels": ["dog"]}`, ReadOptions{})
	if numbers.BagIDs[0] != "12" || numbers.AnnotatorNames[0] != "3" {
		t.Errorf("%+v", numbers)
	}
}

func TestFiles_ReadPacked(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(pets))
	z.Close()
	path := written(t, "pets.csv.gz", packed.String())
	got, err := Files{Labels: path}.Read(t.Context())
	if err != nil || len(got.Rows) != 4 {
		t.Errorf("%+v, %v", got, err)
	}
}

func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

func TestFiles_ScoresGiveBagsAndClasses(t *testing.T) {
	labels := written(t, "pets.csv", pets)
	scores := written(t, "scores.csv", "id,cat,dog,fox\nc.jpg,.5,.5,.5\nb.jpg,.9,.2,.1\na.jpg,.25,.75,0\n")
	got, err := Files{Labels: labels, Scores: scores}.Read(t.Context())
	expect.OK(t, err)
	if !slices.Equal(got.BagIDs, []string{"c.jpg", "b.jpg", "a.jpg"}) || !slices.Equal(got.Words, []string{"cat", "dog",
		"fox"}) || got.Outside != 1 || got.Logits[0] != 0 || !(got.Logits[7] > 1.09 && got.Logits[7] < 1.1) {
		t.Errorf("%+v", got)
	}
	words := written(t, "words.txt", "dog, NN, 3\ncat, NN, 2\n")
	got, err = Files{Labels: labels, Scores: scores, Vocabulary: words, Logits: true}.Read(t.Context())
	if err != nil || !slices.Equal(got.Logits, []float32{.5, .5, .2, .9, .75, .25}) {
		t.Errorf("%+v, %v", got, err)
	}
	for says, f := range map[string]Files{
		"no column id names its rows":             {Scores: written(t, "s.csv", "cat\n.1\n")},
		`id "a" is given twice`:                   {Scores: written(t, "s.csv", "id,cat\na,.1\na,.2\n")},
		"want a probability":                      {Scores: written(t, "s.csv", "id,cat\na,3\n")},
		`there is no column "cat"`:                {Scores: written(t, "s.csv", "id,dog\na,.3\n"), Vocabulary: words},
		"is not one of the samples of the scores": {Scores: written(t, "s.csv", "id,dog\na,.3\n")},
		"no such file":                            {Scores: "none.csv"},
	} {
		f.Labels = labels
		if _, err := f.Read(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// shortest is a number of six digits as JSON has it.
func shortest(t *testing.T, v float64) string {
	t.Helper()
	if _, err := fmt.Sscan(fmt.Sprintf("%.6g", v), &v); err != nil {
		t.Fatal(err)
	}
	b := expect.Value(json.Marshal(v))(t)
	return string(b)
}

// The table readers read the written files back, and get the figures of the result.
func TestReport_FilesReadBack(t *testing.T) {
	c := crowd{bags: 60, pairs: some(5, pair{.1, .02}, pair{.4, .1}), prior: frequencies(3, .2, .6), each: 3, seed: 2}
	in, _ := c.simulated()
	r := &Report{&Table{Input: in, Words: []string{"cat", "<dog>", "hot,dog"}}, estimated(t, in)}
	for i := range in.Bags {
		r.BagIDs = append(r.BagIDs, strings.Repeat("b", i+1))
	}
	for j := range in.Annotators {
		r.AnnotatorNames = append(r.AnnotatorNames, string(rune('a'+j)))
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{r.WriteConsensusFile(at("c.csv")), r.WriteConsensusFile(at("c.jsonl")),
		r.WriteEvidenceFile(at("e.npy")), r.WriteEvidenceFile(at("e.csv")), r.WriteLabelsFile(at("l.csv")),
		r.WriteLabelsFile(at("l.jsonl")), r.WriteAnnotatorsFile(at("a.csv"))} {
		expect.OK(t, err)
	}
	labels := expect.Value(table.ReadLabels(at("c.csv")))(t)
	evidence := expect.Value(table.ReadScores(at("e.npy"), true))(t)
	named, err := table.ReadScores(at("e.csv"), true)
	if err != nil || !slices.Equal(named.Values, evidence.Values) || named.IDs[59] != r.BagIDs[59] {
		t.Errorf("evidence as CSV: %v", err)
	}
	p, e := make([]float64, 3), make([]float64, 3)
	likely := 0
	for i := range in.Bags {
		r.Posterior(i, p)
		r.Evidence(i, e)
		for k := range p {
			if (labels.Values[3*i+k] == 1) != (p[k] >= .5) || evidence.Values[3*i+k] != float32(e[k]) {
				t.Fatalf("bag %d, class %d: label %v and evidence %v, want what follows from %v and %v", i, k, labels.Values[3*i+k],
					evidence.Values[3*i+k], p[k], e[k])
			}
			if p[k] >= .5 {
				likely++
			}
		}
	}
	if likely != r.Consensus {
		t.Errorf("%d labels of the consensus, want %d", r.Consensus, likely)
	}
	var list, lines, consensus strings.Builder
	list.WriteString("sample,label,posterior,evidence,given,asked\n")
	for i, bag := range r.BagIDs {
		var holds []string
		r.Each(i, func(c Cell) {
			fmt.Fprintf(&list, "%s,%s,%.6g,%.6g,%d,%d\n", bag, []string{"cat", "<dog>", `"hot,dog"`}[c.Class], c.P, c.Evidence,
				c.Given, c.Asked)
			fmt.Fprintf(&lines, `{"sample":"%s","label":"%s","posterior":%s,"evidence":%s,"given":%d,"asked":%d}`+"\n", bag,
				r.Words[c.Class], shortest(t, c.P), shortest(t, c.Evidence), c.Given, c.Asked)
			if c.P >= .5 {
				holds = append(holds, `"`+r.Words[c.Class]+`"`)
			}
		})
		fmt.Fprintf(&consensus, `{"path":"%s","labels":[%s]}`+"\n", bag, strings.Join(holds, ","))
	}
	for name, want := range map[string]string{"l.csv": list.String(), "l.jsonl": lines.String(),
		"c.jsonl": consensus.String()} {
		if got, err := os.ReadFile(at(name)); err != nil || string(got) != want {
			t.Errorf("%v, %s is\n%.500s\nwant\n%.500s", err, name, got, want)
		}
	}
	for _, err := range []error{r.WriteConsensusFile(at("c.txt")), r.WriteEvidenceFile(at("c.jsonl")),
		r.WriteLabelsFile(at("c"))} {
		if err == nil || !strings.Contains(err.Error(), "must end in one of") {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{pets, "picture,annotator,labels\na,x,d\n", "picture;annotator;labels\na;x;d|e\n",
		`{"picture": "a", "annotator": 3, "labels": ["dog"], "asked": ["dog"], "unknown": []}`, "\xef\xbb\xbfbag\n", "[", "{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range []ReadOptions{{}, {Words: []string{"d", "dog"}}} {
			got, err := Parse("f", strings.NewReader(text), o)
			if err != nil {
				if !errors.Is(err, ErrInput) {
					t.Errorf("%v is not ErrInput", err)
				}
				continue
			}
			if got.Classes == 0 {
				continue
			}
			if err := got.check(); err != nil {
				t.Errorf("what was read is refused: %v", err)
			}
			if len(got.Rows) > 50 || got.Classes > 50 {
				continue
			}
			for _, byLabel := range []bool{false, true} {
				options := DefaultOptions()
				options.ByLabel = byLabel
				if r, err := Estimate(t.Context(), got.Input, options); err == nil {
					finite(t, r)
				} else if !errors.Is(err, ErrUnidentified) {
					t.Errorf("estimate: %v", err)
				}
			}
		}
	})
}

// A label that no annotator was asked about is unknown, however frequent its class is.
func TestReport_ConsensusLeavesOutWhatNobodyAnswered(t *testing.T) {
	header := "picture,annotator,labels,unknown,asked\n"
	labels := header + "a,x,cat,,\na,y,cat,,\na,z,cat,,\nb,x,cat;dog,,\nb,y,cat,,\nb,z,cat;dog,,\n"
	for name, c := range map[string]struct{ labels, csv, jsonl string }{
		"several labels": {labels + "d,x,,cat,\ne,x,dog,,dog\ne,y,dog,,dog\ne,z,dog,,dog\n",
			"id,cat,dog\na,1,0\nb,1,1\nc,,\nd,,0\ne,,1\n",
			`{"path":"a","labels":["cat"]} {"path":"b","labels":["cat","dog"]} {"path":"d","labels":[]} ` +
				`{"path":"e","labels":["dog"]}`},
		"one class": {header + "a,x,cat,,\na,y,cat,,\na,z,dog,,\nb,x,dog,,\nb,y,dog,,\nd,z,cat,,\nd,y,cat,,\n",
			"id,cat,dog\na,1,0\nb,0,1\nc,,\nd,1,0\ne,,\n",
			`{"path":"a","labels":["cat"]} {"path":"b","labels":["dog"]} {"path":"d","labels":["cat"]}`},
	} {
		table, err := Parse("crowd.csv", strings.NewReader(c.labels), ReadOptions{Bags: []string{"a", "b", "c", "d", "e"}})
		expect.OK(t, err)
		r, dir := &Report{table, estimated(t, table.Input)}, t.TempDir()
		for path, want := range map[string]string{"c.csv": c.csv,
			"c.jsonl": strings.ReplaceAll(c.jsonl, "} {", "}\n{") + "\n"} {
			path = filepath.Join(dir, path)
			expect.OK(t, r.WriteConsensusFile(path))
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%s: %v, consensus\n%swant\n%s", name, err, got, want)
			}
		}
		if ones := strings.Count(c.jsonl, `cat"`) + strings.Count(c.jsonl, `dog"`); r.Consensus != ones {
			t.Errorf("%s: %d labels of the consensus, want %d", name, r.Consensus, ones)
		}
	}
}
