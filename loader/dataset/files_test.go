package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/internal/origin"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// pictureList writes a manifest of pictures in a folder below it, and configures data on it.
func pictureList(t *testing.T, dir string) *Config {
	t.Helper()
	lines := "path,labels\n"
	expect.OK(t, os.Mkdir(filepath.Join(dir, "images"), 0o777))
	for i := range 4 {
		name := fmt.Sprintf("%d.png", i)
		f, err := os.Create(filepath.Join(dir, "images", name))
		expect.OK(t, err)
		expect.OK(t, png.Encode(f, image.NewGray(image.Rect(0, 0, 4, 4+i))))
		expect.OK(t, f.Close())
		lines += name + ",cat\n"
	}
	c := DefaultConfig()
	c.Set, c.Manifest, c.Images = Manifest, filepath.Join(dir, "list.csv"), filepath.Join(dir, "images")
	c.ValidationShare, c.TestShare = .25, .25
	writeFile(t, c.Manifest, lines)
	return &c
}

// Files that settings name are known by their content, pictures by size and time alone unless their content is asked
// for; all splits are in, and names do not depend on where the folder lies.
func TestFiles_OfAManifest(t *testing.T) {
	d := openedData(t, pictureList(t, t.TempDir()))
	for _, content := range []bool{false, true} {
		files, err := d.Files(t.Context(), content)
		expect.OK(t, err)
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
			if read := f.Digest != ""; read != (content || f.Name == "data.manifest") || f.Size < 1 || f.Modified.IsZero() {
				t.Errorf("asked for the content of all: %t; found %+v", content, f)
			}
		}
		want := "data.images/0.png data.images/1.png data.images/2.png data.images/3.png data.manifest"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("files %s, want %s", got, want)
		}
	}
	ends, err := d.FileEnds(t.Context())
	if err != nil || ends.Unread() != 0 || len(ends) != 5 {
		t.Errorf("ends %+v, %v", ends, err)
	}
}

// Files next to the data are read once for all views of the data, and again if they have changed.
func TestBeside_ReadsAFileOnce(t *testing.T) {
	dir := t.TempDir()
	weights := filepath.Join(dir, "w.pth")
	began := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(content string, modified time.Time) {
		t.Helper()
		expect.OK(t, os.WriteFile(weights, []byte(content), 0o666))
		expect.OK(t, os.Chtimes(weights, modified, modified))
	}
	d := newSplits(Options{})
	digest := func(d *Splits) string {
		t.Helper()
		list, err := d.Beside(t.Context(), []origin.Place{{Name: "rates", Path: filepath.Join(dir, "none")},
			{Name: "net.weights", Path: weights}})
		expect.OK(t, err)
		if len(list) == 0 {
			return ""
		}
		if len(list) != 1 || list[0].Name != "net.weights" || list[0].Size == 0 || list[0].Modified.IsZero() {
			t.Fatalf("found %+v", list)
		}
		return list[0].Digest
	}
	if got := digest(d); got != "" {
		t.Errorf("a file that is not there has the digest %s", got)
	}
	put("abc", began)
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2, example of 3 letters
	if got := digest(d); got != abc {
		t.Fatalf("the digest of abc is %s, want %s", got, abc)
	}
	put("xyz", began) // which only reading the file shows
	view := *d
	if got := digest(&view); got != abc {
		t.Errorf("a view of the data has read the file again: %s", got)
	}
	put("xyz", began.Add(time.Second))
	other := digest(d)
	if len(other) != 64 || other == abc {
		t.Errorf("after another time: %s", other)
	}
	put("longer", began.Add(time.Second))
	if got := digest(d); len(got) != 64 || got == other {
		t.Errorf("after another size: %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := d.Beside(ctx, []origin.Place{{Name: "stage1", Path: weights}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", list, err)
	}
}

func TestPictures_AreDecodedUpToTheirLimitAndAllWithoutOne(t *testing.T) {
	var b bytes.Buffer
	expect.OK(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))))
	file := filepath.Join(t.TempDir(), "a.png")
	writeFile(t, file, b.String())
	words, err := text.NewVocabulary([]text.Word{{Text: "dog"}})
	expect.OK(t, err)
	for limit, want := range map[int]error{0: nil, 12: nil, 11: loader.ErrCorrupt} {
		var p picture.Picture
		if err := Pictures([]string{file}, words, limit).Source.Read(t.Context(), 0, 0, &p); !errors.Is(err, want) {
			t.Errorf("12 pixels, at most %d: %v", limit, err)
		}
	}
}

