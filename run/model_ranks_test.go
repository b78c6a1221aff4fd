package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/group"
	"nmn/group/local/localtest"
	"nmn/loader"
	"nmn/model"
	"nmn/run"
)

// onRanks calls work for each of n ranks with a folder of its own, and returns the folders and the errors.
func onRanks(t *testing.T, n int, work func(g group.Group, dir string) error) (dirs []string, errs []error) {
	t.Helper()
	for range n {
		dirs = append(dirs, t.TempDir())
	}
	return dirs, localtest.Run(n, func(g group.Group) error { return work(g, dirs[g.Rank()]) })
}

// contents are the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(content)
	}
	return all
}

// sameFiles checks that rank 0 has written what one process writes, and the others nothing.
func sameFiles(t *testing.T, dirs []string, want map[string]string) {
	t.Helper()
	for rank, dir := range dirs {
		got := contents(t, dir)
		if rank > 0 && len(got) > 0 {
			t.Errorf("rank %d of %d has written %d files", rank, len(dirs), len(got))
		}
		for name := range want {
			if rank == 0 && (got[name] != want[name] || len(want[name]) == 0) {
				t.Errorf("%d ranks: %s, of %d bytes, is not that of one process, of %d", len(dirs), name,
					len(got[name]), len(want[name]))
			}
		}
	}
}

