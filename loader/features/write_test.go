package features

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/expect"
)

// failingRows are rows; one of them cannot be read.
type failingRows struct{ fails int }

var errRow = errors.New("the row cannot be read")

func (failingRows) Len() int     { return 4 }
func (failingRows) Width() int   { return 2 }
func (failingRows) Close() error { return nil }

func (f failingRows) Read(i int, dst []float32) error {
	if i == f.fails {
		return errRow
	}
	dst[0], dst[1] = float32(i), float32(i)+.5
	return nil
}

// A file of vectors is whole or not there, and what was there before stays.
func TestWriteFile_LeavesNothingOfAFailure(t *testing.T) {
	for _, ending := range []string{".npy", ".safetensors"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "v"+ending)
		expect.OK(t, WriteFile(path, failingRows{-1}))
		whole, err := os.ReadFile(path)
		expect.OK(t, err)
		for _, row := range []int{0, 3} {
			if err := WriteFile(path, failingRows{row}); !errors.Is(err, errRow) {
				t.Errorf("%s, row %d: %v", ending, row, err)
			}
		}
		after, err := os.ReadFile(path)
		left, listing := os.ReadDir(dir)
		if err := errors.Join(err, listing); err != nil || !slices.Equal(after, whole) || len(left) != 1 {
			t.Errorf("%s: %d files are left, the one that was there changed: %v, %v", ending, len(left),
				!slices.Equal(after, whole), err)
		}
	}
}

func TestWriter_RefusesARowOfAnotherWidth(t *testing.T) {
	for _, ending := range []string{".npy", ".safetensors"} {
		w, err := Create(filepath.Join(t.TempDir(), "v"+ending), 3)
		expect.OK(t, err)
		for _, width := range []int{0, 2, 4} {
			if err := w.Write(make([]float32, width)); err == nil {
				t.Errorf("%s: a row of %d numbers, want 3: no error", ending, width)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"v.csv", "v", "v.npz"} {
		if w, err := Create(filepath.Join(t.TempDir(), name), 3); w != nil || err == nil {
			t.Errorf("%s: %v, %v", name, w, err)
		}
	}
}

// Labels that are asked for and not there would else be features.
func TestLayout_RefusesColumnsThatAreNotThere(t *testing.T) {
	columns := []string{"id", "a", "b", "dog"}
	for name, c := range map[string]struct {
		o     Options
		named []string
	}{
		"labels": {o: Options{LabelColumns: []string{"cat*"}}}, "a list of labels": {named: []string{"dog", "cat"}},
		"ignored":     {o: Options{Ignore: []string{"note"}}},
		"a pattern":   {o: Options{LabelColumns: []string{"[dog"}}},
		"identifiers": {o: Options{IDColumn: "name"}}, "splits": {o: Options{SplitColumn: "part"}},
	} {
		if l, err := c.o.layout(columns, c.named, -1); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if _, err := new(Options).layout([]string{"a", "b", "a"}, nil, -1); !errors.Is(err, ErrFormat) {
		t.Errorf("a column twice: %v", err)
	}
	l, err := (&Options{LabelColumns: []string{"d?g"}, Ignore: []string{"b"}}).layout(columns, nil, -1)
	if err != nil || l.id != 0 || !slices.Equal(l.features, []int{1}) || !slices.Equal(l.words, []string{"dog"}) {
		t.Errorf("%+v, %v", l, err)
	}
}
