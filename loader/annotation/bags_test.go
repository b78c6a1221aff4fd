package annotation

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"nmn/internal/expect"
	"nmn/loader"
)

const (
	smallCSV = "\"caption\",other,sample,id,file\r\n" +
		"\"a \"\"red\"\" dog\nruns\",x,b1,7,p/a.jpg\r\n a cat ,,b2, 8 ,\r\n,,b1,9,\r\n"

	smallLines = `{"sample": "b1", "caption": "a \"red\" dog\nruns", "id": 7, "file": "p/a.jpg", "more": [1]}` + "\n\n" +
		`{"image_id": "b2", "caption": " a cat ", "annotation_id": "8"}` + "\n" +
		`{"video_id": "b1", "sen_id": 9, "caption": ""}`
)

// tableBags are what smallCSV and smallLines hold.
func tableBags(form Form) *Bags {
	return &Bags{Name: "t", Form: form, IDs: []string{"b1", "b2"}, Files: []string{"p/a.jpg", ""},
		Captions: [][]BagCaption{{{"7", "a \"red\" dog\nruns"}, {"9", ""}}, {{"8", " a cat "}}}}
}

func parseBags(t testing.TB, form Form, text string) *Bags {
	t.Helper()
	b, err := ParseBags("t", form, strings.NewReader(text))
	expect.OK(t, err)
	return b
}

func TestParseBags_TablesInEitherForm(t *testing.T) {
	for form, text := range map[Form]string{FormCSV: smallCSV, FormLines: smallLines} {
		if got := parseBags(t, form, text); !reflect.DeepEqual(got, tableBags(form)) || got.Len() != 3 {
			t.Errorf("%s: %+v", form, got)
		}
	}
	unnamed := parseBags(t, FormCSV, "sample,caption\nx,one\ny,two\nx,three\n")
	want := [][]BagCaption{{{"1", "one"}, {"3", "three"}}, {{"2", "two"}}}
	if !reflect.DeepEqual(unnamed.Captions, want) {
		t.Errorf("captions without ids: %v, want their numbers", unnamed.Captions)
	}
}

// JSON may have a list of captions in each object, and the objects in one array.
func TestParseBags_ListsAndArrays(t *testing.T) {
	lists := `{"id": 4, "image": "a.jpg", "captions": ["A dog", "A \u00e9<b>"], "n": ["A dog"]}` + "\n" +
		`{"image": "c.jpg", "captions": []}` + "\n" + `{"image": "b.jpg", "captions": ["A bird"]}` + "\n"
	array := "[" + strings.ReplaceAll(strings.TrimSpace(lists), "\n", ",\n") + "]"
	singles := `[{"file_name": "a.jpg", "text": "A dog"}, {"file_name": "a.jpg", "text": "A é<b>"},
		{"file_name": "b.jpg", "text": "A bird"}]`
	for text, form := range map[string]Form{lists: FormLines, array: FormArray, " \n" + singles: FormArray} {
		given := form
		if form == FormArray {
			given = ""
		}
		b := parseBags(t, given, text)
		want := [][]BagCaption{{{"1", "A dog"}, {"2", "A é<b>"}}, {}, {{"3", "A bird"}}}
		ids := []string{"a.jpg", "c.jpg", "b.jpg"}
		if strings.Contains(text, "text") {
			want, ids = slices.Delete(want, 1, 2), slices.Delete(ids, 1, 2)
		}
		same := slices.EqualFunc(b.Captions, want, func(x, y []BagCaption) bool { return slices.Equal(x, y) })
		if b.Form != form || !same || !slices.Equal(b.IDs, ids) || !slices.Equal(b.Files, ids) {
			t.Errorf("%s: %+v", text, b)
		}
	}
	for _, c := range []struct{ text, dropped, want string }{
		{lists, "1", strings.Replace(lists, `["A dog", "A`, `["A`, 1)},
		{lists, "3", strings.Replace(lists, `["A bird"]`, "[]", 1)},
		{singles, "2", `[
{"file_name": "a.jpg", "text": "A dog"},
{"file_name": "b.jpg", "text": "A bird"}
]
`},
	} {
		form := Form("")
		if c.text == lists {
			form = FormLines
		}
		b := parseBags(t, form, c.text)
		got := without(t, b, c.text, c.dropped)
		if got != c.want {
			t.Errorf("without %s: %s", c.dropped, got)
		}
		if again := parseBags(t, form, got); again.Len() != b.Len()-1 {
			t.Errorf("%d captions are left of %d", again.Len(), b.Len())
		}
	}
}

