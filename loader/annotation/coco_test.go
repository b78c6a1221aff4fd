package annotation

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/text"
	_ "nmn/text/english"
)

// smallCOCO is a caption file with everything out of order and with superfluous fields.
const smallCOCO = `{"info": {"year": 2014, "deep": [[{"x": null}], "y"]}, "licenses": [],
 "annotations": [
  {"image_id": 42, "id": 9, "caption": "a ninth cat"},
  {"image_id": 7, "id": 100, "caption": "A red dog."},
  {"image_id": 42, "id": 3, "caption": "a dog\n"},
  {"image_id": 42, "id": 4, "caption": "  "},
  {"image_id": 42, "id": 8, "caption": "red"},
  {"image_id": 42, "id": 6, "caption": "red ball", "score": 1.5},
  {"image_id": 42, "id": 5, "caption": "the ball"}],
 "images": [{"id": 42, "file_name": "b.jpg", "width": 640, "height": 480, "license": 3},
  {"id": 7, "file_name": "sub/a.jpg"}, {"id": 8, "file_name": "c.jpg"}], "type": "captions"}`

func packedText(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The content of a file decides how it is read: names lie.
func TestReadForm_PlainOrPacked(t *testing.T) {
	coco := packedText(t, smallCOCO)
	sum := bytes.Clone(coco)
	sum[len(sum)-6] ^= 1 // a byte of the checksum
	zipped := zipOf(t, map[string]string{"readme.txt": "no", "other.json": "[]",
		"in/train_val_videodatainfo.json": "\ufeff" + smallMSRVTT})
	one := map[string]string{"a.json": smallMSRVTT}
	damaged := zipOf(t, one)
	const checksum = 16 // in the entry of the central directory
	damaged[bytes.Index(damaged, []byte("PK\x01\x02"))+checksum] ^= 1
	for _, test := range []struct {
		name, file string
		form       Form
		data       []byte
		says       string // empty if it can be read
	}{
		{"plain", "c.json", FormCOCO, []byte(smallCOCO), ""},
		{"byte order mark", "c.json", FormCOCO, []byte("\ufeff" + smallCOCO), ""},
		{"gzip", "c.json.gz", FormCOCO, coco, ""},
		{"gzip under a plain name", "c.json", FormCOCO, coco, ""},
		{"plain under the name of gzip", "c.json.gz", FormCOCO, []byte(smallCOCO), "not a gzip file"},
		{"gzip without its end", "c.json.gz", FormCOCO, coco[:len(coco)-8], "end early"},
		{"half of gzip", "c.json.gz", FormCOCO, coco[:len(coco)/2], io.ErrUnexpectedEOF.Error()},
		{"gzip with a wrong checksum", "c.json.gz", FormCOCO, sum, "checksum"},
		{"clips, plain", "m", FormMSRVTT, []byte(smallMSRVTT), ""},
		{"clips, gzip", "m", FormMSRVTT, packedText(t, smallMSRVTT), ""},
		{"zip", "m", FormMSRVTT, zipped, ""},
		{"zip of one", "m", FormMSRVTT, zipOf(t, one), ""},
		{"zip of two", "m", FormMSRVTT, zipOf(t, map[string]string{"a.json": smallMSRVTT, "b.json": smallMSRVTT}),
			"2 files end in"},
		{"zip of none", "m", FormMSRVTT, zipOf(t, map[string]string{"a.txt": ""}), "none of the 1 files"},
		{"zip cut", "m", FormMSRVTT, zipped[:len(zipped)/2], "damaged"},
		{"zip with wrong sums", "m", FormMSRVTT, damaged, "checksum"},
		{"nothing", "m", FormMSRVTT, nil, "end early"},
		{"captions of COCO, too", "m", FormMSRVTT, []byte(smallCOCO), `no "videos"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			writeBytes(t, path, test.data)
			b, err := ReadForm(t.Context(), path, test.form)
			if test.says == "" {
				if err != nil || b.Form != test.form || len(b.IDs) != map[Form]int{FormCOCO: 3, FormMSRVTT: 4}[test.form] {
					t.Errorf("%+v, %v, want all bags", b, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.says) || !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%v, want an error of the annotations that says %q", err, test.says)
			}
		})
	}
	if _, err := ReadBags(t.Context(), filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestParseCOCO_OrdersByID(t *testing.T) {
	b := parseBags(t, FormCOCO, smallCOCO)
	want := [][]BagCaption{{{"100", "A red dog."}}, nil, {{"3", "a dog\n"}, {"4", "  "}, {"5", "the ball"},
		{"6", "red ball"}, {"8", "red"}, {"9", "a ninth cat"}}}
	if !slices.Equal(b.IDs, []string{"7", "8", "42"}) || !slices.Equal(b.Files, []string{"sub/a.jpg", "c.jpg", "b.jpg"}) ||
		!reflect.DeepEqual(b.Captions, want) || b.Splits != nil {
		t.Errorf("bags %+v\nwant captions %v", b, want)
	}
	if want := "1 empty captions give no labels; 1 images have no caption and no labels"; b.Warnings != want {
		t.Errorf("warnings %q, want %q", b.Warnings, want)
	}
	if got := slices.Collect(b.Texts(2)); !slices.Equal(got, []string{"A red dog.", "a dog\n", "  "}) {
		t.Errorf("first two texts %q", got)
	}
}

func TestParseCOCO_NamesThePlaceOfAnError(t *testing.T) {
	images := func(list string) string { return `{"images": [` + list + `], "annotations": []}` }
	captions := func(list string) string {
		return `{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [` + list + `]}`
	}
	good := `{"id": 5, "image_id": 1, "caption": "a"}`
	for name, c := range map[string]struct{ in, want string }{
		"empty file":          {"", "end early, at byte 0"},
		"not JSON":            {"\x89PNG", "near byte"},
		"not an object":       {"[]", "want a JSON object"},
		"no annotations":      {`{"images": []}`, `no "annotations"`},
		"no arrays at all":    {`{"data": 3}`, `no "images"`},
		"no images":           {images(""), "there are no images"},
		"images twice":        {`{"images": [], "images": []}`, `a second "images"`},
		"images not an array": {`{"images": {}}`, `"images" is not an array`},
		"image id missing": {images(`{"id": 1, "file_name": "a"}, {"file_name": "b"}`),
			`images[1] (near byte 39): "id" is missing`},
		"image id twice": {images(`{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}`),
			"images[1] (near byte 39): id 1 repeats images[0]"},
		"image id a string": {images(`{"id": "1"}`),
			`images[0] (near byte 12): field "id" is a string, want a whole number`},
		"image id a fraction": {images(`{"id": 1.5}`), `field "id" is a number 1.5, want a whole number`},
		"file name missing":   {images(`{"id": 1}`), `image 1: "file_name" is missing`},
		"file name a number":  {images(`{"id": 1, "file_name": 2}`), `field "file_name" is a number, want a string`},
		"file name leads out": {images(`{"id": 1, "file_name": "../../a.jpg"}`), "not a path inside"},
		"file name absolute":  {images(`{"id": 1, "file_name": "/a.jpg"}`), "not a path inside"},
		"negative size":       {images(`{"id": 1, "file_name": "a", "width": -1}`), "size -1×0"},
		"image a number":      {images(`3`), "is a number, want an object"},
		"image null":          {images(`null`), "null instead of an object"},
		"caption id missing":  {captions(good + `, {"image_id": 1, "caption": "a"}`), `annotations[1] (near byte `},
		"caption id twice":    {captions(good + "," + good), "id 5 repeats annotations[0]"},
		"image_id missing":    {captions(`{"id": 5, "caption": "a"}`), `annotation 5: "image_id" is missing`},
		"image_id unknown": {captions(`{"id": 5, "image_id": 2, "caption": "a"}`),
			"annotations[0] (near byte 62): image_id 2 is none of the images"},
		"caption missing": {captions(`{"id": 5, "image_id": 1}`), `annotation 5: "caption" is missing`},
		"caption null":    {captions(`{"id": 5, "image_id": 1, "caption": null}`), `"caption" is missing`},
		"caption an array": {captions(`{"id": 5, "image_id": 1, "caption": ["a"]}`),
			`field "caption" is a array, want a string`},
		"cut in a caption":   {captions(good)[:80], "end early, at byte"},
		"cut before the end": {strings.TrimSuffix(captions(good), "}"), "end early, at byte"},
		"something behind":   {captions(good) + "{}", "something follows"},
		"nested without end": {`{"info": ` + strings.Repeat("[", 5000), "nested more than 1000 deep"},
		"id beyond 64 bits":  {images(`{"id": 99999999999999999999}`), "want a whole number"},
		"endless string": {`{"images": [{"id": 1, "file_name": "` + strings.Repeat("x", 5<<20),
			"an element of more than"},
		"endless string within": {`{"info": "` + strings.Repeat("x", 5<<20), "an element of more than"},
	} {
		refuse(t, name, FormCOCO, c.in, c.want)
	}
}

func writeBytes(t testing.TB, path string, b []byte) {
	t.Helper()
	expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	expect.OK(t, os.WriteFile(path, b, 0o644))
}

func TestCOCOSet_FirstFiveCaptionsByAnnotationID(t *testing.T) {
	b := parseBags(t, FormCOCO, smallCOCO)
	s, files, err := b.Set(vocabularyOf(t, "dog", "red", "ball", "cat"), SetOptions{CaptionsPerSample: 5})
	expect.OK(t, err)
	if !slices.Equal(s.IDs, []string{"7", "42"}) || !slices.Equal(files, []string{"sub/a.jpg", "b.jpg"}) {
		t.Errorf("ids %v, files %v", s.IDs, files)
	}
	// The sixth caption of image 42, with the cat, is not used.
	if got, want := s.Counts.Uint8s(), []uint8{1, 1, 0, 0, 1, 2, 2, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	if s.Name != "t" || s.CaptionsPerSample != 5 {
		t.Errorf("name %q, %d captions per bag", s.Name, s.CaptionsPerSample)
	}
	if s, _, err = b.Set(vocabularyOf(t, "cat"), SetOptions{CaptionsPerSample: 6}); err != nil || s.Labels.Uint8s()[1] != 1 {
		t.Errorf("six captions: %v, %v", s, err)
	}
	for _, n := range []int{0, -1, loader.MaxCaptions + 1} {
		if _, _, err := b.Set(vocabularyOf(t, "cat"), SetOptions{CaptionsPerSample: n}); err == nil {
			t.Errorf("%d captions of each picture are no error", n)
		}
	}
}

func TestCOCOSet_MissingFiles(t *testing.T) {
	dir := t.TempDir()
	writeBytes(t, filepath.Join(dir, "sub", "a.jpg"), nil)
	b, v := parseBags(t, FormCOCO, smallCOCO), vocabularyOf(t, "dog")
	_, _, err := b.Set(v, SetOptions{CaptionsPerSample: 5, Images: dir})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "1 of 3 pictures") ||
		!strings.Contains(err.Error(), "b.jpg") {
		t.Errorf("error %v", err)
	}
	var missing []string
	note := func(file string) { missing = append(missing, file) }
	s, files, err := b.Set(v, SetOptions{CaptionsPerSample: 5, Images: dir, Missing: note})
	if err != nil || !reflect.DeepEqual(s.IDs, []string{"7"}) || !reflect.DeepEqual(files, []string{"sub/a.jpg"}) {
		t.Errorf("%v, files %v, %v", s, files, err)
	}
	if !reflect.DeepEqual(missing, []string{"b.jpg"}) {
		t.Errorf("missing %v", missing)
	}
	_, _, err = b.Set(v, SetOptions{CaptionsPerSample: 5, Images: t.TempDir(), Missing: note})
	if err == nil || !strings.Contains(err.Error(), "none of 3 pictures") {
		t.Errorf("no image left: %v", err)
	}
}

// Pictures may have come from a system that writes names otherwise.
func TestCOCOSet_FilesOfAnotherSpelling(t *testing.T) {
	dir := t.TempDir()
	names := []string{"sub/cafe\u0301.JPG", "b.jpg", "c.jpg"}
	for _, name := range names {
		writeBytes(t, filepath.Join(dir, filepath.FromSlash(name)), nil)
	}
	b := parseBags(t, FormCOCO, strings.Replace(smallCOCO, "sub/a.jpg", "sub/caf\u00e9.jpg", 1))
	if _, files, err := b.Set(vocabularyOf(t, "dog"), SetOptions{CaptionsPerSample: 5, Images: dir}); err != nil ||
		!slices.Contains(files, names[0]) && !slices.Contains(files, "sub/caf\u00e9.jpg") {
		t.Errorf("files %+q, %v", files, err)
	}
}

func TestCOCOID(t *testing.T) {
	in := []string{"42", "000000000042", "000000000042.jpg", "val2014/COCO_val2014_000000000042.jpg", "-1", "dog.jpg",
		"", "+3", "99999999999999999999"}
	want := []string{"42", "42", "42", "42", "-1", "dog.jpg", "", "+3", "99999999999999999999"}
	if got := COCOIDs(in); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// vocabularyOf makes a vocabulary of nouns.
func vocabularyOf(t testing.TB, words ...string) *text.Vocabulary {
	t.Helper()
	list := make([]text.Word, len(words))
	for i, word := range words {
		list[i] = text.Word{Text: word, POS: text.NN}
	}
	v, err := text.NewVocabulary(list)
	expect.OK(t, err)
	return v
}

// dataFile returns a file under NMN_DATA, or skips the test.
func dataFile(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("NMN_DATA")
	if root == "" {
		t.Skipf("NMN_DATA is not set: skipping the test on %v", parts)
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

func TestCOCO_RestvalCaptions(t *testing.T) {
	c, err := ReadBags(t.Context(), dataFile(t, "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	expect.OK(t, err)
	if len(c.IDs) != 30504 || c.Len() != 152634 || c.Warnings != "" {
		t.Fatalf("%d images, %d captions, warnings %q; want 30504, 152634 and none", len(c.IDs), c.Len(), c.Warnings)
	}
	v, err := text.ReadVocabulary(dataFile(t, "vocab-fang2015", "vocab_words.txt"))
	expect.OK(t, err)
	s, files, err := c.Set(v, SetOptions{CaptionsPerSample: 5})
	expect.OK(t, err)
	if s.Len() != 30504 || len(files) != 30504 || s.IDs[0] != "73" || files[0] != "COCO_val2014_000000000073.jpg" {
		t.Errorf("%d bags, first %s in %s", s.Len(), s.IDs[0], files[0])
	}
	labels, mentions := 0, 0
	for i, n := range s.Counts.Uint8s() {
		if (n > 0) != (s.Labels.Uint8s()[i] == 1) || n > 5 {
			t.Fatalf("count %d with label %d", n, s.Labels.Uint8s()[i])
		}
		labels += int(s.Labels.Uint8s()[i])
		mentions += int(n)
	}
	a, _ := v.Index("a")
	withA := 0
	for i := range s.IDs {
		withA += int(s.Labels.Uint8s()[i*v.Len()+a])
	}
	t.Logf("%d labels, %d mentions, %d images with \"a\"", labels, mentions, withA)
	if share := float64(withA) / 30504; share < .99 {
		t.Errorf("only %.3f of the images are labelled \"a\"", share)
	}
}

// Fang et al. took their words from the training captions; the validation captions give nearly equal ones.
func TestCOCO_BuiltVocabularyIsCloseToFang(t *testing.T) {
	c, err := ReadBags(t.Context(), dataFile(t, "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	expect.OK(t, err)
	fang, err := text.ReadVocabulary(dataFile(t, "vocab-fang2015", "vocab_words.txt"))
	expect.OK(t, err)
	tagger, err := text.NewTagger()
	expect.OK(t, err)
	built, err := text.BuildVocabulary(c.Texts(5), text.VocabularyOptions{Size: 1000, Tagger: tagger})
	expect.OK(t, err)
	shared, samePOS := 0, 0
	for _, w := range built.Words() {
		if k, ok := fang.Index(w.Text); ok {
			shared++
			if fang.Word(k).POS == w.POS {
				samePOS++
			}
		}
	}
	t.Logf("%d of 1000 words are shared, %d with the same part of speech; groups %v and %v",
		shared, samePOS, built.POSCounts(), fang.POSCounts())
	if built.Len() != 1000 || shared < 950 || samePOS < shared*95/100 {
		t.Errorf("%d words, %d shared, %d with the same part of speech", built.Len(), shared, samePOS)
	}
}

func FuzzParseCOCO(f *testing.F) {
	for _, s := range []string{smallCOCO,
		`{"images": [{"id": 1, "file_name": "a"}], "annotations": [{"id": 1, "image_id": 1, "caption": "a dog"}]}`,
		`{"images": [null]}`, `{"info": [[[`} {
		f.Add([]byte(s))
	}
	v := vocabularyOf(f, "a", "dog")
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := ParseBags("fuzz", FormCOCO, bytes.NewReader(in))
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Fatalf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		last, captioned := int64(math.MinInt64), 0
		for i, id := range b.IDs {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil || i > 0 && n <= last || !filepath.IsLocal(b.Files[i]) {
				t.Fatalf("image %d: %s, %s", i, id, b.Files[i])
			}
			last = n
			captioned += min(len(b.Captions[i]), 1)
		}
		s, files, err := b.Set(v, SetOptions{CaptionsPerSample: 5})
		if (err == nil) != (captioned > 0) || err == nil && (s.Len() != captioned || len(files) != captioned) {
			t.Fatalf("a file of %d images with captions gives %v, %v", captioned, s, err)
		}
	})
}
