package annotation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader"
)

// If a file holds something else, the error names the wanted content, in each of the forms.
func TestRead_SaysWhatIsWanted(t *testing.T) {
	for content, want := range map[string]string{
		"3":  `want a JSON object with "images" and "annotations" or "videos" and "sentences", found 3`,
		"{}": `there is no "images"; is this a caption file of COCO or an annotation file of MSR-VTT?`,
	} {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), path); !errors.Is(err, loader.ErrAnnotations) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}

func TestIsMSRVTT_SkipsOtherKeysWhole(t *testing.T) {
	for content, want := range map[string]bool{
		`{"a": 1, "b": {"images": []}, "videos": 0`: true,
		`{"a": {"videos": [{"videos": 1}]}}`:        false,
		`{"a": 1, b`:                                false,
		`{"a": 1, 7: "videos"}`:                     false,
		`{"a": "videos"}`:                           false,
	} {
		path := filepath.Join(t.TempDir(), "captions.json")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := IsMSRVTT(t.Context(), path); err != nil || got != want {
			t.Errorf("%s: %v, %v", content, got, err)
		}
	}
}

// Numbers in the message count the split that was asked for.
func TestMSRVTTSet_CountsClipsThatCannotBeUsed(t *testing.T) {
	m := parseMSRVTT(t, `{"videos": [{"video_id": "a", "split": "train"}, {"video_id": "b", "split": "train"},
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
		{loader.TrainSplit, nil, `2 of 3 clips of the split "train" cannot be used, first "a"`},
		{loader.ValidationSplit, leftOut, `none of 1 clips of the split "validate" can be used, first "d"`},
		{loader.TrainSplit, leftOut, ""}, {loader.TestSplit, nil, ""},
	} {
		s, err := MSRVTTSet(m, v, MSRVTTOptions{Split: c.split, LeftOut: c.leftOut})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) ||
			err == nil && s.Len() != 1 {
			t.Errorf("%s: %v, want %q", c.split, err, c.says)
		}
	}
	if got := strings.Join(left, " "); got != "d a c" {
		t.Errorf("left out %s, want d, then a and c", got)
	}
}
