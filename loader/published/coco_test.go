package published

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader/doctor"
)

// smallCOCO is a folder of the shape of COCO with fewer pictures, and what should be in it.
func smallCOCO(t *testing.T) (string, COCOSize) {
	t.Helper()
	size := COCOSize{Train: 12, Val: 6, ValCaptions: 30, PerPicture: 5}
	dir := filepath.Join(t.TempDir(), "coco")
	writeHalf(t, dir, trainHalf, 1, size.Train)
	writeHalf(t, dir, valHalf, 1001, size.Val)
	return dir, size
}

func writeHalf(t *testing.T, dir string, h half, first, pictures int) {
	t.Helper()
	var images, captions []map[string]any
	for i := range pictures {
		name := fmt.Sprintf("%s%012d.jpg", h.prefix(), first+i)
		images = append(images, map[string]any{"id": first + i, "file_name": name, "width": 4, "height": 3})
		for c := range 5 {
			captions = append(captions, map[string]any{"id": 10*(first+i) + c, "image_id": first + i, "caption": "a red ball"})
		}
		put(t, filepath.Join(dir, h.name, name), []byte("x"))
	}
	content, err := json.Marshal(map[string]any{"images": images, "annotations": captions})
	check(t, err)
	put(t, filepath.Join(dir, "annotations", h.captions()), content)
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	check(t, os.WriteFile(path, content, 0o666))
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	check(t, os.RemoveAll(filepath.Join(path...)))
}

// expect wants exactly these errors and warnings, each with a part of its text and of its cure.
func expect(t *testing.T, f *Folder, kind, text, cure string) {
	t.Helper()
	var all []string
	found := false
	for _, g := range f.Findings {
		if g.Weight == doctor.Note {
			continue
		}
		all = append(all, fmt.Sprintf("%s %s: %s (%s)", g.Weight, g.Kind, g.Text, g.Cure))
		found = found || g.Kind == kind && strings.Contains(g.Text, text) && strings.Contains(g.Cure, cure)
	}
	if !found {
		t.Errorf("no finding %s with %q and %q among\n%s", kind, text, cure, strings.Join(all, "\n"))
	}
}

func coco(t *testing.T, dir string, size COCOSize) *Folder {
	t.Helper()
	f, err := COCO(t.Context(), dir, size)
	check(t, err)
	return f
}

func TestCOCO_AWholeFolderHasNoFindings(t *testing.T) {
	dir, size := smallCOCO(t)
	f := coco(t, dir, size)
	if len(f.Findings) != 1 || f.Findings[0].Kind != "no-vocabulary" || f.Errors() != 0 {
		t.Errorf("findings %+v", f.Findings)
	}
	if f.TrainCaptions != filepath.Join(dir, "annotations", "captions_train2014.json") ||
		f.ValImages != filepath.Join(dir, "val2014") || len(f.Files) != 2 || len(f.Files[0].SHA256) != 64 {
		t.Errorf("found %+v", f)
	}
}

// spoiler changes a folder that is whole.
type spoiler func(t *testing.T, dir string)

// spoiled is a folder with one fault, and the finding that names it.
type spoiled struct {
	name             string
	spoil            spoiler
	kind, text, cure string
}

// without removes a file or a folder, with puts other content into a file, copied puts that of another file or folder
// there, and both does two things.
func without(path ...string) spoiler {
	return func(t *testing.T, dir string) { remove(t, append([]string{dir}, path...)...) }
}

func with(content string, path ...string) spoiler {
	return func(t *testing.T, dir string) {
		put(t, filepath.Join(append([]string{dir}, path...)...), []byte(content))
	}
}

func copied(from, to string) spoiler {
	return func(t *testing.T, dir string) {
		remove(t, dir, to)
		if content, err := os.ReadFile(filepath.Join(dir, from)); err == nil {
			put(t, filepath.Join(dir, to), content)
		} else if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(dir, from))); err != nil {
			t.Fatal(err)
		}
	}
}

func both(first, second spoiler) spoiler {
	return func(t *testing.T, dir string) {
		first(t, dir)
		second(t, dir)
	}
}

// expectEach wants the finding of each fault. small makes a whole folder and a look at it.
func expectEach(t *testing.T, small func(t *testing.T) (dir string, look func() *Folder), cases []spoiled) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir, look := small(t)
			c.spoil(t, dir)
			expect(t, look(), c.kind, c.text, c.cure)
		})
	}
}

