package telemetry

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
	"nmn/train"
)

// red are pictures of one colour.
type red struct{ width, height int }

func (r red) Frames(int) int { return 1 }

func (r red) Read(_ context.Context, _, _ int, p *picture.Picture) error {
	p.Width, p.Height = r.width, r.height
	p.Pix = bytes.Repeat([]byte{200, 10, 10}, r.width*r.height)
	return nil
}

func validationSet(t *testing.T) *loader.Set {
	t.Helper()
	v, err := text.NewVocabulary([]text.Word{{Text: "ball", POS: text.NN}, {Text: "red", POS: text.JJ}})
	expect.OK(t, err)
	return &loader.Set{Name: "validation", Vocabulary: v, IDs: []string{"a.png", "b.png"}, Source: red{20, 10},
		Labels: dense.New(dense.WithShape(2, 2), dense.WithBacking([]uint8{1, 0, 0, 1}))}
}

// boardFiles returns what a board has written, as one text: tags are in it as they are.
func boardFiles(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	expect.OK(t, err)
	return string(content)
}

func TestBoard_TellsStepsMeasuresCurvesAndMistakes(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBoard(dir, -1, validationSet(t))
	expect.OK(t, err)
	o := b.Observer()
	o.Step(stepDone(7))
	e := evaluated(t, 7)
	logits := dense.New(dense.WithShape(2, 2), dense.WithBacking([]float32{2, -1, 3, -.5}))
	prob := dense.New(dense.WithShape(2, 2), dense.WithBacking([]float32{.88, .27, .95, .38}))
	e.Scores = &train.Scores{Index: []int{0, 1}, Logits: logits, Prob: prob}
	o.Evaluated(e)
	expect.OK(t, b.Close())
	content := boardFiles(t, dir)
	for _, want := range []string{"train/loss", "speed/images_per_s", "validation/map",
		"against observed labels/all classes", "against observed labels/NN",
		"surest mistakes/1", "made up ball, p 0.950, b.png"} {
		if !strings.Contains(content, want) {
			t.Errorf("the events lack %q", want)
		}
	}
	if strings.Contains(content, "a.png") {
		t.Error("a picture without a mistake is shown")
	}
}

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
	expect.OK(t, err)
	b.Observer().Evaluated(scored(t, 7))
	b.Observer().Evaluated(scored(t, 9))
	expect.OK(t, b.Close())
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
	expect.OK(t, err)
	b.Observer().Evaluated(scored(t, 7))
	expect.OK(t, b.Close())
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
	expect.OK(t, err)
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
	expect.OK(t, l.Close())
	if err := l.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
