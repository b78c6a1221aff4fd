package loader

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

func TestIdentity_IsAnotherOneWhereAFileHasChanged(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a.png", "b.png", "gone.png"}
	for _, name := range names[:2] {
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666))
	}
	source, err := NewFileSource(dir, names)
	expect.OK(t, err)
	of := func(bag int) string {
		identity, err := Identity(t.Context(), placedSource{source, chosenBags{1, 0}}, bag, 0)
		expect.OK(t, err)
		return identity
	}
	a, b := of(1), of(0)
	if own, err := Identity(t.Context(), source, 0, 0); a == b || own != a || err != nil {
		t.Errorf("%q, %q, %q, %v: want two, the first one twice", a, b, own, err)
	}
	later := time.Now().Add(time.Hour)
	expect.OK(t, os.Chtimes(filepath.Join(dir, "a.png"), later, later))
	if FileOf(of(1)) != FileOf(a) || FileOf(a) == FileOf(b) || FileOf("stored\x001") != "" {
		t.Errorf("the files %q, %q, %q", FileOf(of(1)), FileOf(a), FileOf(b))
	}
	if of(1) == a || of(0) != b {
		t.Error("a file that has changed is the same, or one that has not is another")
	}
	if _, err := Identity(t.Context(), source, 2, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// colours is a source without files: each frame has a colour of its own, which bag, frame and shift make.
type colours struct{ shift byte }

func (colours) Frames(int) int { return 2 }

func (c colours) Read(_ context.Context, bag, frame int, pic *picture.Picture) error {
	pic.Resize(2, 1)
	for i := range pic.Pix {
		pic.Pix[i] = byte(10*bag+frame) + c.shift
	}
	return nil
}

// Frames without files are known by their pixels, also when each is a bag.
func TestIdentity_OfPaintedFramesIsThatOfTheirPixels(t *testing.T) {
	set := &Set{Name: "c", IDs: []string{"a", "b"}, Vocabulary: vocabularyOf(t, "w"), Labels: Matrix([]uint8{1, 0}, 1),
		Source: colours{}}
	frames, _, err := Frames(t.Context(), set)
	expect.OK(t, err)
	seen := map[string]bool{}
	for bag := range 4 {
		a, err := Identity(t.Context(), frames.Source, bag, 0)
		expect.OK(t, err)
		b, err := Identity(t.Context(), set.Source, bag/2, bag%2)
		if err != nil || a != b || seen[a] {
			t.Errorf("frame %d: %q and %q, %v", bag, a, b, err)
		}
		seen[a] = true
	}
	if other, _ := Identity(t.Context(), colours{1}, 0, 1); seen[other] {
		t.Error("other pixels are the same frame")
	}
}

func TestHeldVectors_AreReadByBag(t *testing.T) {
	v := &HeldVectors{Dim: 2, Rows: []float32{1, 2, 3, 4}, Why: []error{nil, ErrCorrupt}}
	row := make([]float32, 2)
	if err := v.Read(t.Context(), 0, 0, row); err != nil || row[1] != 2 {
		t.Errorf("%v, %v", row, err)
	}
	for _, at := range [][2]int{{1, 0}, {2, 0}, {-1, 0}, {0, 1}} {
		if v.Read(t.Context(), at[0], at[1], row) == nil {
			t.Errorf("frame %d of bag %d is read", at[1], at[0])
		}
	}
	v = &HeldVectors{Dim: 1, Rows: []float32{1, 2, 3}, Offsets: []int{0, 2, 3}}
	if err := v.Read(t.Context(), 0, 1, row); err != nil || row[0] != 2 || v.Frames(0) != 2 || v.Frames(1) != 1 {
		t.Errorf("%v, %v", row, err)
	}
	if v.Read(t.Context(), 1, 1, row) == nil || v.Read(t.Context(), 2, 0, row) == nil {
		t.Error("a frame that is not there is read")
	}
}

func TestLoader_PreparesPicturesForAPretrainedNet(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"another size": func(c *Config) { c.Size = 9 },
		"flips":        func(c *Config) { c.Flip = true },
		"no crop":      func(c *Config) { c.Preprocessing.Crop, c.Size = 0, 1 },
	} {
		p, c := picture.DINOv2Preprocessing(), DefaultConfig()
		c.Preprocessing, c.Size, c.Flip = &p, p.Crop, false
		expect.OK(t, c.Validate())
		if change(&c); c.Validate() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
