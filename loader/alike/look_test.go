package alike

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/picture"
)

// scene is a picture of random coloured patches.
func scene(seed uint64, side int) *image.RGBA {
	s := rng.New(seed)
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	const patches = 12
	var colours [patches * patches]color.RGBA
	for i := range colours {
		v := s.Uint32()
		colours[i] = color.RGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), 255}
	}
	for y := range side {
		for x := range side {
			img.SetRGBA(x, y, colours[y*patches/side*patches+x*patches/side])
		}
	}
	return img
}

func encoded(t *testing.T, img image.Image, quality int) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}))
	return b.Bytes()
}

// folder is a set of pictures: six scenes, the second of them twice more, encoded anew and with a narrow border cut
// off, the third as a copy, and a file that is no picture.
func folder(t *testing.T) *loader.Set {
	t.Helper()
	dir, s := t.TempDir(), &loader.Set{Name: "folder"}
	write := func(name string, file []byte) {
		s.IDs = append(s.IDs, name)
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), file, 0o666))
	}
	for i := range 6 {
		write(fmt.Sprintf("%d.jpg", i), encoded(t, scene(uint64(i), 240), 90))
	}
	write("anew.jpg", encoded(t, scene(1, 120), 40))
	write("cut.jpg", encoded(t, scene(1, 240).SubImage(image.Rect(2, 2, 238, 238)), 85))
	write("copy.jpg", encoded(t, scene(2, 240), 90))
	write("broken.jpg", []byte("no picture"))
	s.IDs = append(s.IDs, "missing.jpg")
	source, err := loader.NewFileSource(dir, s.IDs)
	expect.OK(t, err)
	s.Source = source
	return s
}

func TestAt_FindsSiblingsAndPassesOverWhatCannotBeRead(t *testing.T) {
	set := folder(t)
	looks, err := At(t.Context(), set, 0, set.Len(), picture.Picture{MaxPixels: 1 << 20})
	expect.OK(t, err)
	groups, split := Groups(looks, 5)
	if got := fmt.Sprint(groups); got != "[[1 6 7] [2 8]]" || split != 0 {
		t.Errorf("groups %s, %d split", got, split)
	}
	for _, bag := range []int{9, 10} {
		if looks[bag] != (Look{}) {
			t.Errorf("%s has the look %+v", set.IDs[bag], looks[bag])
		}
	}
	part, err := At(t.Context(), set, 5, 8, picture.Picture{MaxPixels: 1 << 20})
	if err != nil || fmt.Sprint(part) != fmt.Sprint(looks[5:8]) {
		t.Errorf("the looks of bags 6 to 8 alone are %+v, %v; want %+v", part, err, looks[5:8])
	}
	small, err := At(t.Context(), set, 0, 1, picture.Picture{MaxPixels: 100})
	if err != nil || small[0] != (Look{}) {
		t.Errorf("a picture beyond the limit has the look %+v, %v", small[0], err)
	}
}

func TestAt_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	set := folder(t)
	if _, err := At(ctx, set, 0, set.Len(), picture.Picture{MaxPixels: 1 << 20}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// failing is a source whose disk has failed.
type failing struct{ loader.Source }

var errDisk = errors.New("input/output error")

func (failing) Frames(int) int { return 1 }
func (failing) ReadEncoded(_ context.Context, _, _ int, b []byte) ([]byte, error) {
	return b, errDisk
}

func TestAt_FailsWithTheSystem(t *testing.T) {
	set := &loader.Set{IDs: []string{"a"}, Source: failing{}}
	if _, err := At(t.Context(), set, 0, 1, picture.Picture{}); !errors.Is(err, errDisk) {
		t.Errorf("error %v", err)
	}
}

func TestAt_FeaturesAreAlikeIfTheyAreEqual(t *testing.T) {
	why := fmt.Errorf("row 4: %w", loader.ErrCorrupt)
	set := &loader.Set{IDs: []string{"a", "b", "c", "d", "e"}, Vectors: &loader.HeldVectors{Dim: 2,
		Rows: []float32{1, 2, 1, 2.5, 1, 2, 1, 2, 1, 2.5}, Why: []error{nil, nil, nil, why, nil}}}
	looks, err := At(t.Context(), set, 0, 5, picture.Picture{})
	expect.OK(t, err)
	groups, _ := Groups(looks, 5)
	if got := fmt.Sprint(groups); got != "[[0 2] [1 4]]" {
		t.Errorf("groups %s", got)
	}
}