// Captions as Flickr8k and Flickr30k ship them: the pictures are the bags.
const (
	flickr8k   = "image,caption\na.jpg,\"A dog , and a \"\"cat\"\" .\"\nb.jpg,A bird\na.jpg,Two animals .\n"
	flickr30k  = "image_name| comment_number| comment\na.jpg| 0| A dog , and a \"cat\" .\nb.jpg| 0|A bird\na.jpg| 1| \"Two\n"
	flickrText = "a.jpg#0\tA dog , and a \"cat\" .\n\nb.jpg#0\t \"A bird\r\na.jpg#1\tTwo\tanimals ."
)

func TestParseBags_AsFlickrShipsThem(t *testing.T) {
	for text, want := range map[string][][]BagCaption{
		flickr8k:  {{{"1", `A dog , and a "cat" .`}, {"3", "Two animals ."}}, {{"2", "A bird"}}},
		flickr30k: {{{"1", `A dog , and a "cat" .`}, {"3", `"Two`}}, {{"2", "A bird"}}},
		flickrText: {{{"a.jpg#0", `A dog , and a "cat" .`}, {"a.jpg#1", "Two\tanimals ."}},
			{{"b.jpg#0", `"A bird`}}},
		"filename\tcaption\na.jpg\tA dog\n":                      {{{"1", "A dog"}}},
		"caption;file\nA dog, a cat;a.jpg\n":                     {{{"1", "A dog, a cat"}}},
		"image,sample,caption,comment\nx.jpg,a.jpg,A dog,none\n": {{{"1", "A dog"}}},
	} {
		b := parseBags(t, FormCSV, text)
		files := []string{"a.jpg", "b.jpg"}[:len(want)]
		if strings.Contains(text, "sample") { // another column is the picture only in the place of bags
			files = []string{""}
		}
		if !reflect.DeepEqual(b.Captions, want) || b.IDs[0] != "a.jpg" || !slices.Equal(b.Files, files) {
			t.Errorf("%q: %+v", text, b)
		}
	}
	lines := parseBags(t, FormLines, `{"image": "a.jpg", "caption": "A dog"}`)
	if lines.IDs[0] != "a.jpg" || lines.Files[0] != "a.jpg" {
		t.Errorf("JSON lines: %+v", lines)
	}
}

// Without a form, the content decides.
func TestParseBags_OfCOCOAndMSRVTT(t *testing.T) {
	coco := parseBags(t, "", smallCOCO)
	if coco.Form != FormCOCO || !coco.NumberedBags() || !coco.NumberedCaptions() || coco.Len() != 7 {
		t.Errorf("COCO: %+v", coco)
	}
	msrvtt := parseBags(t, "", smallMSRVTT)
	if msrvtt.Form != FormMSRVTT || msrvtt.NumberedBags() || !msrvtt.NumberedCaptions() || len(msrvtt.IDs) != 4 {
		t.Errorf("MSR-VTT: %+v", msrvtt)
	}
}

