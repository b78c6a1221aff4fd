package annotation

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

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

func parseCOCO(t testing.TB, json string) *COCO {
	t.Helper()
	c, err := ParseCOCO("c.json", strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadCOCO_KnowsHowTheFileIsWritten goes by content: names of files lie.
func TestReadCOCO_KnowsHowTheFileIsWritten(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, smallCOCO); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(packed.Bytes())
	damaged[len(damaged)-6] ^= 1 // a byte of the checksum
	for _, test := range []struct {
		name, file string
		data       []byte
		says       string
	}{
		{"plain", "c.json", []byte(smallCOCO), ""},
		{"byte order mark", "c.json", []byte("\ufeff" + smallCOCO), ""},
		{"gzip", "c.json.gz", packed.Bytes(), ""},
		{"gzip under a plain name", "c.json", packed.Bytes(), ""},
		{"plain under the name of gzip", "c.json.gz", []byte(smallCOCO), "not a gzip file"},
		{"gzip without its end", "c.json.gz", packed.Bytes()[:packed.Len()-8], "end early"},
		{"gzip with a wrong checksum", "c.json.gz", damaged, "checksum"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.file)
			if err := os.WriteFile(path, test.data, 0o666); err != nil {
				t.Fatal(err)
			}
			c, err := ReadCOCO(t.Context(), path)
			if test.says == "" {
				if err != nil || len(c.Images) != 3 {
					t.Errorf("%v, %v, want three images", c, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.says) || !errors.Is(err,
				loader.ErrAnnotations) {
				t.Errorf("%v, want an error of the annotations that says %q", err, test.says)
			}
		})
	}
}

func TestParseCOCO_OrdersByID(t *testing.T) {
	c := parseCOCO(t, smallCOCO)
	want := []COCOImage{
		{ID: 7, FileName: "sub/a.jpg", Captions: []Caption{{100, "A red dog."}}},
		{ID: 8, FileName: "c.jpg"},
		{ID: 42, FileName: "b.jpg", Width: 640, Height: 480, Captions: []Caption{
			{3, "a dog\n"}, {4, "  "}, {5, "the ball"}, {6, "red ball"}, {8, "red"}, {9, "a ninth cat"}}},
	}
	if !reflect.DeepEqual(c.Images, want) {
		t.Errorf("images %v\nwant %v", c.Images, want)
	}
	if c.Warnings != (COCOWarnings{EmptyCaptions: 1, Uncaptioned: 1}) {
		t.Errorf("warnings %+v", c.Warnings)
	}
	if got, want := c.Warnings.String(),
		"1 empty captions give no labels; 1 images have no caption and no labels"; got != want {
		t.Errorf("warnings %q, want %q", got, want)
	}
	if got := slices.Collect(c.Bags().Texts(2)); !reflect.DeepEqual(got, []string{"A red dog.", "a dog\n", "  "}) {
		t.Errorf("first two texts %q", got)
	}
}

func TestParseCOCO_NamesThePlaceOfAnError(t *testing.T) {
	images := func(list string) string { return `{"images": [` + list + `], "annotations": []}` }
	captions := func(list string) string {
		return `{"images": [{"id": 1, "file_name": "a.jpg"}], "annotations": [` + list + `]}`
	}
	good := `{"id": 5, "image_id": 1, "caption": "a"}`
	cases := map[string]struct{ in, want string }{
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
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParseCOCO("c.json", strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"c.json"`) {
				t.Fatalf("error %v, want one with c.json and %q", err, c.want)
			}
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%v does not wrap ErrAnnotations", err)
			}
		})
	}
}

func TestReadCOCO_PlainAndCompressed(t *testing.T) {
	dir := t.TempDir()
	plain, packed := filepath.Join(dir, "c.json"), filepath.Join(dir, "c.json.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, smallCOCO)
	z.Close()
	writeBytes(t, plain, []byte(smallCOCO))
	writeBytes(t, packed, b.Bytes())
	want := parseCOCO(t, smallCOCO).Images
	for _, path := range []string{plain, packed} {
		if c, err := ReadCOCO(t.Context(), path); err != nil || !reflect.DeepEqual(c.Images, want) {
			t.Errorf("%s: %v, %v", path, c, err)
		}
	}
	writeBytes(t, packed, b.Bytes()[:b.Len()/2])
	if _, err := ReadCOCO(t.Context(), packed); !errors.Is(err, io.ErrUnexpectedEOF) ||
		!errors.Is(err, loader.ErrAnnotations) {
		t.Errorf("truncated .gz: %v", err)
	}
	writeBytes(t, packed, []byte("not gzip"))
	if _, err := ReadCOCO(t.Context(), packed); !errors.Is(err, loader.ErrAnnotations) ||
		!strings.Contains(err.Error(), "c.json.gz") {
		t.Errorf("not a .gz: %v", err)
	}
	if _, err := ReadCOCO(t.Context(), filepath.Join(dir, "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func writeBytes(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCOCOSet_FirstFiveCaptionsByAnnotationID(t *testing.T) {
	s, files, err := parseCOCO(t, smallCOCO).Bags().Set(vocabularyOf(t, "dog", "red", "ball", "cat"), SetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"7", "8", "42"}; !reflect.DeepEqual(s.IDs, want) ||
		!reflect.DeepEqual(files, []string{"sub/a.jpg", "c.jpg", "b.jpg"}) {
		t.Errorf("ids %v, files %v", s.IDs, files)
	}
	// The sixth caption of image 42, with the cat, is not used.
	if got, want := s.Counts.Uint8s(), []uint8{1, 1, 0, 0, 0, 0, 0, 0, 1, 2, 2, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	if s.Name != "c" || s.CaptionsPerSample != 5 {
		t.Errorf("name %q, %d captions per bag", s.Name, s.CaptionsPerSample)
	}
	s, _, err = parseCOCO(t, smallCOCO).Bags().Set(vocabularyOf(t, "cat"),
		SetOptions{Name: "six", CaptionsPerSample: 6, SkipUncaptioned: true})
	if err != nil || s.Len() != 2 || s.Labels.Uint8s()[1] != 1 || s.Name != "six" {
		t.Errorf("six captions: %v, %v", s, err)
	}
}

func TestCOCOSet_MissingFiles(t *testing.T) {
	dir := t.TempDir()
	writeBytes(t, filepath.Join(dir, "sub", "a.jpg"), nil)
	c, v := parseCOCO(t, smallCOCO), vocabularyOf(t, "dog")
	_, _, err := c.Bags().Set(v, SetOptions{Images: dir})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "2 of 3 pictures") ||
		!strings.Contains(err.Error(), "b.jpg") {
		t.Errorf("error %v", err)
	}
	var missing []string
	s, files, err := c.Bags().Set(v, SetOptions{Images: dir, Missing: func(f string) { missing = append(missing, f) }})
	if err != nil || !reflect.DeepEqual(s.IDs, []string{"7"}) || !reflect.DeepEqual(files, []string{"sub/a.jpg"}) {
		t.Errorf("%v, files %v, %v", s, files, err)
	}
	if !reflect.DeepEqual(missing, []string{"c.jpg", "b.jpg"}) {
		t.Errorf("missing %v", missing)
	}
	if _, _, err := c.Bags().Set(v, SetOptions{Images: t.TempDir(), Missing: func(string) {}}); err == nil ||
		!strings.Contains(err.Error(), "none of 3 pictures") {
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
	c := parseCOCO(t, strings.Replace(smallCOCO, "sub/a.jpg", "sub/caf\u00e9.jpg", 1))
	if _, files, err := c.Bags().Set(vocabularyOf(t, "dog"), SetOptions{Images: dir}); err != nil ||
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
	if err != nil {
		t.Fatal(err)
	}
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
	c, err := ReadCOCO(t.Context(), dataFile(t, "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, image := range c.Images {
		total += len(image.Captions)
	}
	if len(c.Images) != 30504 || total != 152634 || c.Warnings != (COCOWarnings{}) {
		t.Fatalf("%d images, %d captions, warnings %v; want 30504, 152634 and none", len(c.Images), total, c.Warnings)
	}
	v, err := text.ReadVocabulary(dataFile(t, "vocab-fang2015", "vocab_words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s, files, err := c.Bags().Set(v, SetOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
	c, err := ReadCOCO(t.Context(), dataFile(t, "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	fang, err := text.ReadVocabulary(dataFile(t, "vocab-fang2015", "vocab_words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	tagger, err := text.NewTagger()
	if err != nil {
		t.Fatal(err)
	}
	built, err := text.BuildVocabulary(c.Bags().Texts(5), text.VocabularyOptions{Size: 1000, Tagger: tagger})
	if err != nil {
		t.Fatal(err)
	}
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

func TestCOCO_Photographs(t *testing.T) {
	c, err := ReadCOCO(t.Context(), dataFile(t, "coco-images", "captions.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := text.ReadVocabulary(dataFile(t, "vocab-fang2015", "vocab_words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s, files, err := c.Bags().Set(v, SetOptions{Images: dataFile(t, "coco-images")})
	if err != nil {
		t.Fatal(err)
	}
	captions := 0
	for _, list := range s.Captions {
		captions += len(list)
	}
	if s.Len() != 170 || len(files) != 170 || captions != 850 {
		t.Errorf("%d images, %d files, %d captions; want 170, 170, 850", s.Len(), len(files), captions)
	}
}

func BenchmarkReadCOCO(b *testing.B) {
	path := dataFile(b, "coco-captions", "captions_restval2014_rebuilt.json.gz")
	captions := 0
	for b.Loop() {
		c, err := ReadCOCO(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		for _, image := range c.Images {
			captions += len(image.Captions)
		}
	}
	b.ReportMetric(float64(captions)/b.Elapsed().Seconds(), "captions/s")
}

func BenchmarkCOCOSet(b *testing.B) {
	c, err := ReadCOCO(b.Context(), dataFile(b, "coco-captions", "captions_restval2014_rebuilt.json.gz"))
	if err != nil {
		b.Fatal(err)
	}
	v, err := text.ReadVocabulary(dataFile(b, "vocab-fang2015", "vocab_words.txt"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := c.Bags().Set(v, SetOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(c.Images))/b.Elapsed().Seconds(), "images/s")
}

func FuzzParseCOCO(f *testing.F) {
	for _, s := range []string{smallCOCO,
		`{"images": [{"id": 1, "file_name": "a"}], "annotations": [{"id": 1, "image_id": 1, "caption": "a dog"}]}`,
		`{"images": [null]}`, `{"info": [[[`} {
		f.Add([]byte(s))
	}
	v := vocabularyOf(f, "a", "dog")
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := ParseCOCO("fuzz", bytes.NewReader(in))
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Fatalf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		for i, image := range c.Images {
			if i > 0 && image.ID <= c.Images[i-1].ID || !filepath.IsLocal(image.FileName) {
				t.Fatalf("image %d: %+v", i, image)
			}
		}
		s, files, err := c.Bags().Set(v, SetOptions{})
		if err != nil || s.Len() != len(c.Images) || len(files) != s.Len() {
			t.Fatalf("a file that was read gives no set: %v", err)
		}
	})
}
