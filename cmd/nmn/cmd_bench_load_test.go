package main

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"strings"
	"testing"
)

// jpegFolder has n small pictures and a file that is none.
func jpegFolder(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	img := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = uint8(i)
	}
	for i := range n {
		img.Set(0, 0, color.White)
		var b bytes.Buffer
		check(t, jpeg.Encode(&b, img, nil))
		write(t, filepath.Join(dir, string(rune('a'+i))+".jpg"), b.Bytes())
	}
	write(t, filepath.Join(dir, "notes.txt"), []byte("no picture"))
	return dir
}

func TestBenchLoad_FieldsForMachines(t *testing.T) {
	dir := jpegFolder(t, 3)
	f := readJSON(t, must(t, "bench", "load", dir, "--images", "7", "--batch", "2", "--size", "32", "--workers", "2",
		"--repeats", "3", "--step-ms", "1", "--json"))
	positive(t, f, []string{"images_per_s", "images_per_s_min", "images_per_s_max", "image_ms", "bytes_per_s"},
		"wait_ms", "wait_share", "allocs_per_image")
	if f["images"] != 7. || f["batch"] != 2. || f["size"] != 32. || f["bad_samples"] != 0. {
		t.Errorf("the setting is told as %v", f)
	}
	// Four batches of a millisecond each.
	if took := f["image_ms"].(float64) * 7; took < 4 {
		t.Errorf("a pass took %v ms", took)
	}
	if share := f["wait_share"].(float64); share < 0 || share > 1 {
		t.Errorf("waited for %v of the time", share)
	}
	if least, middle := f["images_per_s_min"].(float64), f["images_per_s"].(float64); least > middle {
		t.Errorf("%v images/s, at least %v", middle, least)
	}
}

func TestBenchLoad_TellsBrokenPictures(t *testing.T) {
	dir := jpegFolder(t, 2)
	write(t, filepath.Join(dir, "broken.jpg"), []byte("\xff\xd8\xff"))
	wantParts(t, must(t, "bench", "load", dir, "--repeats", "1"), "3 pictures of "+dir, "1 pictures could not be used")
	alone := t.TempDir()
	write(t, filepath.Join(alone, "broken.jpg"), []byte("\xff\xd8\xff"))
	if c := call(t, "bench", "load", alone); c.code != 1 || !strings.Contains(c.err, "broken.jpg") {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
}

// What pictures are changed by is part of the figures.
func TestBenchLoad_TellsAugmentations(t *testing.T) {
	dir := jpegFolder(t, 2)
	out := must(t, "bench", "load", dir, "--repeats", "1", "--size", "32", "--augment", "light")
	if want := "random crop 0.5:1 of the area, ratio 0.75:1.3333, color jitter 0.2,0.2,0.2,0.02\n"; !strings.HasSuffix(out,
		want) {
		t.Errorf("got %s, want %s at its end", out, want)
	}
}

func TestBenchLoad_RefusesWhatItCannotMeasure(t *testing.T) {
	dir := jpegFolder(t, 1)
	for _, args := range [][]string{{}, {dir, dir}, {filepath.Join(dir, "a.jpg")}, {t.TempDir()},
		{dir, "--repeats", "0"}, {dir, "--step-ms", "-1"}, {dir, "--workers", "0"}, {dir, "--size", "0"},
		{dir, "--images", "-1"}, {dir, "--random-crop", "2"}, {dir, "--rand-augment", "2"}} {
		if c := call(t, append([]string{"bench", "load"}, args...)...); c.code != 2 {
			t.Errorf("%q: exit code %d: %s", args, c.code, c.err)
		}
	}
}
