package annotation

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// A folder with a text file next to each picture is read, and written again as JSON lines without what was dropped.
func TestReadBags_OfAFolder(t *testing.T) {
	folder := t.TempDir()
	writeFiles(t, folder, map[string]string{
		"00000/b.JPG": "", "00000/b.txt": "a dog\r\n\r\n  two dogs \n",
		"00000/c.png": "", "00000/c.txt": "\xef\xbb\xbfa \"cat\"",
		"a.jpg": "", "a.txt": "", "d.webp": "", ".e.jpg": "", ".e.txt": "hidden", "notes.txt": "no picture",
	})
	ctx := context.Background()
	if !HasTexts(ctx, folder) {
		t.Error("HasTexts is false")
	}
	b, err := ReadBags(ctx, folder)
	expect.OK(t, err)
	if want := []string{"00000/b.JPG", "00000/c.png", "a.jpg", "d.webp"}; !slices.Equal(b.IDs, want) ||
		!slices.Equal(b.Files, want) {
		t.Errorf("IDs %q, files %q, want %q", b.IDs, b.Files, want)
	}
	if got, want := slices.Collect(b.Texts(0)), []string{"a dog", "two dogs", `a "cat"`}; !slices.Equal(got, want) {
		t.Errorf("captions %q, want %q", got, want)
	}
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	expect.OK(t, b.WriteWithout(ctx, kept, map[string]bool{b.Captions[0][1].ID: true}))
	b, err = ReadBags(ctx, kept)
	expect.OK(t, err)
	if got, want := slices.Collect(b.Texts(0)), []string{"a dog", `a "cat"`}; !slices.Equal(got, want) {
		t.Errorf("captions kept %q, want %q", got, want)
	}
}

func TestHasTexts_OfFoldersWithout(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty":      {},
		"labels":     {"cat/1.jpg": "", "dog/2.jpg": ""},
		"YOLO":       {"1.jpg": "", "1.txt": "0 .5 .5 1 1\n3 .1 .1 .2 .2\n"},
		"only texts": {"1.txt": "a dog"},
	} {
		folder := t.TempDir()
		writeFiles(t, folder, files)
		if HasTexts(context.Background(), folder) {
			t.Errorf("%s: HasTexts is true", name)
		}
	}
}

func TestListLabels_ByTheirParts(t *testing.T) {
	for name, of := range map[string]struct {
		texts []string
		lists bool
	}{
		"tags":           {[]string{"1girl, blue sky, outdoors", "1boy, blue sky,", "1girl, solo, hair between eyes, outdoors", "solo"}, true},
		"some long":      {[]string{"solo, 1girl, sky, eyebrows visible through hair", "solo, 1girl", "sky, 1girl"}, true},
		"captions":       {[]string{"a dog, a cat and a bird", "a dog, a cat", "a cat, a dog", "The dog, a cat"}, false},
		"long parts":     {[]string{"dog, man walks on the beach", "dog, man walks on the beach", "beach"}, false},
		"sentences":      {[]string{"Dog, cat.", "Cat, dog.", "Dog, cat."}, false},
		"several lines":  {[]string{"dog, cat\ncat, dog", "dog, cat\ndog, bird", "cat, bird\nbird, dog"}, false},
		"no part recurs": {[]string{"dog, grass", "cat, sofa", "bird, sky", "dog, bench"}, false},
		"mostly not": {[]string{"dog, cat", "cat, dog", "two dogs that run", "one cat on a sofa", "grass is green"},
			false},
		"single words": {[]string{"dog", "cat", "dog", "cat"}, false},
	} {
		folder, files := t.TempDir(), map[string]string{}
		for i, text := range of.texts {
			files[fmt.Sprintf("%d.jpg", i)], files[fmt.Sprintf("%d.txt", i)] = "", text
		}
		writeFiles(t, folder, files)
		if got := ListLabels(t.Context(), folder); got != of.lists {
			t.Errorf("%s: %t, want %t", name, got, of.lists)
		}
	}
}

func TestReadBags_RefusesFoldersThatCannotBeRead(t *testing.T) {
	pictures := map[string]string{"1.jpg": "", "2.jpg": ""}
	for want, files := range map[string]map[string]string{
		"there are no captions":              {},
		`2.txt" is not UTF-8: save the file`: {"1.txt": "a dog", "2.txt": "a d\xf6g"},
		`1.txt": longer than 2097152 bytes`:  {"1.txt": strings.Repeat("dog ", 1<<20)},
		`2.txt" is a folder`:                 {"1.txt": "a dog", "2.txt/x": ""},
	} {
		folder := t.TempDir()
		maps.Copy(files, pictures)
		writeFiles(t, folder, files)
		if _, err := ReadBags(context.Background(), folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func writeFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		writeBytes(t, filepath.Join(folder, name), []byte(text))
	}
}

// Programs such as pandas write absolute paths, also of pictures in other folders.
func TestSet_AbsolutePathsOfPictures(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	writeFiles(t, folder, map[string]string{"a.jpg": ""})
	writeFiles(t, other, map[string]string{"b.jpg": ""})
	outside, missing := filepath.ToSlash(filepath.Join(other, "b.jpg")), filepath.ToSlash(filepath.Join(other, "c.jpg"))
	text := "image,caption\na.jpg,a dog\n" + outside + ",a cat\n" + missing + ",a cow\n"
	b, err := ParseBags("c.csv", FormCSV, strings.NewReader(text))
	expect.OK(t, err)
	var left []string
	_, files, err := b.choose(&SetOptions{Images: folder, Missing: func(file string) { left = append(left, file) }})
	expect.OK(t, err)
	if want := []string{"a.jpg", outside}; !slices.Equal(files, want) || !slices.Equal(left, []string{missing}) {
		t.Errorf("files %q, missing %q, want %q and %q", files, left, want, missing)
	}
}
