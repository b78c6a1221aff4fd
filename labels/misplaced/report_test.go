package misplaced

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"nmn/eval"
	_ "nmn/format/parquet"
	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/labels"
	"nmn/loader/annotation"
	"nmn/text"
)

const cocoText = `{"images": [{"id": 30, "file_name": "c.jpg"}, {"id": 10, "file_name": "a.jpg"},
 {"id": 20, "file_name": "b.jpg"}], "annotations": [
 {"id": 1, "image_id": 10, "caption": "a dog runs"}, {"id": 2, "image_id": 10, "caption": "the dog, \"Rex\""},
 {"id": 3, "image_id": 10, "caption": "two cats"}, {"id": 4, "image_id": 20, "caption": "cats sleep"},
 {"id": 5, "image_id": 20, "caption": "cats sleep"}]}`

func cocoBags(t testing.TB) *annotation.Bags {
	t.Helper()
	return expect.Value(annotation.ParseBags("c.json", "", strings.NewReader(cocoText)))(t)
}

// judged is a report as the inference would have it, with what is dropped.
func judged(b *annotation.Bags, own [][]float64, dropped [][]bool) *Report {
	r := &Report{Bags: b, Result: &Result{Own: own}, Dropped: dropped}
	r.Vocabulary, _ = text.NewVocabulary(nil) // no words: nothing to fail for
	r.input.Captions = Mentions(b, r.Vocabulary)
	r.rank()
	return r
}

func smallReport(t testing.TB) *Report {
	return judged(cocoBags(t), [][]float64{{.9, .75, .125}, {.5, .125}, {}},
		[][]bool{{false, false, true}, {false, true}, {}})
}

func TestWriteFile_AllFormatsAgree(t *testing.T) {
	r, dir := smallReport(t), t.TempDir()
	want := [][]string{{"3", "10", "0.125", "two cats"}, {"5", "20", "0.125", "cats sleep"},
		{"4", "20", "0.5", "cats sleep"}, {"2", "10", "0.75", `the dog, "Rex"`}, {"1", "10", "0.9", "a dog runs"}}
	for _, name := range []string{"a.csv", "a.jsonl", "a.parquet"} {
		expect.OK(t, r.WriteFile(filepath.Join(dir, name)))
	}
	data := expect.Value(os.ReadFile(filepath.Join(dir, "a.csv")))(t)
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || !reflect.DeepEqual(records[1:], want) || !slices.Equal(records[0], Columns) {
		t.Errorf("%v: %q", err, records)
	}
	rows, err := parquet.ReadFile[line[int64, int64]](filepath.Join(dir, "a.parquet"))
	if err != nil || len(rows) != len(want) || rows[0] != (line[int64, int64]{3, 10, .125, "two cats"}) {
		t.Errorf("%v: %v", err, rows)
	}
	if data, err = os.ReadFile(filepath.Join(dir, "a.jsonl")); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(data), "\n"); first !=
		`{"annotation_id":3,"image_id":10,"own":0.125,"caption":"two cats"}` || strings.Count(string(data), "\n") != 5 ||
		!strings.Contains(string(data), `{"annotation_id":2,"image_id":10,"own":0.75,"caption":"the dog, \"Rex\""}`) {
		t.Errorf("%s", data)
	}
	if err := r.WriteFile(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("a file of no known format is written")
	}
}