// The only path may be a list of pictures: plain paths, or a table, whose labels do not matter. Its order stays, names
// that begin in its folder are short, and a file that is not there is found to be missing when it is read.
func TestFindPictures_ReadsLists(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "far.jpg")
	for _, file := range []string{"a.jpg", "b.jpg", "sub/c.jpg"} {
		writeFile(t, filepath.Join(dir, file), "x")
	}
	writeFile(t, other, "x")
	for name, c := range map[string]struct{ text, want string }{
		"l.txt":   {"b.jpg\n\n# a remark\n" + other + "\na.jpg\n", "b.jpg," + other + ",a.jpg"},
		"l.csv":   {"path,labels\nsub\\c,cat\nlost.jpg,\na.jpg,dog\n", "sub/c.jpg,lost.jpg,a.jpg"},
		"p.csv":   {"path\nb.jpg\na.jpg\n", "b.jpg,a.jpg"},
		"o.csv":   {"id;img;size;split\n7;b.jpg;3;here\n8;a.jpg;4;there\n9;b.jpg;3;here\n", "b.jpg,a.jpg"},
		"m.csv":   {"image,tags\na.jpg,\"cat, kitten\"\nb.jpg,\"dog, puppy\"\n", "a.jpg,b.jpg"},
		"p.jsonl": {`{"image": "b.jpg", "labels": 1.5, "split": 3}` + "\n" + `{"image": "a.jpg"}`, "b.jpg,a.jpg"},
		"l.jsonl": {`{"image": "b.jpg", "labels": ["cat"]}`, "b.jpg"},
		"l.json":  {`{"b.jpg": ["cat"], "a.jpg": []}`, "b.jpg,a.jpg"},
	} {
		list := filepath.Join(dir, name)
		writeFile(t, list, c.text)
		files, skipped, err := FindPictures(t.Context(), []string{list}, "")
		if err != nil || skipped != nil {
			t.Errorf("%s: skipped %q, %v", name, skipped, err)
			continue
		}
		if got := strings.Join(PictureIDs([]string{list}, "", files), ","); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		for _, file := range files {
			if !filepath.IsAbs(file) {
				t.Errorf("%s: %s is not in the folder of the list", name, file)
			}
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"none.txt":  {"\n", "want one per line"},
		"none.csv":  {"a.jpg\nb.jpg\n", "in a .txt file, a path on each line"},
		"clips.csv": {"frames,labels\na.jpg;b.jpg,cat\n", "line 2: it is a clip of 2 frames"},
	} {
		list := filepath.Join(dir, name)
		writeFile(t, list, c.text)
		if _, _, err := FindPictures(t.Context(), []string{list}, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Paths of a list may begin in another folder than its own. Without a list that folder means nothing.
func TestFindPictures_ListsWithAFolderOfPictures(t *testing.T) {
	dir, images := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(images, "sub", "a.jpg"), "x")
	for name, content := range map[string]string{"l.csv": "path\nsub/a.jpg\n", "l.txt": "sub/a.jpg\n"} {
		list := filepath.Join(dir, name)
		writeFile(t, list, content)
		files, _, err := FindPictures(t.Context(), []string{list}, images)
		if want := []string{filepath.Join(images, "sub", "a.jpg")}; err != nil || !slices.Equal(files, want) {
			t.Errorf("%s: %q, %v, want %q", name, files, err, want)
		} else if ids := PictureIDs([]string{list}, images, files); ids[0] != "sub/a.jpg" {
			t.Errorf("%s: named %q", name, ids)
		}
	}
	if _, _, err := FindPictures(t.Context(), []string{images}, dir); err == nil ||
		!strings.Contains(err.Error(), "is for a list of pictures") {
		t.Errorf("a folder: %v", err)
	}
}

// A path may be a link to a folder. Links to folders inside are not followed, and the message says so.
func TestFind_LinksToFolders(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "real", "a.jpg"), "x")
	writeFile(t, filepath.Join(dir, "real", "clip", "1.jpg"), "x")
	link := filepath.Join(dir, "link")
	expect.OK(t, os.Symlink("real", link))
	expect.OK(t, os.Symlink(filepath.Join(dir, "real", "clip"), filepath.Join(dir, "real", "inner")))
	files, skipped, err := FindPictures(t.Context(), []string{link}, "")
	if ids := PictureIDs([]string{link}, "", files); err != nil || !slices.Equal(ids, []string{"a.jpg", "clip/1.jpg"}) {
		t.Errorf("%q, %v", ids, err)
	}
	if said := DescribeSkipped(skipped); !strings.Contains(said, "inner (a link to a folder: name it too)") {
		t.Error(said)
	}
	clips, err := FindClips(t.Context(), []string{link})
	expect.OK(t, err)
	defer clips.Close()
	if len(clips.Clips) == 0 {
		t.Error("no clip in a folder that is a link")
	}
}
