package run_test

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
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels/rates/crossfit"
	"nmn/ranks"
	"nmn/ranks/local/localtest"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/document"
)

// withSiblings is a manifest of 24 pictures of random patches; the first four have a sibling each, larger, encoded
// anew and with a narrow border cut off. One more file is no picture.
func withSiblings(t *testing.T) run.Config {
	t.Helper()
	dir, list := t.TempDir(), "path,labels,split\n"
	write := func(name string, number int, file []byte) {
		list += fmt.Sprintf("%s,word%d,train\n", name, number%2)
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), file, 0o666))
	}
	for i := range 24 {
		write(fmt.Sprintf("%02d.jpg", i), i, patches(t, i, 96, 0, 90))
		if i < 4 {
			write(fmt.Sprintf("%02d-again.jpg", i), i+1, patches(t, i, 180, 1, 60))
		}
	}
	write("broken.jpg", 0, []byte("no picture"))
	manifest := filepath.Join(dir, "list.csv")
	expect.OK(t, os.WriteFile(manifest, []byte(list), 0o666))
	var c run.Config
	given, err := document.ParseSettings("data.manifest="+manifest, "data.max_bad_samples=1", "net.width=.5",
		"run.device=cpu", "run.threads=1", "recipe.form=estimate", "noise_rates=folds:2", "recipe.fold_epochs=1")
	expect.OK(t, err)
	err = run.Sources{Preset: run.ScenesPreset, Settings: given}.Resolve(&c)
	expect.OK(t, err)
	return c
}

// patches is a JPEG file of 12×12 random patches without a border of some pixels.
func patches(t *testing.T, number, side, border, quality int) []byte {
	t.Helper()
	stream, img := rng.New(uint64(number)), image.NewRGBA(image.Rect(0, 0, side, side))
	var colours [144]color.RGBA
	for i := range colours {
		colours[i] = color.RGBA{uint8(stream.Intn(256)), uint8(stream.Intn(256)), uint8(stream.Intn(256)), 255}
	}
	for i := range side * side {
		x, y := i%side, i/side
		img.SetRGBA(x, y, colours[y*12/side*12+x*12/side])
	}
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, img.SubImage(img.Rect.Inset(border)), &jpeg.Options{Quality: quality}))
	return b.Bytes()
}

// estimate trains the nets of folds in a folder, and returns the plan file and the messages about folds.
func estimate(ctx context.Context, c run.Config, g ranks.Group, dir string) (plan string, said []string, err error) {
	s, err := run.Open(ctx, c, run.Options{Group: g, Observer: run.Observer{Message: func(m run.Message) {
		if m.Topic == "folds" {
			said = append(said, m.Text)
		}
	}}})
	if err != nil {
		return "", nil, err
	}
	defer s.Close()
	if err := s.Recipe(dir).Estimate(ctx); err != nil {
		return "", said, err
	}
	file, err := os.ReadFile(filepath.Join(dir, recipe.FoldsFile))
	return string(file), said, err
}

func TestFolds_SiblingsAreInOne(t *testing.T) {
	t.Parallel()
	c, dir := withSiblings(t), t.TempDir()
	file, said, err := estimate(t.Context(), c, nil, dir)
	expect.OK(t, err)
	plan, err := crossfit.Read(strings.NewReader(file), "plan")
	if err != nil || plan.Groups != 4 || plan.Grouped != 8 || len(plan.IDs) != 28 {
		t.Fatalf("the plan has %d groups of %d bags, of %d: %v", plan.Groups, plan.Grouped, len(plan.IDs), err)
	}
	folds := map[string]int{}
	for i, id := range plan.IDs {
		folds[strings.TrimSuffix(id, ".jpg")] = plan.Fold[i]
	}
	for i := range 4 {
		if a, b := fmt.Sprintf("%02d", i), fmt.Sprintf("%02d-again", i); folds[a] != folds[b] {
			t.Errorf("%s is in fold %d, %s in fold %d", a, folds[a], b, folds[b])
		}
	}
	want := "looks for near-duplicates among 28 pictures; 8 of 28 pictures are near-duplicates of others, in groups: 4. " +
		"Each group stays in one fold"
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("it was said: %s; want %s", got, want)
	}
	if again, said, err := estimate(t.Context(), c, nil, dir); err != nil || again != file || len(said) > 0 {
		t.Errorf("a folder that has a plan: another plan, or %q was said: %v", said, err)
	}
	together := t.TempDir()
	localtest.Check(t, 3, "folds", func(g ranks.Group) error {
		got, _, err := estimate(t.Context(), c, g, together)
		if err == nil && got != file {
			err = errors.New("another plan: " + got)
		}
		return err
	})
}

func TestFolds_AreInterruptedWhileTheyLook(t *testing.T) {
	c, dir := withSiblings(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := expect.Value(run.Open(ctx, c, run.Options{Observer: run.Observer{Message: func(m run.Message) {
		if m.Topic == "folds" {
			cancel()
		}
	}}}))(t)
	defer s.Close()
	if err := s.Recipe(dir).Estimate(ctx); !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, recipe.FoldsFile)); err == nil {
		t.Error("there is a plan")
	}
}
