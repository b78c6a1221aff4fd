package annotation

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nmn/internal/expect"
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

func TestParseMSRVTT_SentencesByTheirID(t *testing.T) {
	b := parseBags(t, FormMSRVTT, smallMSRVTT)
	want := &Bags{Name: "t", Form: FormMSRVTT, IDs: []string{"video0", "video1", "video2", "video3"},
		Files: make([]string, 4), Splits: []string{"train", "validate", "train", "train"},
		Captions: [][]BagCaption{{{"1", "a red red dog"}, {"4", "the red ball"}}, {{"2", "a cat"}},
			{{"6", " "}, {"7", "a dog runs"}}, nil}, Warnings: "1 empty captions give no labels"}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("%+v\nwant %+v", b, want)
	}
	got := slices.Collect(b.Split(loader.TrainSplit).Texts(1))
	if !slices.Equal(got, []string{"a red red dog", " "}) {
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
		refuse(t, name, FormMSRVTT, c.in, c.want)
	}
}

// zipOf packs files into an archive.
func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		expect.OK(t, err)
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	expect.OK(t, z.Close())
	return b.Bytes()
}

// clipSet makes a set of a split of MSR-VTT whose clips all have frames.
func clipSet(b *Bags, v *text.Vocabulary, split string, leftOut func(string, error)) (*loader.Set, error) {
	return b.ClipSet(v, ClipOptions{Split: split, CaptionsPerSample: MSRVTTCaptions, LeftOut: leftOut,
		Has: func(string) error { return nil }})
}

func TestClipSet_CountsOfTheCaptions(t *testing.T) {
	v := vocabularyOf(t, "red", "dog", "cat")
	b := parseBags(t, FormMSRVTT, smallMSRVTT)
	s, err := clipSet(b, v, loader.TrainSplit, func(string, error) {})
	expect.OK(t, err)
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
	if _, err := clipSet(b, v, loader.TestSplit, nil); !errors.Is(err, ErrNoClips) {
		t.Errorf("no test clips: %v", err)
	}
	if _, err := b.ClipSet(v, ClipOptions{Split: loader.ValidationSplit, CaptionsPerSample: 1,
		Has: func(string) error { return loader.ErrNoFrames }}); !errors.Is(err, loader.ErrNoFrames) ||
		!strings.Contains(err.Error(), "video1") {
		t.Errorf("no frames: %v", err)
	}
}

// Numbers in the message count the split that was asked for.
func TestClipSet_CountsClipsThatCannotBeUsed(t *testing.T) {
	b := parseBags(t, FormMSRVTT, `{"videos": [{"video_id": "a", "split": "train"}, {"video_id": "b", "split": "train"},
		{"video_id": "c", "split": "train"}, {"video_id": "d", "split": "validate"}, {"video_id": "e", "split": "test"}],
		"sentences": [{"sen_id": 5, "video_id": "b", "caption": "a red dog"},
		{"sen_id": 6, "video_id": "e", "caption": "a cat"}]}`)
	v := vocabularyOf(t, "red", "dog", "cat")
	var left []string
	leftOut := func(clip string, _ error) { left = append(left, clip) }
	for _, c := range []struct {
		split   string
		leftOut func(string, error)
		says    string // part of the error; empty for none
	}{
		{loader.TrainSplit, nil, `2 of 3 clips of the split "train" cannot be used, first "a"; complete them, or leave ` +
			"them out (`data.max_bad_samples`): it has no captions"},
		{loader.ValidationSplit, leftOut, `none of 1 clips of the split "validate" can be used, first "d"`},
		{loader.TrainSplit, leftOut, ""}, {loader.TestSplit, nil, ""},
	} {
		s, err := clipSet(b, v, c.split, c.leftOut)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) ||
			err == nil && s.Len() != 1 {
			t.Errorf("%s: %v, want %q", c.split, err, c.says)
		}
	}
	if got := strings.Join(left, " "); got != "d a c" {
		t.Errorf("left out %s, want d, then a and c", got)
	}
}

func TestIsMSRVTT(t *testing.T) {
	for content, want := range map[string]bool{
		smallMSRVTT: true,
		`{"info": {"videos": 1}, "sentences": []}`:  true,
		`{"a": 1, "b": {"images": []}, "videos": 0`: true,
		`{"images": [], "videos": []}`:              false,
		`{"a": ["videos"]}`:                         false,
		`{"a": {"videos": [{"videos": 1}]}}`:        false,
		`[{"videos": 1}]`:                           false,
		`{"a": 1, b`:                                false,
		`{"a": 1, 7: "videos"}`:                     false,
		`{"a": "videos"}`:                           false,
		`id,caption`:                                false,
		`{"info": {`:                                false,
		``:                                          false,
	} {
		path := filepath.Join(t.TempDir(), "captions.json")
		writeBytes(t, path, []byte(content))
		if got, err := IsMSRVTT(t.Context(), path); err != nil || got != want {
			t.Errorf("%.40q: %v, %v", content, got, err)
		}
	}
	if _, err := IsMSRVTT(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there has a form")
	}
}

// TestClipSet_TheDataSetItself reads the annotations of MSR-VTT.
func TestClipSet_TheDataSetItself(t *testing.T) {
	b, err := ReadBags(t.Context(), dataFile(t, "msrvtt", "train_val_annotation.zip"))
	expect.OK(t, err)
	v, err := text.BuildVocabulary(b.Split(loader.TrainSplit).Texts(0), text.VocabularyOptions{Size: 1087})
	expect.OK(t, err)
	for i, id := range b.IDs {
		if id != "video"+strconv.Itoa(i) || len(b.Captions[i]) != MSRVTTCaptions {
			t.Fatalf("clip %d is %q with %d sentences", i, id, len(b.Captions[i]))
		}
	}
	if b.Len() != 140_200 {
		t.Errorf("%d sentences, want 140,200", b.Len())
	}
	for split, clips := range map[string]int{loader.TrainSplit: 6513, loader.ValidationSplit: 497} {
		s, err := clipSet(b, v, split, nil)
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
		m, err := ParseBags("f", FormMSRVTT, bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, loader.ErrAnnotations) {
				t.Errorf("%v does not wrap ErrAnnotations", err)
			}
			return
		}
		seen := map[string]bool{}
		for i, id := range m.IDs {
			if id == "" || seen[id] {
				t.Fatalf("clip %q twice or without a name", id)
			}
			seen[id] = true
			if !slices.IsSortedFunc(m.Captions[i], func(a, b BagCaption) int {
				x, _ := strconv.ParseInt(a.ID, 10, 64)
				y, _ := strconv.ParseInt(b.ID, 10, 64)
				return cmp.Compare(x, y)
			}) {
				t.Fatalf("clip %q: sentences out of order", id)
			}
		}
	})
}
