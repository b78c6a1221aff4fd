package dataset

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pictureList writes a manifest of pictures in a folder below it, and configures data on it.
func pictureList(t *testing.T, dir string) *Config {
	t.Helper()
	lines := "path,labels\n"
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		name := fmt.Sprintf("%d.png", i)
		f, err := os.Create(filepath.Join(dir, "images", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 4, 4+i))); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		lines += name + ",cat\n"
	}
	c := DefaultConfig()
	c.Set, c.Manifest, c.Images = Manifest, filepath.Join(dir, "list.csv"), filepath.Join(dir, "images")
	c.ValidationShare, c.TestShare = .25, .25
	if err := os.WriteFile(c.Manifest, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	return &c
}

// Files that settings name are known by their content, pictures by size and time alone unless their content is asked
// for; all splits are in, and names do not depend on where the folder lies.
func TestFiles_OfAManifest(t *testing.T) {
	d, err := Open(t.Context(), pictureList(t, t.TempDir()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, content := range []bool{false, true} {
		files, err := d.Files(t.Context(), content)
		if err != nil {
			t.Fatal(err)
		}
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
}