func TestParseBags_NamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		form     Form
		in, want string
	}{
		"nothing":          {FormCSV, "", "the file is empty"},
		"no lines":         {FormCSV, "sample,caption\n", "there are no captions"},
		"no lines of JSON": {FormLines, "\n \n", "there are no captions"},
		"no bag":           {FormCSV, "id,caption\n", `line 1: want a header with the columns image and caption`},
		"two bags":         {FormCSV, "sample,image_id,caption\n", "columns 1 and 2 are both the sample"},
		"bag empty":        {FormCSV, "sample,caption\na,x\n \t,y\n", "line 3: the sample, or its picture, is missing"},
		"ragged":           {FormCSV, "sample,caption\na,x,y\n", `line 2: its number of cells is not 2, as in the header`},
		"quotes":           {FormCSV, "sample,caption\na,\"x\n", "line 2: extraneous or missing"},
		"bars":             {FormCSV, "image_name| comment\na.jpg| x\na.jpg 4 x\n", "line 3: its number of cells is not 2"},
		"no tab":           {FormCSV, "a.jpg#0\tx\n\na.jpg#1 x\n", "line 3: \"a.jpg#1 x\" has no tab"},
		"no number":        {FormCSV, "a.jpg#0\tx\na.jpg\tx\n", "line 2: \"a.jpg\" is no picture with the number"},
		"number twice":     {FormCSV, "a.jpg#0\tx\na.jpg#0\ty\n", `line 2: id "a.jpg#0" repeats line 1`},
		"picture outside":  {FormCSV, "image,caption\n../a.jpg,x\n", `line 2: file "../a.jpg" is not a path inside`},
		"id twice":         {FormCSV, "sample,caption,id\na,\"x\ny\",1\nb,x,1\n", `line 4: id "1" repeats line 2`},
		"id empty":         {FormCSV, "sample,caption,id\na,x,\n", "line 2: the id is empty"},
		"id now and then": {FormLines, `{"sample":"a","caption":"x","id":1}` + "\n" + `{"sample":"a","caption":"x"}`,
			"line 2: some captions have an id"},
		"file outside": {FormCSV, "sample,caption,file\na,x,../b.jpg\n", `line 2: file "../b.jpg" is not a path inside`},
		"file zero":    {FormLines, `{"sample":"a","caption":"x","file":"b\u0000"}`, "is not a path inside"},
		"files differ": {FormCSV, "sample,caption,file\na,x,b.jpg\na,x,\na,y,c.jpg\n",
			`line 4: file "c.jpg" of sample "a" is "b.jpg"`},
		"no UTF-8":          {FormCSV, "sample,caption\na,x\nb,caf\xe9 x\n", "line 3 is not UTF-8"},
		"no UTF-8 at end":   {FormLines, `{"sample":"a","caption":"x"}` + "\n\xe2\x82", "line 2 is not UTF-8"},
		"no UTF-8 in JSON":  {"", strings.Replace(smallCOCO, "red ball", "red b\xffll", 1), "line 8 is not UTF-8"},
		"no object":         {FormLines, "\n[1]\n", "line 2: json: cannot unmarshal array"},
		"null":              {FormLines, "null\n", "line 1: null instead of an object"},
		"no caption":        {FormLines, `{"sample":"a","caption":null}`, "line 1: the caption is missing"},
		"array cut short":   {"", `[{"image":"a","caption":"x"},`, "unexpected EOF"},
		"array of numbers":  {"", `[1]`, "row 1: json: cannot unmarshal number"},
		"array without bag": {"", `[{"caption":"x"}]`, "row 1: the sample, or its picture, is missing"},
		"empty array":       {"", `[]`, "there are no captions"},
		"list of numbers":   {FormLines, `{"sample":"a","caption":[3]}`, "line 1: caption: want a list of strings"},
		"list without bag":  {FormLines, `{"caption":["a"]}`, "line 1: the sample, or its picture, is missing"},
		"caption a number":  {FormLines, `{"sample":"a","caption":3}`, "line 1: caption: want a string"},
		"bag a fraction":    {FormLines, `{"sample":1.5,"caption":"x"}`, "line 1: sample: want a string or a whole number"},
		"bag by two names":  {FormLines, `{"sample":1,"video_id":2,"caption":"x"}`, "line 1: sample is given twice"},
		"cut short":         {FormLines, `{"sample":1,"capt`, "line 1: unexpected end of JSON input"},
		"an endless line":   {FormLines, `{"sample":"` + strings.Repeat("x", 5<<20), "line 1: longer than"},
		"an endless field":  {FormCSV, "sample,caption\na,\"" + strings.Repeat("x", 5<<20), "an element of more than"},
		"neither of JSON's": {"", "{}",
			`there is no "images"; is this a caption file of COCO or an annotation file of MSR-VTT?`},
		"a number":              {"", "3", `want a JSON object with "images" and "annotations" or "videos" and "sentences", found 3`},
		"a sample that is none": {"", strings.Replace(smallCOCO, `"image_id": 7`, `"image_id": 9`, 1), "none of the images"},
	} {
		refuse(t, name, c.form, c.in, c.want)
	}
}

