package annotation

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nmn/loader"
	"nmn/text"
)

// smallMSRVTT is an annotation file with its sentences out of order and with superfluous fields.
const smallMSRVTT = `{"info": {"year": "2016"}, "videos": [
  {"category": 9, "url": "https://example.org/a", "video_id": "video0", "start time": 1.5, "end time": 9.0, "split": "train", "id": 0},
  {"video_id": "video1", "split": "validate", "id": 1},
  {"video_id": "video2", "split": "train", "id": 2},
  {"video_id": "video3", "split": "train", "id": 3}],
 "sentences": [
  {"caption": "a dog runs", "video_id": "video2", "sen_id": 7},
  {"caption": "the red ball", "video_id": "video0", "sen_id": 4},
  {"caption": " ", "video_id": "video2", "sen_id": 6},
  {"caption": "a cat", "video_id": "video1", "sen_id": 2},
  {"caption": "a red red dog", "video_id": "video0", "sen_id": 1}]}`

func parseMSRVTT(t testing.TB, json string) *MSRVTT {
	t.Helper()
	m, err := ParseMSRVTT("m.json", strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParseMSRVTT_SentencesByTheirID(t *testing.T) {
	m := parseMSRVTT(t, smallMSRVTT)
	want := []MSRVTTClip{
		{"video0", loader.TrainSplit, []Caption{{1, "a red red dog"}, {4, "the red ball"}}},
		{"video1", loader.ValidationSplit, []Caption{{2, "a cat"}}},
		{"video2", loader.TrainSplit, []Caption{{6, " "}, {7, "a dog runs"}}},
		{"video3", loader.TrainSplit, nil},
	}
	if !reflect.DeepEqual(m.Clips, want) {
		t.Errorf("clips %v\nwant %v", m.Clips, want)
	}
	if got := m.Warnings.String(); got != "1 empty captions give no labels" {
		t.Errorf("warnings %q", got)
	}
	if got := slices.Collect(m.Texts(loader.TrainSplit, 1)); !slices.Equal(got, []string{"a red red dog", " "}) {
		t.Errorf("first sentences of training clips %q", got)
	}
}

func TestParseMSRVTT_NamesThePlaceOfAnError(t *testing.T) {
	videos := func(list string) string { return `{"videos": [` + list + `], "sentences": []}` }
	sentences := func(list string) string {
		return `{"videos": [{"video_id": "a", "split": "train"}], "sentences": [` + list + `]}`
	}
	good, clip := `{"sen_id": 5, "video_id": "a", "caption": "x"}`, `{"video_id": "a", "split": "train"}`
	for name, c := range map[string]struct{ in, want string }{
		"empty file": {"", "end early, at byte 0"},
		"captions of COCO": {`{"images": [], "annotations": []}`,
			`no "videos"; is this an annotation file of MSR-VTT`},
		"no sentences":      {`{"videos": []}`, `no "sentences"`},
		"no videos":         {videos(""), "there are no videos"},
		"videos twice":      {`{"videos": [], "videos": []}`, `a second "videos"`},
		"video id missing":  {videos(`{"split": "train"}`), `videos[0] (near byte 12): "video_id" is missing`},
		"video id empty":    {videos(`{"video_id": "", "split": "train"}`), `"video_id" is missing`},
		"video id a number": {videos(`{"video_id": 3}`), `field "video_id" is a number, want a string`},
		"video id twice":    {videos(clip + "," + clip), `video_id "a" repeats videos[0]`},
		"split missing":     {videos(`{"video_id": "a"}`), `video "a": "split" is missing`},
		"split unknown": {videos(`{"video_id": "a", "split": "val"}`),
			`split is "val", want train, validate or test`},
		"sen_id missing": {sentences(good + `, {"video_id": "a", "caption": "x"}`), `sentences[1] (near byte `},
		"sen_id twice":   {sentences(good + "," + good), "sen_id 5 repeats sentences[0]"},
		"clip missing":   {sentences(`{"sen_id": 5, "caption": "x"}`), `sentence 5: "video_id" is missing`},
		"clip unknown": {sentences(`{"sen_id": 5, "video_id": "b", "caption": "x"}`),
			`video_id "b" is none of the videos`},
		"caption missing":     {sentences(`{"sen_id": 5, "video_id": "a"}`), `sentence 5: "caption" is missing`},
		"cut in a sentence":   {sentences(good)[:90], "end early, at byte"},
		"something behind":    {sentences(good) + "{}", "something follows"},
		"endless string":      {videos(`{"video_id": "` + strings.Repeat("x", 5<<20)), "an element of more than"},
		"endless, not needed": {`{"info": "` + strings.Repeat("x", 5<<20), "an element of more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseMSRVTT("m.json", strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"m.json"`) ||
				!errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("error %v, want one of the annotations with m.json and %q", err, c.want)
			}
		})
	}
}

