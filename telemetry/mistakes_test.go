package telemetry

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/loader/picture"
	"nmn/train"

	dense "gorgonia.org/tensor"
)

// scored is a validation at a step whose scores make two mistakes, one of each picture.
func scored(t *testing.T, step int) train.Evaluated {
	t.Helper()
	e := evaluated(t, step)
	e.Scores = &train.Scores{Index: []int{0, 1},
		Logits: dense.New(dense.WithShape(2, 2), dense.WithBacking([]float32{2, 3, -3, -.5})),
		Prob:   dense.New(dense.WithShape(2, 2), dense.WithBacking([]float32{.88, .95, .05, .38}))}
	return e
}

// stepsOf are the steps of the events that hold a text.
func stepsOf(t *testing.T, content, holds string) (steps []int) {
	t.Helper()
	for b := []byte(content); len(b) > 0; {
		n := int(binary.LittleEndian.Uint64(b))
		event := b[12 : 12+n]
		b = b[16+n:]
		const stepAt = 1 + 8 + 1 // after the time and the tags of both
		step, used := binary.Uvarint(event[stepAt:])
		if used <= 0 || event[stepAt-1] != 2<<3 {
			t.Fatalf("an event without a step: %x", event)
		}
		if strings.Contains(string(event), holds) {
			steps = append(steps, int(step))
		}
	}
	return steps
}

// Each mistake names the error and the class, at the step of its validation.
func TestBoard_NamesMistakesAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBoard(dir, -1, validationSet(t))
	must(t, err)
	b.Observer().Evaluated(scored(t, 7))
	b.Observer().Evaluated(scored(t, 9))
	must(t, b.Close())
	content := boardFiles(t, dir)
	for _, tag := range []string{"made up red, p 0.950, a.png",
		"missed red, p 0.380, b.png", "against observed labels/JJ", "validation/map"} {
		if got := stepsOf(t, content, tag); !slices.Equal(got, []int{7, 9}) {
			t.Errorf("%q is of the steps %d, want 7 and 9", tag, got)
		}
	}
	if got := stepsOf(t, content, "surest mistakes/"); len(got) != 8 {
		t.Errorf("%d events, want a picture and a text of two mistakes twice", len(got))
	}
	if got := stepsOf(t, content, "surest mistakes/2"); !slices.Equal(got, []int{7, 7, 9, 9}) {
		t.Errorf("the second mistake is of the steps %d: a slider wants one tag for both", got)
	}
}

// Feature vectors have no pictures to show: curves are written all the same.
func TestBoard_OfASetWithoutPictures(t *testing.T) {
	dir, set := t.TempDir(), validationSet(t)
	set.Source = nil
	b, err := OpenBoard(dir, -1, set)
	must(t, err)
	b.Observer().Evaluated(scored(t, 7))
	must(t, b.Close())
	if content := boardFiles(t, dir); len(stepsOf(t, content, "against observed labels/all classes")) != 1 ||
		strings.Contains(content, "surest mistakes") {
		t.Error("want curves and no pictures")
	}
}

// unreadable are pictures on a disk that has gone.
type unreadable struct {
	red
	asked int
}

func (u *unreadable) Read(context.Context, int, int, *picture.Picture) error {
	u.asked++
	return fs.ErrClosed
}

// A picture that cannot be read does not affect the curves of a training; it is reported at the end, once.
func TestBoard_PicturesThatCannotBeRead(t *testing.T) {
	dir, set, source := t.TempDir(), validationSet(t), &unreadable{}
	set.Source = source
	b, err := OpenBoard(dir, -1, set)
	must(t, err)
	b.Observer().Evaluated(scored(t, 7))
	b.Observer().Evaluated(scored(t, 9))
	if err := b.Close(); !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "a.png") {
		t.Errorf("error %v", err)
	}
	if got := stepsOf(t, boardFiles(t, dir), "against observed labels/all classes"); len(got) != 2 || source.asked != 1 {
		t.Errorf("curves of the steps %d, %d pictures asked for, want two and one", got, source.asked)
	}
}

func TestOpenLog_WhereNoFileCanBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "log.jsonl")
	if l, err := OpenLog(path, -1); l != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", l, err)
	}
	if l, err := OpenLog(filepath.Dir(filepath.Dir(path)), 3); l != nil || err == nil {
		t.Errorf("a folder: %v, %v", l, err)
	}
}

func TestLog_CloseReportsWhatTheFileSays(t *testing.T) {
	l := openLog(t, filepath.Join(t.TempDir(), "log.jsonl"), -1)
	must(t, l.Close())
	if err := l.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