// refuse wants an error of the annotations that names the file and says what is wanted.
func refuse(t *testing.T, name string, form Form, in, want string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		_, err := ParseBags("t.x", form, strings.NewReader(in))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"t.x"`) ||
			!errors.Is(err, loader.ErrAnnotations) {
			t.Errorf("error %v, want one of the annotations with t.x and %q", err, want)
		}
	})
}

// The line is right wherever the reads below end.
func TestUTF8Reader_NamesTheLine(t *testing.T) {
	for text, line := range map[string]int{"\xff": 1, "a\nb\n\xe2\x82": 3, "\xe2\x82a": 1, "ø\n\xf0\x9d\x84\n": 2,
		"\xc0\x80": 1, "\n\xed\xa0\x80": 2} {
		for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(text)), strings.NewReader(text)} {
			if _, err := io.ReadAll(newUTF8Reader(r)); err == nil ||
				!strings.Contains(err.Error(), fmt.Sprintf("line %d ", line)) {
				t.Errorf("%q: %v, want line %d", text, err, line)
			}
		}
	}
}

func without(t testing.TB, b *Bags, text string, ids ...string) string {
	t.Helper()
	dropped := map[string]bool{}
	for _, id := range ids {
		dropped[id] = true
	}
	var out bytes.Buffer
	expect.OK(t, b.copyWithout(&out, strings.NewReader(text), dropped))
	return out.String()
}

// Everything but the dropped captions stays unchanged: byte for byte in tables, in meaning in JSON.
func TestCopyWithout_LeavesTheRest(t *testing.T) {
	if got, want := without(t, parseBags(t, FormCSV, smallCSV), smallCSV, "8"),
		strings.Replace(smallCSV, " a cat ,,b2, 8 ,\r\n", "", 1); got != want {
		t.Errorf("CSV: %q", got)
	}
	if got, want := without(t, parseBags(t, FormLines, smallLines), smallLines, "7"),
		smallLines[strings.Index(smallLines, "\n")+1:]; got != want {
		t.Errorf("JSON lines: %q", got)
	}
	unnamed := "sample,caption\nx,one\ny,two\nx,three"
	if got := without(t, parseBags(t, FormCSV, unnamed), unnamed, "2", "3"); got != "sample,caption\nx,one\n" {
		t.Errorf("CSV without ids: %q", got)
	}
	for text, want := range map[string]string{
		flickr8k:   "image,caption\nb.jpg,A bird\na.jpg,Two animals .\n",
		flickr30k:  "image_name| comment_number| comment\nb.jpg| 0|A bird\na.jpg| 1| \"Two\n",
		flickrText: "\nb.jpg#0\t \"A bird\r\na.jpg#1\tTwo\tanimals .",
	} {
		b := parseBags(t, FormCSV, text)
		if got := without(t, b, text, b.Captions[0][0].ID); got != want {
			t.Errorf("%q: without the first caption %q", text, got)
		}
	}
	for text, ids := range map[string][]string{smallCOCO: {"100", "3", "6"}, smallMSRVTT: {"2"},
		`{"annotations":[{"id":1,"image_id":2,"caption":"\u00e9<&>","n":1e400}],` +
			`"x":{"annotations":[{"id":1}],"y":12345678901234567890},` +
			`"images":[{"id":2,"file_name":"a"}],"z":[[],{}]}`: {"1"}} {
		b := parseBags(t, "", text)
		got := without(t, b, text, ids...)
		var before, after map[string]any
		for text, into := range map[string]*map[string]any{text: &before, got: &after} {
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			if err := d.Decode(into); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
		}
		array, key := "annotations", "id"
		if b.Form == FormMSRVTT {
			array, key = "sentences", "sen_id"
		}
		before[array] = slices.DeleteFunc(before[array].([]any), func(e any) bool {
			return slices.Contains(ids, fmt.Sprint(e.(map[string]any)[key]))
		})
		if !reflect.DeepEqual(before, after) {
			t.Errorf("without %v: %s", ids, got)
		}
	}
}

func TestCopyWithout_NoticesAnotherFile(t *testing.T) {
	for form, text := range map[Form]string{FormCSV: smallCSV, FormLines: smallLines, FormCOCO: smallCOCO} {
		b := &Bags{Name: "t", Form: form}
		if err := b.copyWithout(io.Discard, strings.NewReader(text), map[string]bool{"123": true}); err == nil ||
			!strings.Contains(err.Error(), "1 of 1 captions to drop are not in") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestWriteWithout_InTheFormOfTheInput(t *testing.T) {
	dir := t.TempDir()
	zipped := filepath.Join(dir, "m.zip")
	writeBytes(t, zipped, zipOf(t, map[string]string{"a.json": smallMSRVTT}))
	b, err := ReadBags(t.Context(), zipped)
	expect.OK(t, err)
	first := b.Captions[0][0].ID
	packed := filepath.Join(dir, "kept.json.gz")
	expect.OK(t, b.WriteWithout(t.Context(), packed, map[string]bool{first: true}))
	data, err := os.ReadFile(packed)
	expect.OK(t, err)
	if _, err := gzip.NewReader(bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
	again, err := ReadBags(t.Context(), packed)
	if err != nil || again.Len() != b.Len()-1 || again.Captions[0][0].ID == first || len(again.IDs) != len(b.IDs) {
		t.Errorf("%+v, %v", again, err)
	}
	csv := filepath.Join(dir, "t.csv")
	writeBytes(t, csv, []byte("\ufeff"+smallCSV))
	if b, err = ReadBags(t.Context(), csv); err != nil || b.Form != FormCSV {
		t.Fatal(b, err)
	}
	if err := b.WriteWithout(t.Context(), csv, nil); err == nil || !strings.Contains(err.Error(), "are read from it") {
		t.Errorf("onto itself: %v", err)
	}
	for name, ending := range map[Form]string{FormCSV: "a.jsonl", FormLines: "a", FormCOCO: "a.csv.gz",
		FormMSRVTT: "a.zip"} {
		if err := (&Bags{Form: name}).WriteWithout(t.Context(), filepath.Join(dir, ending), nil); err == nil ||
			!strings.Contains(err.Error(), "captions stay in their form") {
			t.Errorf("%s as %s: %v", name, ending, err)
		}
	}
	expect.OK(t, os.Remove(csv))
	if err := b.WriteWithout(t.Context(), filepath.Join(dir, "u.csv"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// Files that are read without error have no faults, and a copy without some captions reads as the rest.
func FuzzParseBags(f *testing.F) {
	for form, texts := range [][]string{{smallCSV, "sample,caption\nx,one\n\"y\nz\",two", "id,sample,caption\n1,,\n",
		flickr8k, flickr30k, flickrText},
		{smallLines, `{"sample":1,"caption":"x"}` + "\r\n\r\n" + `{"sample":" 1 ","caption":"\ud800"}`},
		{smallCOCO, smallMSRVTT}} {
		for _, text := range texts {
			f.Add(uint8(form), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		form := []Form{FormCSV, FormLines, ""}[kind%3]
		b, err := ParseBags("f", form, bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		bags, ids, dropped := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for i, id := range b.IDs {
			if id == "" && form != "" || bags[id] {
				t.Fatalf("bag %q twice or without a name", id)
			}
			bags[id] = true
			for c, caption := range b.Captions[i] {
				if caption.ID == "" || ids[caption.ID] || !utf8.ValidString(caption.ID+caption.Text) {
					t.Fatalf("caption %q twice, without a name, or no text", caption.ID)
				}
				ids[caption.ID] = true
				if (i+c)%2 == 0 && len(ids) > 1 {
					dropped[caption.ID] = true
				}
			}
		}
		var out bytes.Buffer
		expect.OK(t, b.copyWithout(&out, bytes.NewReader(data), dropped))
		rest, err := ParseBags("f", form, &out)
		if err != nil {
			if len(dropped) == b.Len() || form != "" && b.Len() == 0 {
				return
			}
			t.Fatalf("what is left cannot be read: %v", err)
		}
		if rest.Len() != b.Len()-len(dropped) {
			t.Fatalf("%d captions are left of %d less %d", rest.Len(), b.Len(), len(dropped))
		}
	})
}