// modelOf leaves a small model in a folder.
func modelOf(t *testing.T, config run.Config) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	session, err := run.Open(t.Context(), config, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Train(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// album are pictures, of which some cannot be read.
func album(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range 23 {
		var b bytes.Buffer
		picture := image.NewGray(image.Rect(0, 0, 40+i, 64-i))
		for p := range picture.Pix {
			picture.SetGray(p%(40+i), p/(40+i), color.Gray{uint8(p * (i + 1))})
		}
		if err := png.Encode(&b, picture); err != nil {
			t.Fatal(err)
		}
		content := b.Bytes()
		if i%7 == 3 {
			content = content[:len(content)/2]
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.png", i)), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// user is what somebody does with a model who writes down all that it says.
type user struct {
	model    *run.Model
	dir      string
	pictures string
	progress func(done, of int)
	leftOut  bytes.Buffer
}

// reading writes down what is left out.
func (u *user) reading() run.Reading {
	r := run.DefaultReading()
	r.Batch = 4
	r.LeftOut = func(bad []loader.BadSample, _ *loader.Set) {
		for _, b := range bad {
			fmt.Fprintln(&u.leftOut, b.Bag, b.ID, b.Err)
		}
	}
	return r
}

func (u *user) path(name string) string { return filepath.Join(u.dir, name) }

func (u *user) extract(ctx context.Context) error {
	o := run.DefaultExtractOptions()
	o.Reading = u.reading()
	o.Layers = []model.Layer{model.Pool5, model.FC7, model.Probabilities}
	o.Outputs = []string{u.path("pool5.npy"), u.path("fc7.safetensors"), u.path("p.npy")}
	o.IDs, o.Progress = u.path("ids.txt"), u.progress
	_, err := u.model.Extract(ctx, []string{u.pictures}, o)
	return err
}

func (u *user) extractSplit(ctx context.Context) error {
	o := run.DefaultExtractOptions()
	o.Reading, o.Split = u.reading(), "test"
	o.Outputs, o.Labels, o.Truth = []string{u.path("x.npy")}, u.path("y.csv"), u.path("t.csv")
	_, err := u.model.Extract(ctx, nil, o)
	return err
}

// predict writes the predictions on rank 0, as commands do.
func (u *user) predict(ctx context.Context, write bool) error {
	o := run.DefaultPredictOptions()
	o.Reading = u.reading()
	p, err := u.model.Predict(ctx, []string{u.pictures}, o)
	if err != nil || !write {
		return err
	}
	var csv, lines bytes.Buffer
	if err := p.WriteTable(&csv); err != nil {
		return err
	}
	for id, words := range p.All() {
		if err := json.NewEncoder(&lines).Encode(map[string]any{id: words}); err != nil {
			return err
		}
	}
	return errors.Join(os.WriteFile(u.path("p.csv"), csv.Bytes(), 0o666),
		os.WriteFile(u.path("p.jsonl"), lines.Bytes(), 0o666))
}

func (u *user) evaluate(ctx context.Context, write bool) error {
	result, err := u.model.Evaluate(ctx, run.DefaultEvaluateOptions())
	if err != nil || !write {
		return err
	}
	measures, err := json.Marshal(result)
	return errors.Join(err, os.WriteFile(u.path("measures.json"), measures, 0o666))
}

func TestModel_OnRanksWritesWhatOneProcessWrites(t *testing.T) {
	config := small()
	config.Arm, config.Run.Threads = "nmn-fd", 1
	dir, pictures := modelOf(t, config), album(t)
	work := func(g group.Group, out string) (err error) {
		m, err := run.OpenModel(t.Context(), dir, run.ModelOptions{Group: g, Run: run.Resources{Device: "cpu", Threads: 1}})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		u := user{model: m, dir: out, pictures: pictures}
		write := g == nil || g.Rank() == 0
		for _, step := range []error{u.extract(t.Context()), u.extractSplit(t.Context()), u.predict(t.Context(), write),
			u.evaluate(t.Context(), write)} {
			if step != nil {
				return step
			}
		}
		if !write {
			return nil
		}
		return os.WriteFile(u.path("left-out"), u.leftOut.Bytes(), 0o666)
	}
	alone := t.TempDir()
	if err := work(nil, alone); err != nil {
		t.Fatal(err)
	}
	want := contents(t, alone)
	if len(want) != 11 {
		t.Fatalf("%d files", len(want))
	}
	for n := 1; n <= 4; n++ {
		dirs, errs := onRanks(t, n, work)
		for rank, err := range errs {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, n, err)
			}
		}
		sameFiles(t, dirs, want)
	}
}

// Rows of ragged clips, and of their frames with what they are the frames of.
func TestExtract_OfClipsOnRanks(t *testing.T) {
	config, err := run.Preset(run.MovingScenesPreset, run.Quick)
	if err != nil {
		t.Fatal(err)
	}
	config.Data.TrainSize, config.Data.ValidationSize, config.Data.TestSize, config.Data.Frames = 24, 8, 13, 4
	config.Net.Width, config.Net.MIL, config.Train.Stage1Epochs, config.Arm = .5, true, 1, "stage1"
	config.Run.Device, config.Run.Threads = "cpu", 1
	dir := modelOf(t, config)
	work := func(g group.Group, out string) (err error) {
		m, err := run.OpenModel(t.Context(), dir, run.ModelOptions{Group: g, Run: run.Resources{Device: "cpu", Threads: 1}})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		for _, perFrame := range []bool{false, true} {
			o := run.DefaultExtractOptions()
			o.Batch, o.Split, o.PerFrame = 3, "test", perFrame
			o.Outputs = []string{filepath.Join(out, fmt.Sprintf("x%t.npy", perFrame))}
			if o.IDs = filepath.Join(out, fmt.Sprintf("ids%t.txt", perFrame)); perFrame {
				o.Clips = filepath.Join(out, "clips.csv")
			}
			if _, err := m.Extract(t.Context(), nil, o); err != nil {
				return err
			}
		}
		return nil
	}
	alone := t.TempDir()
	if err := work(nil, alone); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3} {
		dirs, errs := onRanks(t, n, work)
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
		sameFiles(t, dirs, contents(t, alone))
	}
}

// What is wrong on one rank ends all, and leaves no file.
func TestExtract_WrongOnOneRank(t *testing.T) {
	config := small()
	config.Arm, config.Run.Threads = "stage1", 1
	dir, pictures, others := modelOf(t, config), album(t), album(t)
	if err := os.Remove(filepath.Join(others, "00.png")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   func(rank int, u *user, cancel func()) // what is wrong
		want string                                 // on the other ranks
	}{
		"other pictures": {func(rank int, u *user, _ func()) {
			if rank == 1 {
				u.pictures = others
			}
		}, "rank 1 (goroutine 1) has found 22 bags"},
		"no pictures": {func(rank int, u *user, _ func()) {
			if rank == 1 {
				u.pictures += "-elsewhere"
			}
		}, "rank 1 (goroutine 1): "},
		"no room": {func(_ int, u *user, _ func()) { u.dir += "/nowhere" }, "rank 0 (goroutine 0): "},
		"an interrupt": {func(_ int, u *user, cancel func()) {
			u.progress = func(done, _ int) {
				if done == 6 {
					cancel()
				}
			}
		}, "rank 0 (goroutine 0): context canceled"},
	} {
		dirs, errs := onRanks(t, 3, func(g group.Group, out string) (err error) {
			m, err := run.OpenModel(t.Context(), dir, run.ModelOptions{Group: g,
				Run: run.Resources{Device: "cpu", Threads: 1}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, m.Close()) }()
			u := user{model: m, dir: out, pictures: pictures}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.of(g.Rank(), &u, cancel)
			return u.extract(ctx)
		})
		if err := errs[2]; err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: rank 2: %v, want %q", name, err, c.want)
		}
		for rank, err := range errs {
			if err == nil || !run.Told(err) || len(contents(t, dirs[rank])) > 0 {
				t.Errorf("%s: rank %d: %v, and files %v", name, rank, err, contents(t, dirs[rank]))
			}
		}
	}
}
