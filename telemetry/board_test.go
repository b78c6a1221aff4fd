package telemetry

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
	"nmn/train"

	dense "gorgonia.org/tensor"
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
	must(t, err)
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
	must(t, err)
	return string(content)
}

func TestBoard_TellsStepsMeasuresCurvesAndMistakes(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBoard(dir, -1, validationSet(t))
	must(t, err)
	o := b.Observer()
	o.Step(stepDone(7))
	e := evaluated(t, 7)
	logits := dense.New(dense.WithShape(2, 2), dense.WithBacking([]float32{2, -1, 3, -.5}))
	prob := dense.New(dense.WithShape(2, 2), dense.WithBacking([]float32{.88, .27, .95, .38}))
	e.Scores = &train.Scores{Index: []int{0, 1}, Logits: logits, Prob: prob}
	o.Evaluated(e)
	must(t, b.Close())
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
