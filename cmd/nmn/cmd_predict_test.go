package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/visible"
)

// onePicture makes the model of a short run and a picture.
func onePicture(t *testing.T) (model string, jpeg []byte) {
	t.Helper()
	model = trainedArm(t, "nmn-fi")
	folder := filepath.Join(t.TempDir(), "scenes")
	must(t, "scenes", "--number", "1", folder)
	return model, readBytes(t, filepath.Join(folder, "images"), "COCO_train2014_000000000001.jpg")
}

func writeFiles(t *testing.T, folder string, data []byte, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			t.Skipf("no such names here: %v", err)
		}
	}
}

func TestPredict_CountsWhatItSkips(t *testing.T) {
	t.Parallel()
	model, jpeg := onePicture(t)
	folder := t.TempDir()
	writeFiles(t, folder, jpeg, "a.jpg", "b.docx", "c.heic", "notes.txt", "z.HEIC", ".hidden")
	want := "4 files were skipped, because their names have no picture's extension: " +
		filepath.Join(folder, "b.docx") + ", " + filepath.Join(folder, "c.heic") + ", " +
		filepath.Join(folder, "notes.txt") + " and 1 more; AVIF, HEIC, JPEG 2000, JPEG XL are not read: convert them"
	c := succeeds(t, "predict", model, folder, "--json", "--top", "1")
	wantParts(t, c.err, want)
	var pictures []predicted
	if err := json.Unmarshal([]byte(c.out), &pictures); err != nil || len(pictures) != 5 {
		t.Fatalf("%v: %s", err, c.out)
	}
	for i, p := range pictures {
		if p.Skipped != (i > 0) || p.Words == nil || p.Skipped == (len(p.Words) > 0) {
			t.Errorf("%+v", p)
		}
	}
	expect.OK(t, os.Remove(filepath.Join(folder, "a.jpg")))
	wantUsage(t, call(t, "predict", model, folder), "there is no picture", "4 files were skipped")
}

// Names of files may hold anything but a slash: in text nothing of it may act on the terminal, and in JSON and CSV
// different names must stay different.
func TestPredict_NamesAreHarmlessAndDifferent(t *testing.T) {
	t.Parallel()
	model, jpeg := onePicture(t)
	folder := t.TempDir()
	names := []string{"a\x1b[2Jb.jpg", "c\nd: cat 1.00.jpg", "e\xfe.jpg", "e\xff.jpg", `e\xff.jpg`}
	writeFiles(t, folder, jpeg, names...)
	writeFiles(t, folder, []byte("no picture"), "f\x1b.jpg")
	c := call(t, "predict", model, folder, "--top", "1")
	if lines := strings.Split(strings.TrimSpace(c.out), "\n"); len(lines) != len(names) ||
		strings.Contains(c.out+c.err, "\x1b") || strings.Contains(c.out+c.err, "\xff") ||
		!strings.Contains(c.out, `a\x1b[2Jb.jpg: `) {
		t.Errorf("%q, %q", c.out, c.err)
	}
	var pictures []predicted
	expect.OK(t, json.Unmarshal([]byte(must(t, "predict", model, folder, "--json")), &pictures))
	found := map[string]bool{}
	for _, p := range pictures {
		found[filepath.Base(visible.FileName(p.Picture))] = true
	}
	table := must(t, "predict", model, folder, "--format", "csv")
	for _, name := range names {
		if !found[name] {
			t.Errorf("JSON lacks %q", name)
		}
		if !strings.Contains(table, "\n"+visible.Name(name)+",") && !strings.Contains(table, "\""+visible.Name(name)+"\",") {
			t.Errorf("CSV lacks %q: %q", name, table)
		}
	}
}

// A table that the model was trained on lists pictures too: its labels do not matter, --images names their folder, and
// a row that cannot be used is left out like a picture that cannot be read.
func TestPredict_TableOfPictures(t *testing.T) {
	t.Parallel()
	model, jpeg := onePicture(t)
	folder, dir := t.TempDir(), t.TempDir()
	writeFiles(t, folder, jpeg, "a.jpg", "b.jpg")
	list := filepath.Join(dir, "tags.csv")
	expect.OK(t, os.WriteFile(list, []byte("filename,tags\nb.jpg,\"x, y\"\na\x01.jpg,x\na.jpg,\n"), 0o666))
	c := succeeds(t, "predict", model, list, "--images", folder, "--format", "csv")
	if lines := strings.Split(strings.TrimSpace(c.out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "b.jpg,") ||
		!strings.HasPrefix(lines[2], "a.jpg,") {
		t.Error(c.out)
	}
	output := filepath.Join(dir, "x.npy")
	must(t, "extract", model, list, "--images", folder, "--output", output)
	wantUsage(t, call(t, "predict", model, folder, "--images", folder), "--images is for a list of pictures")
	wantUsage(t, call(t, "extract", model, folder, "--images", folder, "--output", output),
		"images is for the data of a run")
}