// zipOf packs files into an archive.
func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadMSRVTT_PlainOrPacked(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	if _, err := z.Write([]byte(smallMSRVTT)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	packed := zipOf(t, map[string]string{"readme.txt": "no", "other.json": "[]",
		"in/train_val_videodatainfo.json": "\ufeff" + smallMSRVTT})
	damaged := zipOf(t, map[string]string{"a.json": smallMSRVTT})
	const checksum = 16 // in the entry of the central directory
	damaged[bytes.Index(damaged, []byte("PK\x01\x02"))+checksum] ^= 1
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"plain":      {[]byte(smallMSRVTT), ""},
		"gzip":       {gz.Bytes(), ""},
		"zip":        {packed, ""},
		"zip of one": {zipOf(t, map[string]string{"a.json": smallMSRVTT}), ""},
		"zip of two": {zipOf(t, map[string]string{"a.json": smallMSRVTT, "b.json": smallMSRVTT}),
			"2 files end in"},
		"zip of none":           {zipOf(t, map[string]string{"a.txt": ""}), "none of the 1 files"},
		"zip cut":               {packed[:len(packed)/2], "damaged"},
		"zip with wrong sums":   {damaged, "checksum"},
		"nothing":               {nil, "end early"},
		"captions of COCO, too": {[]byte(smallCOCO), `no "videos"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "m")
			writeBytes(t, path, c.data)
			m, err := ReadMSRVTT(t.Context(), path)
			if c.says == "" {
				if err != nil || len(m.Clips) != 4 {
					t.Errorf("%v, %v; want four clips", m, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("error %v, want one of the annotations that says %q", err, c.says)
			}
		})
	}
}

func TestRead_KnowsTheFormat(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"coco": smallCOCO, "msrvtt": smallMSRVTT, "neither": `{"info": 1}`} {
		writeBytes(t, filepath.Join(dir, name), []byte(content))
	}
	if f, err := Read(t.Context(), filepath.Join(dir, "coco")); err != nil || f.COCO == nil || f.MSRVTT != nil {
		t.Errorf("COCO: %+v, %v", f, err)
	}
	if f, err := Read(t.Context(), filepath.Join(dir, "msrvtt")); err != nil || f.MSRVTT == nil || f.COCO != nil {
		t.Errorf("MSR-VTT: %+v, %v", f, err)
	}
	if _, err := Read(t.Context(), filepath.Join(dir, "neither")); err == nil ||
		!strings.Contains(err.Error(), "COCO or an annotation file of MSR-VTT") {
		t.Errorf("neither: %v", err)
	}
}

func TestMSRVTTSet_CountsOfTheCaptions(t *testing.T) {
	v := vocabularyOf(t, "red", "dog", "cat")
	m := parseMSRVTT(t, smallMSRVTT)
	left := map[string]error{}
	s, err := MSRVTTSet(m, v, MSRVTTOptions{Split: loader.TrainSplit, LeftOut: func(clip string, err error) {
		left[clip] = err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "msrvtt-train" || s.CaptionsPerSample != MSRVTTCaptions ||
		!slices.Equal(s.IDs, []string{"video0", "video2"}) {
		t.Errorf("set %q with %d captions per bag: %v", s.Name, s.CaptionsPerSample, s.IDs)
	}
	if got := s.Counts.Uint8s(); !slices.Equal(got, []uint8{2, 1, 0, 0, 1, 0}) {
		t.Errorf("counts %v", got)
	}
	if got := s.Labels.Uint8s(); !slices.Equal(got, []uint8{1, 1, 0, 0, 1, 0}) {
		t.Errorf("labels %v", got)
	}
	if len(left) != 1 || !errors.Is(left["video3"], ErrNoCaptions) {
		t.Errorf("left out %v, want video3 for want of captions", left)
	}
	if _, err := MSRVTTSet(m, v, MSRVTTOptions{Split: loader.TrainSplit}); !errors.Is(err, ErrNoCaptions) ||
		!strings.Contains(err.Error(), "video3") {
		t.Errorf("nobody to tell: %v", err)
	}
	if _, err := MSRVTTSet(m, v, MSRVTTOptions{Split: loader.TestSplit}); !errors.Is(err, ErrNoClips) {
		t.Errorf("no test clips: %v", err)
	}
	one, err := MSRVTTSet(m, v, MSRVTTOptions{Split: loader.ValidationSplit, CaptionsPerClip: 1,
		Has: func(string) error { return nil }})
	if err != nil || one.CaptionsPerSample != 1 {
		t.Errorf("%+v, %v; want one caption", one, err)
	}
	if _, err := MSRVTTSet(m, v, MSRVTTOptions{Split: loader.ValidationSplit,
		Has: func(string) error { return loader.ErrNoFrames }}); !errors.Is(err, loader.ErrNoFrames) ||
		!strings.Contains(err.Error(), "video1") {
		t.Errorf("no frames: %v", err)
	}
}

// TestMSRVTTSet_TheDataSetItself reads the annotations of MSR-VTT.
func TestMSRVTTSet_TheDataSetItself(t *testing.T) {
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("NMN_DATA names no folder: skipping the annotations of msrvtt")
	}
	m, err := ReadMSRVTT(t.Context(), filepath.Join(data, "msrvtt", "train_val_annotation.zip"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := text.BuildVocabulary(m.Texts(loader.TrainSplit, 0), text.VocabularyOptions{Size: 1087})
	if err != nil {
		t.Fatal(err)
	}
	sentences := 0
	for i, clip := range m.Clips {
		sentences += len(clip.Sentences)
		if clip.ID != "video"+strconv.Itoa(i) || len(clip.Sentences) != MSRVTTCaptions {
			t.Fatalf("clip %d is %q with %d sentences", i, clip.ID, len(clip.Sentences))
		}
	}
	if sentences != 140_200 {
		t.Errorf("%d sentences, want 140,200", sentences)
	}
	for split, clips := range map[string]int{loader.TrainSplit: 6513, loader.ValidationSplit: 497} {
		s, err := MSRVTTSet(m, v, MSRVTTOptions{Split: split})
		if err != nil || s.Len() != clips || s.CaptionsPerSample != 20 {
			t.Fatalf("%s: %v, %v; want %d clips of 20 captions", split, s, err, clips)
		}
		most := slices.Max(s.Counts.Uint8s())
		if most != 20 {
			t.Errorf("%s: the largest count is %d, want 20", split, most)
		}
	}
}

func FuzzParseMSRVTT(f *testing.F) {
	f.Add([]byte(smallMSRVTT))
	f.Add(
		[]byte(
			`{"sentences": [{"sen_id": 1, "video_id": "a", "caption": "x"}], "videos": [{"video_id": "a",` +
				` "split": "test"}]}`))
	f.Add([]byte(`{"videos": [{"video_id": "a", "split": "train"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMSRVTT("f", bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, clip := range m.Clips {
			if clip.ID == "" || seen[clip.ID] {
				t.Fatalf("clip %q twice or without a name", clip.ID)
			}
			seen[clip.ID] = true
			if !slices.IsSortedFunc(clip.Sentences, func(a, b Caption) int { return cmp.Compare(a.ID, b.ID) }) {
				t.Fatalf("clip %q: sentences out of order", clip.ID)
			}
		}
	})
}
