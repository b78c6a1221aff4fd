package loader

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nmn/loader/picture"
)

func TestIdentity_IsAnotherOneWhereAFileHasChanged(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a.png", "b.png", "gone.png"}
	for _, name := range names[:2] {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	source, err := NewFileSource(dir, names)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	of := func(bag int) string {
		identity, err := Identity(chosenSource{source, []int{1, 0}}, bag)
		if err != nil {
			t.Fatal(err)
		}
		return identity
	}
	a, b := of(1), of(0)
	if own, err := Identity(source, 0); a == b || own != a || err != nil {
		t.Errorf("%q, %q, %q, %v: want two, the first one twice", a, b, own, err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a.png"), later, later); err != nil {
		t.Fatal(err)
	}
	if of(1) == a || of(0) != b {
		t.Error("a file that has changed is the same, or one that has not is another")
	}
	if _, err := Identity(source, 2); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Identity(struct{ Source }{source}, 0); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a source without files: %v", err)
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
}

func TestLoader_PreparesPicturesForAPretrainedNet(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"another size": func(c *Config) { c.Size = 9 },
		"flips":        func(c *Config) { c.Flip = true },
		"no crop":      func(c *Config) { c.Preprocessing.Crop, c.Size = 0, 1 },
	} {
		p, c := picture.DINOv2Preprocessing(), DefaultConfig()
		c.Preprocessing, c.Size, c.Flip = &p, p.Crop, false
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(&c); c.Validate() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
