package loader

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"nmn/loader/picture"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pngFile(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, png.Encode(&b, img))
	return b.Bytes()
}

func jpegFile(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// smoothImage is a picture without sharp edges, which JPEG keeps.
func smoothImage(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			wave := func(a, b float64) uint8 { return uint8(128 + 100*math.Sin(a*float64(x)+b*float64(y))) }
			img.SetNRGBA(x, y, color.NRGBA{wave(.05, .02), wave(.03, -.04), wave(-.02, .05), 255})
		}
	}
	return img
}

func newTestSource(t *testing.T, root string, files ...string) *FileSource {
	t.Helper()
	source, err := NewFileSource(root, files)
	check(t, err)
	return source
}

func TestFileSource_BadFilesAreNamed(t *testing.T) {
	folder := t.TempDir()
	root := filepath.Join(folder, "root")
	write := func(name string, data []byte) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(folder, name), data, 0o644))
	}
	check(t, os.MkdirAll(filepath.Join(root, "directory.jpg"), 0o755))
	whole := jpegFile(t, smoothImage(40, 30))
	write("root/good.jpg", whole)
	write("root/cut.jpg", whole[:len(whole)/2])
	write("root/empty.jpg", nil)
	names := []string{"good.jpg", "cut.jpg", "empty.jpg", "missing.jpg", "directory.jpg", ""}
	source := newTestSource(t, root, names...)
	for i, name := range names {
		err := source.Read(context.Background(), i, 0, new(picture.Picture))
		if i == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want ErrCorrupt and the name", name, err)
		}
	}
	if err := source.Read(context.Background(), 3, 0, new(picture.Picture)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v hides the cause", err)
	}
	if err := source.Read(context.Background(), 1, 0, new(picture.Picture)); err == nil ||
		!strings.Contains(err.Error(), "image 1, ") {
		t.Errorf("%v does not name index and size", err)
	}
}

func TestFileSource_ReadsFilesWhereverTheyLie(t *testing.T) {
	folder := t.TempDir()
	root, outside := filepath.Join(folder, "root"), filepath.Join(folder, "outside.jpg")
	check(t, os.Mkdir(root, 0o755))
	check(t, os.WriteFile(outside, jpegFile(t, smoothImage(40, 30)), 0o644))
	if err := os.Symlink("../outside.jpg", filepath.Join(root, "link.jpg")); err != nil {
		t.Skip(err)
	}
	source := newTestSource(t, root, "link.jpg", "../outside.jpg", filepath.ToSlash(outside))
	for i := range source.files {
		pic := new(picture.Picture)
		if err := source.Read(t.Context(), i, 0, pic); err != nil || pic.Width != 40 {
			t.Errorf("%s: %v", source.files[i], err)
		}
	}
	for _, folder := range []string{filepath.Join(folder, "missing"), outside} {
		if _, err := NewFileSource(folder, nil); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s in the place of a folder: %v", folder, err)
		}
	}
}

func TestFileSource_Limits(t *testing.T) {
	root := t.TempDir()
	data := pngFile(t, smoothImage(20, 20))
	check(t, os.WriteFile(filepath.Join(root, "a.png"), data, 0o644))
	source := newTestSource(t, root, "a.png")
	if err := source.Read(t.Context(), 0, 0, &picture.Picture{MaxPixels: 399}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("400 pixels at a limit of 399: %v", err)
	}
	check(t, os.Truncate(filepath.Join(root, "a.png"), picture.MaxFileBytes+1))
	if err := source.Read(t.Context(), 0, 0, new(picture.Picture)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that is too large: %v", err)
	}
	if err := source.Read(context.Background(), 1, 0, new(picture.Picture)); err == nil {
		t.Error("index 1 of 1: no error")
	}
}