// Identifiers have the type that they have in the file of captions.
func TestWriteFile_IdentifiersOfTables(t *testing.T) {
	b := expect.Value(annotation.ParseBags("t", annotation.FormCSV, strings.NewReader("sample,caption,id\n7,<x>,007\n")))(t)
	r, dir := judged(b, [][]float64{{.5}}, nil), t.TempDir()
	for _, name := range []string{"a.jsonl", "a.parquet"} {
		expect.OK(t, r.WriteFile(filepath.Join(dir, name)))
	}
	data, err := os.ReadFile(filepath.Join(dir, "a.jsonl"))
	if err != nil || string(data) != `{"annotation_id":"007","image_id":"7","own":0.5,"caption":"<x>"}`+"\n" {
		t.Errorf("%s, %v", data, err)
	}
	rows, err := parquet.ReadFile[line[string, string]](filepath.Join(dir, "a.parquet"))
	if err != nil || rows[0] != (line[string, string]{"007", "7", .5, "<x>"}) {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestMentions_AreWordsOfTheVocabulary(t *testing.T) {
	v := expect.Value(text.NewVocabulary([]text.Word{{Text: "cats"}, {Text: "dog"}, {Text: "a"}}))(t)
	b := cocoBags(t)
	b.Captions[0][0].Text = "A dog, a DOG."
	want := [][][]int32{{{1, 2}, {1}, {0}}, {{0}, {0}}, {}}
	if got := Mentions(b, v); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	many := &annotation.Bags{IDs: []string{"x"}, Captions: make([][]annotation.BagCaption, 1)}
	many.Captions[0] = make([]annotation.BagCaption, 10_000)
	for i := range many.Captions[0] {
		many.Captions[0][i].Text = []string{"dog", "cats dog"}[i%2]
	}
	for i, got := range Mentions(many, v)[0] {
		if !slices.Equal(got, [][]int32{{1}, {0, 1}}[i%2]) {
			t.Fatalf("caption %d of one bag: %v", i, got)
		}
	}
}

func TestApply_DecisionsOfPeopleComeFirst(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "c.json"), filepath.Join(dir, "kept.json")
	expect.OK(t, os.WriteFile(in, []byte(cocoText), 0o666))
	r := smallReport(t)
	r.Name = in
	o := expect.Value(r.Apply(t.Context(), out, Decisions{"3": Keep, "1": Drop, "2": Keep, "4": Drop}))(t)
	if *o != (Outcome{File: out, Kept: 2, Dropped: 3, Automatic: 1, Decided: 2, Rescued: 1, EmptyBags: 1,
		ExpectedPrecision: .875}) {
		t.Errorf("%+v", o)
	}
	kept, err := annotation.ReadBags(t.Context(), out)
	if err != nil || !slices.Equal(kept.IDs, r.IDs) || kept.Len() != 2 || kept.Captions[0][0].ID != "2" ||
		kept.Captions[0][1].ID != "3" {
		t.Errorf("%+v, %v", kept, err)
	}
	missing := filepath.Join(dir, "none", "kept.json")
	if _, err := r.Apply(t.Context(), missing, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	// Without a decision the threshold applies: 3 and 5, with probabilities .125 and .125, and 4 with .5.
	r.Dropped[1][0] = true
	if o, err = r.Apply(t.Context(), out, nil); err != nil || *o != (Outcome{File: out, Kept: 2, Dropped: 3, Automatic: 3,
		EmptyBags: 1, ExpectedPrecision: .75}) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestReadDecisions_Refuses(t *testing.T) {
	b := cocoBags(t)
	good := "decision,fingerprint,annotation_id,more\ndrop," + Fingerprint("two cats") + ",3,x\n keep ,, 5 ,\n"
	d, err := decisionsOn(b).Read(strings.NewReader("\ufeff"+good), "d.csv")
	if err != nil || !reflect.DeepEqual(Decisions(d), Decisions{"3": Drop, "5": Keep}) {
		t.Errorf("%v, %v", d, err)
	}
	for in, want := range map[string]string{
		"":                         "the file is empty",
		"annotation_id,verdict\n":  `d.csv:1: there is no column "decision"`,
		good + "drop,,6,\n":        `d.csv:4: there is no caption "6"`,
		good + "accept,,4,\n":      `d.csv:4: decision is "accept", want drop or keep`,
		good + "drop,,3,\n":        `d.csv:4: caption "3" has a decision already`,
		good + "drop,0123,4,\n":    `d.csv:4: the text of caption "4" has changed since the decision`,
		good + "drop,4\n":          "wrong number of fields",
		"annotation_id,decision\n": "",
	} {
		if _, err := decisionsOn(b).Read(strings.NewReader(in), "d.csv"); want == "" && err != nil || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, labels.ErrDecisions)) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestParseTruth_ListsOrColumns(t *testing.T) {
	r := smallReport(t)
	for _, in := range []string{"3\n4\n", "x,id\na,4\nb,3\n", "\ufeffannotation_id\n 3\n4"} {
		got, err := parseTruth(limited(in, maxList), "t", r.Bags)
		if want := [][]bool{{false, false, true}, {true, false}, {}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v, want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"3\n9\n": `t:2: there is no caption "9"`, "3\n3\n": `t:2: caption "3" is given twice`,
		"a,b\n1,2\n": "t:1: none of the 2 columns is", "x,id\n1\n": "t:2: there are 1 fields", "\"3": "extraneous",
	} {
		if _, err := parseTruth(limited(in, maxList), "t", r.Bags); err == nil || !strings.Contains(err.Error(), want) ||
			!errors.Is(err, ErrTruth) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

// scored joins scores to the small captions, with the words cats and dog.
func scored(t *testing.T, m *table.Matrix) (*Report, error) {
	t.Helper()
	v := expect.Value(text.NewVocabulary([]text.Word{{Text: "cats"}, {Text: "dog"}}))(t)
	r := &Report{Bags: cocoBags(t), Vocabulary: v}
	m.Name = "s"
	return r, r.join(m)
}

func TestScores_AreMatchedByName(t *testing.T) {
	r, err := scored(t, &table.Matrix{Words: []string{"x", "dog", "cats"},
		IDs: []string{"99", "x/COCO_val2014_000000000020.jpg", "10"}, Rows: 3, Cols: 3,
		Values: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}})
	if err != nil || r.others != 1 || !slices.Equal(r.input.Scored, []int{0, 1}) ||
		!slices.Equal(r.input.Scores, []float32{9, 8, 6, 5}) {
		t.Errorf("%v, %v, %v", r.input.Scored, r.input.Scores, err)
	}
	r, err = scored(t, &table.Matrix{Rows: 3, Cols: 2, Values: []float32{1, 2, 3, 4, 5, 6}})
	if err != nil || r.input.Scored != nil || !slices.Equal(r.input.Scores, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("rows in order: %v, %v", r.input.Scores, err)
	}
	for want, m := range map[string]*table.Matrix{
		"s has 2 rows, \"c.json\" has 3 pictures":        {Rows: 2, Cols: 2},
		"s has 3 columns for the 2 words":                {Rows: 3, Cols: 3},
		`s has no column for the word "cats"`:            {Words: []string{"dog", "x"}, Rows: 3, Cols: 2},
		`s: the id "20" is given twice, in rows 1 and 2`: {IDs: []string{"20", "20"}, Rows: 2, Cols: 2},
		`s: none of its 1 ids, first "x", is a picture`:  {IDs: []string{"x"}, Rows: 1, Cols: 2},
	} {
		m.Values = make([]float32, m.Rows*m.Cols)
		if _, err := scored(t, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestReadScores_AreFiniteLogits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.csv")
	for content, logits := range map[string]bool{"a,b\n0,1\n": false, "a,b\n-Inf,+Inf\n": true} {
		expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
		m, err := readScores(AuditOptions{Scores: path, Logits: logits})
		if err != nil || math.IsInf(float64(m.Values[0]), 0) || m.Values[0] >= 0 || m.Values[0] != -m.Values[1] {
			t.Errorf("%q: %v, %v", content, m, err)
		}
	}
	expect.OK(t, os.WriteFile(path, []byte("a,b\n0,1.5\n"), 0o666))
	if _, err := readScores(AuditOptions{Scores: path}); err == nil || !strings.Contains(err.Error(), "`scores.logits`") {
		t.Errorf("no probability: %v", err)
	}
}

// Five captions cannot be compared: there is no evidence against them, and nothing is dropped.
func TestSummary_OfTooFewCaptions(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "c.json"), filepath.Join(dir, "kept.json")
	expect.OK(t, os.WriteFile(in, []byte(cocoText), 0o666))
	b := expect.Value(annotation.ReadBags(t.Context(), in))(t)
	r := expect.Value(Audit(t.Context(), b, DefaultAuditOptions()))(t)
	o := expect.Value(r.Apply(t.Context(), out, nil))(t)
	o.File = "kept.json"
	got, err := json.Marshal(r.Summary(3, o))
	want := `{"captions":5,"samples":3,"words":8,"foreign":null,"gain":null,"refused":"5 captions are too few: at least 200 ` +
		`are needed to compare a picture's captions with others","remarks":["pictures without captions: 1"],"precision":0.9,"threshold":0,"dropped":0,"expected_precision":null,"worst":[],` +
		`"applied":{"file":"kept.json","kept":5,"dropped":0,"automatic":0,"decided":0,"rescued":0,"empty_samples":0,` +
		`"expected_precision":null}}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if has, lacks := r.Against(0, 0, 9); has != nil || lacks != nil {
		t.Errorf("%q and %q speak against a caption that was not compared", has, lacks)
	}
	for _, own := range r.Own {
		for _, p := range own {
			if p != 1 {
				t.Errorf("captions are of their bags with probabilities %v", r.Own)
			}
		}
	}
}

func TestSummary_IsJSONWhateverIsUnknown(t *testing.T) {
	r := smallReport(t)
	r.Foreign, r.Gain, r.Interval = math.NaN(), math.NaN(), Interval{Low: eval.Undefined()}
	r.Refusal = "one caption a bag"
	b, err := json.Marshal(r.Summary(0, nil))
	if err != nil || !strings.Contains(string(b), `"foreign":null`) ||
		!strings.Contains(string(b), `"refused":"one caption`) || strings.Contains(string(b), "interval") {
		t.Errorf("%s, %v", b, err)
	}
	// Results computed before the refusal are reported.
	r.judged = true
	for _, r.Foreign = range []float64{0, .25} {
		r.Gain = .5 - 2*r.Foreign
		want := fmt.Sprintf(`"foreign":%g,"gain":%g,"refused":"one`, r.Foreign, r.Gain)
		if b, err := json.Marshal(r.Summary(0, nil)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
}

func limited(text string, bytes int) *io.LimitedReader {
	return &io.LimitedReader{R: strings.NewReader(text), N: int64(bytes)}
}

// A list that does not end is given up, not read into memory.
func TestReadTruth_IsOfBoundedSize(t *testing.T) {
	const text = "3\n4\n"
	if _, err := parseTruth(limited(text, len(text)+1), "l", cocoBags(t)); err != nil {
		t.Error(err)
	}
	if _, err := parseTruth(limited(text, len(text)-1), "l", cocoBags(t)); !errors.Is(err, ErrTruth) ||
		!strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWrite_SaysThatTheDiskIsFull(t *testing.T) {
	for _, form := range []annotation.Form{annotation.FormCOCO, annotation.FormMSRVTT, annotation.FormCSV} {
		r := smallReport(t)
		r.Form = form
		for name, write := range map[string]func(io.Writer) error{"CSV": r.WriteCSV, "JSON": r.writeLines,
			"Parquet": r.writeParquet} {
			if err := write(fullDisk{}); !errors.Is(err, errFull) {
				t.Errorf("%s of %s: %v", name, form, err)
			}
		}
	}
}

func FuzzReadDecisions(f *testing.F) {
	f.Add("annotation_id,decision,fingerprint\n3,drop," + Fingerprint("two cats") + "\n5,keep,\n")
	f.Add("decision,annotation_id\nkeep,1\nkeep,1\n")
	b := cocoBags(f)
	f.Fuzz(func(t *testing.T, in string) {
		d, err := decisionsOn(b).Read(strings.NewReader(in), "f")
		if err != nil && !errors.Is(err, labels.ErrDecisions) {
			t.Errorf("%v does not wrap labels.ErrDecisions", err)
		}
		for id, verdict := range d {
			if _, ok := placesOf(b)[id]; !ok || verdict != Drop && verdict != Keep {
				t.Errorf("%q is decided %q", id, verdict)
			}
		}
	})
}

func FuzzReadTruth(f *testing.F) {
	f.Add("3\n4\n")
	f.Add("x,id\na,4\n")
	b := cocoBags(f)
	f.Fuzz(func(t *testing.T, in string) {
		if _, err := parseTruth(limited(in, maxList), "f", b); err != nil && !errors.Is(err, ErrTruth) {
			t.Errorf("%v does not wrap ErrTruth", err)
		}
	})
}
