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
	"strings"
	"testing"
	"time"

	"nmn/internal/origin"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// pictureList writes a manifest of pictures in a folder below it, and configures data on it.
func pictureList(t *testing.T, dir string) *Config {
	t.Helper()
	lines := "path,labels\n"
	check(t, os.Mkdir(filepath.Join(dir, "images"), 0o777))
	for i := range 4 {
		name := fmt.Sprintf("%d.png", i)
		f, err := os.Create(filepath.Join(dir, "images", name))
		check(t, err)
		check(t, png.Encode(f, image.NewGray(image.Rect(0, 0, 4, 4+i))))
		check(t, f.Close())
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
		check(t, err)
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
		check(t, os.WriteFile(weights, []byte(content), 0o666))
		check(t, os.Chtimes(weights, modified, modified))
	}
	d := newSplits(Options{})
	digest := func(d *Splits) string {
		t.Helper()
		list, err := d.Beside(t.Context(), []origin.Place{{Name: "rates", Path: filepath.Join(dir, "none")},
			{Name: "net.weights", Path: weights}})
		check(t, err)
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
	check(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))))
	file := filepath.Join(t.TempDir(), "a.png")
	writeFile(t, file, b.String())
	words, err := text.NewVocabulary([]text.Word{{Text: "dog"}})
	check(t, err)
	for limit, want := range map[int]error{0: nil, 12: nil, 11: loader.ErrCorrupt} {
		var p picture.Picture
		if err := Pictures([]string{file}, words, limit).Source.Read(t.Context(), 0, 0, &p); !errors.Is(err, want) {
			t.Errorf("12 pixels, at most %d: %v", limit, err)
		}
	}
}
