package origin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func names(l List) (names []string) {
	for _, f := range l {
		names = append(names, f.Name)
	}
	return names
}

// Missing files are skipped, and later ones are still found.
func TestFind_LeavesOutWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	expect.OK(t, os.Mkdir(filepath.Join(dir, "b"), 0o777))
	a, d := put(t, dir, "a.png", "a", 1), put(t, dir, "d.png", "dd", 1)
	d.ByContent = true
	l := find(t, false, a, a, Place{Name: "images/b", Path: filepath.Join(dir, "b")},
		Place{Name: "images/c", Path: filepath.Join(dir, "c")}, d)
	if got, want := names(l), []string{"images/a.png", "images/d.png"}; !slices.Equal(got, want) {
		t.Fatalf("found %q, want %q", got, want)
	}
	if l[0].Digest != "" || len(l[1].Digest) != 64 || l[1].Size != 2 {
		t.Errorf("found %+v", l)
	}
}

// A picture that cannot be read does not keep the content of others from being noted.
func TestFind_NotesWhatCanBeRead(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, dir, "a.png", "a", 1), put(t, dir, "b.png", "b", 1)
	expect.OK(t, os.Chmod(b.Path, 0))
	if f, err := os.Open(b.Path); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	if l := find(t, true, a, b); len(l) != 2 || l[0].Digest == "" || l[1].Digest != "" {
		t.Errorf("found %+v", l)
	}
	b.ByContent = true
	if _, err := Find(t.Context(), []Place{a, b}, false); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file of a setting: %v", err)
	}
}

// Many files are read in parallel. The list is in their order, and the error is the first failing file's.
func TestFind_ManyFiles(t *testing.T) {
	dir := t.TempDir()
	var places []Place
	for i := range 200 {
		places = append(places, put(t, dir, fmt.Sprintf("%03d.png", i), strings.Repeat("x", i*20), 1))
	}
	then := find(t, true, places...)
	for i, f := range then {
		if f.Path != places[i].Path || f.Size != int64(i*20) || len(f.Digest) != 64 {
			t.Fatalf("file %d is %+v", i, f)
		}
		if d, err := Digest(t.Context(), f.Path); err != nil || d != f.Digest {
			t.Fatalf("file %d has the digest %s, want %s (%v)", i, f.Digest, d, err)
		}
		put(t, dir, filepath.Base(f.Path), strings.Repeat("x", i*20), 2)
	}
	if kept, d, err := find(t, false, places...).Since(t.Context(), then); err != nil || d != nil || len(kept) != 200 ||
		kept[199].Digest != then[199].Digest {
		t.Errorf("all are touched: %+v, %v", d, err)
	}
}

func TestFind_EndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	p := put(t, dir, "a.png", "a", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := Find(ctx, []Place{p}, false); l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, %v", l, err)
	}
	if d, err := Digest(ctx, p.Path); d != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("digest %q, %v", d, err)
	}
}

func TestDigest_OfKnownContent(t *testing.T) {
	dir := t.TempDir()
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2, example of 3 letters
	if d, err := Digest(t.Context(), put(t, dir, "a", "abc", 1).Path); err != nil || d != abc {
		t.Errorf("digest %q, %v; want %s", d, err, abc)
	}
	if d, err := Digest(t.Context(), filepath.Join(dir, "none")); d != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %q, %v", d, err)
	}
	if d, err := Digest(t.Context(), dir); d != "" || err == nil {
		t.Errorf("of a folder: %q, %v", d, err)
	}
}

// Files missing from a folder count from the first on. Files missing from settings are kept in the list,
// because settings are compared elsewhere.
func TestSince_WhatIsGone(t *testing.T) {
	dir := t.TempDir()
	places := []Place{put(t, dir, "a.png", "a", 1), put(t, dir, "b.png", "b", 1), put(t, dir, "c.png", "c", 1),
		{Name: "net.weights", Path: put(t, dir, "w.pth", "w", 1).Path}}
	then := find(t, true, places...)
	kept, d, err := find(t, false, places[2]).Since(t.Context(), then)
	if err != nil || d == nil || d.More != 1 || d.Unknown ||
		!strings.HasPrefix(d.Text, filepath.Join(dir, "a.png")+" was there") {
		t.Errorf("difference %+v (%v), want a.png and one more", d, err)
	}
	if got, want := names(kept), []string{"images/c.png", "net.weights"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	kept, d, err = find(t, false, places[:3]...).Since(t.Context(), then)
	if err != nil || d != nil || len(kept) != 4 || kept[3].Digest != then[3].Digest {
		t.Errorf("without a setting: difference %+v (%v), kept %+v", d, err, kept)
	}
	if kept, d, err := (List{}).Since(t.Context(), then[:1]); err != nil || len(kept) != 0 || d == nil ||
		!strings.HasPrefix(d.Text, "images/a.png was there") {
		t.Errorf("of an empty folder: %+v (%v), kept %v", d, err, kept)
	}
}