func TestCOCO_WhatIsWrongIsNamedWithItsCure(t *testing.T) {
	train, val := "annotations/captions_train2014.json", "annotations/captions_val2014.json"
	expectEach(t, func(t *testing.T) (string, func() *Folder) {
		dir, size := smallCOCO(t)
		return dir, func() *Folder { return coco(t, dir, size) }
	}, []spoiled{
		{"another vocabulary", with("a, DT, 1\n", "vocab_words.txt"), "digest", "vocab_words.txt has the SHA-256", "compare"},
		{"no captions", without(val), "missing-annotations", "annotations/captions_val2014.json is missing",
			"cocodataset.org"},
		{"archive not unpacked", both(without(val), with("PK", cocoArchive)), "missing-annotations",
			"captions_val2014.json is missing", "which is there"},
		{"archive of other content", with("PK", cocoArchive), "digest", "was published with " + cocoArchiveSHA256, "compare"},
		{"captions cut short", with(`{"images": [{"id": 1`, train), "unreadable-annotations",
			"annotations/captions_train2014.json cannot be used", "again"},
		{"captions of the other half", copied(val, train), "wrong-half",
			"captions_train2014.json describes 6 pictures of val2014", cocoArchive},
		{"both halves the same pictures", func(t *testing.T, dir string) { writeHalf(t, dir, valHalf, 7, 6) },
			"shared-pictures", "6, first 7", "no test picture"},
		{"a part of the captions", func(t *testing.T, dir string) { writeHalf(t, dir, trainHalf, 1, 11) },
			"annotation-counts", "describes 11 pictures, but 12 were published", "another year"},
		{"pictures missing", both(without("train2014", "COCO_train2014_000000000003.jpg"),
			without("train2014", "COCO_train2014_000000000009.jpg")),
			"missing-pictures", "2, first COCO_train2014_000000000003.jpg", "train2014.zip"},
		{"empty picture", with("", "val2014", "COCO_val2014_000000001002.jpg"), "empty-pictures",
			"1, first COCO_val2014_000000001002.jpg", "val2014.zip"},
		{"no pictures", without("val2014"), "missing-pictures", "the folder val2014 is missing", "val2014.zip"},
		{"pictures of the other half", copied("val2014", "train2014"), "wrong-half", "train2014 holds 6 pictures of val2014",
			"train2014.zip"},
		{"pictures one folder too deep", both(copied("train2014", "deep/train2014"), copied("deep", "train2014")),
			"wrong-folder", "one folder too deep", "one folder up"},
	})
}

func TestCOCO_AnotherFolderWasMeant(t *testing.T) {
	dir, size := smallCOCO(t)
	for _, c := range []struct{ dir, kind, text, cure string }{
		{filepath.Join(dir, "train2014"), "wrong-folder", "only a part of COCO", fmt.Sprintf("%q", dir)},
		{filepath.Join(dir, "annotations"), "wrong-folder", "only a part of COCO", fmt.Sprintf("%q", dir)},
		{filepath.Dir(dir), "wrong-folder", "does not hold COCO itself", fmt.Sprintf("give %q", dir)},
		{t.TempDir(), "wrong-folder", "holds none of", "cocodataset.org"},
		{filepath.Join(dir, "nothing"), "no-folder", "there is no folder", "annotations, train2014"},
		{filepath.Join(dir, "annotations", "captions_val2014.json"), "no-folder", "is a file", "give the folder"},
	} {
		f := coco(t, c.dir, size)
		expect(t, f, c.kind, c.text, c.cure)
		if f.Errors() != 1 {
			t.Errorf("%s: %d errors, want one", c.dir, f.Errors())
		}
	}
}

// The training captions of the publication have a known digest; a part of them, and the validation half, have none.
func TestCOCO_TrainingCaptionsAreHeldToTheirDigest(t *testing.T) {
	dir, size := smallCOCO(t)
	for _, c := range []struct {
		want COCOSize
		says string
	}{{size, ""}, {COCOCounts(), cocoTrainSHA256}} {
		f := coco(t, dir, c.want)
		if len(f.Files) != 2 || f.Files[0].Published != c.says || f.Files[1].Published != "" {
			t.Errorf("files %+v, want the training captions held to %q alone", f.Files, c.says)
		}
		if c.says != "" {
			expect(t, f, "digest", "was published with "+cocoTrainSHA256, "compare")
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
