package published

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/loader/doctor"
)

// The text that Write prints for a folder, without digests.
func told(t *testing.T, f *Folder) (lines []string) {
	t.Helper()
	for i := range f.Files {
		f.Files[i].SHA256 = "D"
	}
	var b bytes.Buffer
	check(t, f.Write(&b))
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines[len(f.Files):]
}

func TestFolder_TellsEveryCount(t *testing.T) {
	dir, size := smallCOCO(t)
	want := []string{"pictures in the captions of train2014: 12 of 12", "captions of train2014: 60",
		"pictures in the captions of val2014: 6 of 6", "captions of val2014: 30 of 30"}
	if got := told(t, coco(t, dir, size)); !slices.Equal(got[:2], want[:2]) || !subset(want, got) {
		t.Errorf("COCO: %q, want %q among them", got, want)
	}
	clips, of := smallMSRVTT(t)
	writeFrames(t, filepath.Join(clips, "frames"), 10)
	want = []string{"clips of train: 7 of 7", "clips of validate: 3 of 3", "sentences of train_val_videodatainfo.json: " +
		"200 of 200", "clips of test: 4 of 4", "clips of train and validate that have frames: 10 of 10",
		"clips of train and validate that are there: 10 of 10"}
	if got := told(t, msrvtt(t, clips, of)); !subset(want, got) {
		t.Errorf("MSR-VTT: %q, want %q among them", got, want)
	}
	remove(t, clips, "TrainValVideo", "video3.mp4")
	remove(t, clips, "TrainValVideo", "video8.mp4")
	put(t, filepath.Join(clips, "TrainValVideo", "video5.mp4"), nil)
	if got := told(t, msrvtt(t, clips, of)); !subset([]string{"clips of train and validate that are there: 7 of 10"},
		got) {
		t.Errorf("two clips that are missing and one that is empty: %q", got)
	}
}

func subset(want, got []string) bool {
	return !slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(got, s) })
}

func TestFolder_TellsWhichFilesAreAsPublished(t *testing.T) {
	f := Folder{Files: []File{{"a.json", 7, "11", "11"}, {"b.json", 8, "11", "22"}, {"c.json", 9, "11", ""}},
		Counts: []Count{{"things", 3, 4}, {"others", 5, 0}}}
	var b bytes.Buffer
	check(t, f.Write(&b))
	want := "a.json  7 bytes  SHA-256 11  as published\nb.json  8 bytes  SHA-256 11  not as published\n" +
		"c.json  9 bytes  SHA-256 11  no published digest is known\nthings: 3 of 4\nothers: 5\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// The paper does not use the test clips: annotations that name them too require none of them, and none is missing.
func TestMSRVTT_ClipsOfTestNeedNotBeThere(t *testing.T) {
	dir, size := smallMSRVTT(t)
	remove(t, dir, msrvttTest)
	var all map[string][]map[string]any
	content := sentences(t, 0, map[string]int{"train": 7, "validate": 3, "test": 4}, 20)
	check(t, json.Unmarshal(content, &all))
	slices.Reverse(all["videos"]) // the test clips come first
	content, err := json.Marshal(all)
	check(t, err)
	put(t, filepath.Join(dir, msrvttJSON), content)
	f := msrvtt(t, dir, size)
	if f.Errors() != 0 || !subset([]string{"clips of train and validate that are there: 10 of 10"}, told(t, f)) {
		t.Errorf("clips: %+v", f.Findings)
	}
	remove(t, dir, "TrainValVideo", "video9.mp4")
	expect(t, msrvtt(t, dir, size), "missing-clips", "1, first video9", "train_val_videos.zip")
	writeFrames(t, filepath.Join(dir, "frames"), 10)
	remove(t, dir, "TrainValVideo")
	f = msrvtt(t, dir, size)
	if f.Errors() != 0 || !subset([]string{"clips of train and validate that have frames: 10 of 10"}, told(t, f)) {
		t.Errorf("frames: %+v", f.Findings)
	}
}

// If many items are at fault, the first five are examples.
func TestFindings_HaveFiveExamples(t *testing.T) {
	dir, size := smallMSRVTT(t)
	for i := range 6 {
		remove(t, dir, "TrainValVideo", fmt.Sprintf("video%d.mp4", i))
	}
	for _, f := range msrvtt(t, dir, size).Findings {
		if f.Kind == "missing-clips" && (len(f.Examples) != 5 || !strings.Contains(f.Text, "6, first video0")) {
			t.Errorf("%+v", f)
		}
	}
	other, pictures := smallCOCO(t)
	pictures.PerPicture = 6
	found := false
	for _, f := range coco(t, other, pictures).Findings {
		if f.Kind == "few-captions" {
			found = true
			if f.Weight != doctor.Error || len(f.Examples) != 5 || !strings.Contains(f.Text, "with fewer than 6 captions") {
				t.Errorf("%+v", f)
			}
		}
	}
	if !found {
		t.Error("pictures with too few captions are not found")
	}
}

// ending is a context that ends after the given number of checks.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A check whose context ends returns an error wherever it is, because its findings are incomplete.
func TestLooks_EndWhereverTheirContextDoes(t *testing.T) {
	dir, size := smallMSRVTT(t)
	writeFrames(t, filepath.Join(dir, "frames"), 10)
	other, pictures := smallCOCO(t)
	for name, look := range map[string]func(context.Context) error{
		"MSR-VTT": func(ctx context.Context) error { _, err := MSRVTT(ctx, dir, size); return err },
		"COCO":    func(ctx context.Context) error { _, err := COCO(ctx, other, pictures); return err },
	} {
		looked := 0
		for ; looked < 1000; looked++ {
			ctx := &ending{t.Context(), looked}
			err := look(ctx)
			if ctx.left >= 0 {
				if err != nil {
					t.Errorf("%s: undisturbed: %v", name, err)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: ended at look %d, and the error is %v", name, looked, err)
			}
		}
		if looked < 3 || looked == 1000 {
			t.Errorf("%s looks at its context %d times", name, looked)
		}
	}
}
