package loader

import (
	"context"
	"errors"
	"io/fs"
	"nmn/loader/picture"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	whole := greyJPEG(t, 40, 30, 9)
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
	check(t, os.WriteFile(outside, greyJPEG(t, 40, 30, 9), 0o644))
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
	check(t, os.WriteFile(filepath.Join(root, "a.jpg"), greyJPEG(t, 20, 20, 9), 0o644))
	source := newTestSource(t, root, "a.jpg")
	if err := source.Read(t.Context(), 0, 0, &picture.Picture{MaxPixels: 399}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("400 pixels at a limit of 399: %v", err)
	}
	check(t, os.Truncate(filepath.Join(root, "a.jpg"), picture.MaxFileBytes+1))
	if err := source.Read(t.Context(), 0, 0, new(picture.Picture)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that is too large: %v", err)
	}
	if err := source.Read(context.Background(), 1, 0, new(picture.Picture)); err == nil {
		t.Error("index 1 of 1: no error")
	}
}
