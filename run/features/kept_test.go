package runfeatures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/text"
)

// fakeNet gives each bag the rows (10·bag+shift) and (bag, bag+1), but for those that cannot be read.
type fakeNet struct {
	shift float32
	bad   []int
	stop  int // ends before this bag; 0 for never
	cause func() error
	asked []string // identifiers of all bags that it was asked for
}

func (n *fakeNet) Width(layer model.Layer) (int, error) {
	return map[model.Layer]int{"one": 1, "two": 2}[layer], nil
}

func (n *fakeNet) Rows(ctx context.Context, set *loader.Set, _ loader.Config, _ []model.Layer,
	write func(bag int, rows [][]float32) error) (bad []loader.BadSample, err error) {
	for bag, id := range set.IDs {
		var i int
		if _, err := fmt.Sscan(id, &i); err != nil {
			return nil, err
		}
		if n.asked = append(n.asked, id); n.stop > 0 && i == n.stop {
			return nil, n.cause()
		}
		if slices.Contains(n.bad, i) {
			bad = append(bad, loader.BadSample{Bag: bag, ID: id, Err: loader.ErrCorrupt})
			continue
		}
		v := float32(i)
		if err := write(bag, [][]float32{{10*v + n.shift}, {v, v + 1}}); err != nil {
			return nil, err
		}
	}
	if len(bad) == len(set.IDs) {
		return nil, loader.NoneUsable(set, loader.ErrCorrupt)
	}
	return bad, nil
}

// extraction is one of 2500 pictures into two files of a folder.
type extraction struct {
	t         *testing.T
	dir       string
	log, says bytes.Buffer
	leftOut   []int
}

func (e *extraction) run(ctx context.Context, net *fakeNet, about string) error {
	e.t.Helper()
	words, err := text.NewVocabulary([]text.Word{{Text: "x"}})
	expect.OK(e.t, err)
	ids := make([]string, 2500)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	e.says.Reset()
	x := &Extraction{Net: net, Set: dataset.Pictures(ids, words, 0), About: about, Loader: loader.Config{BatchSize: 16},
		Output: &Output{Layers: []model.Layer{"one", "two"},
			Outputs: []string{filepath.Join(e.dir, "a.npy"), filepath.Join(e.dir, "b.safetensors")},
			IDs:     filepath.Join(e.dir, "ids.txt")},
		LeftOut: func(bad []loader.BadSample, _ *loader.Set) {
			e.leftOut = nil
			for _, b := range bad {
				e.leftOut = append(e.leftOut, b.Bag)
			}
			slices.Sort(e.leftOut)
		},
		Log: slog.New(slog.NewTextHandler(&e.log, nil)), Notify: func(text string) { fmt.Fprintln(&e.says, text) }}
	_, err = x.Run(ctx)
	return err
}

// files returns the files of the folder, hidden ones and folders too.
func (e *extraction) files() map[string]string {
	e.t.Helper()
	entries, err := os.ReadDir(e.dir)
	expect.OK(e.t, err)
	files := map[string]string{}
	for _, entry := range entries {
		content, _ := os.ReadFile(filepath.Join(e.dir, entry.Name()))
		files[entry.Name()] = string(content)
	}
	return files
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s differs from that of an extraction in one piece", name)
		}
	}
}

func TestExtraction_GoesOnAfterAnInterruption(t *testing.T) {
	bad := []int{10, 1023, 1030, 2499}
	whole := &extraction{t: t, dir: t.TempDir()}
	if err := whole.run(t.Context(), &fakeNet{bad: bad}, "a"); err != nil || len(whole.files()) != 3 {
		t.Fatalf("files %d, %v", len(whole.files()), err)
	}
	died := errors.New("died")
	for name, test := range map[string]struct {
		cancelled bool
		stop      int
		again     *fakeNet
		about     string
		spoil     func(parts string)
		first     string // bag that the net is asked for when it goes on
		asked     int
		says, log string
	}{
		"cancelled": {cancelled: true, stop: 1500, again: &fakeNet{bad: bad}, about: "a", first: "1488",
			asked: 12 + 1000 + 3, says: "going on from 1500 of 2500 pictures"},
		"killed": {stop: 2400, again: &fakeNet{bad: bad}, about: "a", first: "2048", asked: 3 + 449 + 3,
			says: "going on from 2051 of 2500 pictures"},
		"killed early":       {stop: 900, again: &fakeNet{bad: bad}, about: "a", first: "0", asked: 2500},
		"killed at the end":  {cancelled: true, stop: 2499, again: &fakeNet{bad: bad}, about: "a", first: "2496", asked: 4 + 3},
		"of other pictures":  {stop: 2400, again: &fakeNet{bad: bad}, about: "b", first: "0", asked: 2500, log: "other pictures"},
		"a mended picture":   {stop: 2400, again: &fakeNet{bad: bad[1:]}, about: "a", first: "2048", asked: 3 + 449 + 1 + 2500, log: "differ"},
		"the last one broke": {stop: 2400, again: &fakeNet{bad: append(bad, 2050)}, about: "a", first: "2048", asked: 4 + 2500, log: "differ"},
		"another net":        {stop: 2400, again: &fakeNet{bad: bad, shift: 1}, about: "a", first: "2048", asked: 3 + 2500, log: "differ"},
		"a part is cut": {stop: 2400, again: &fakeNet{bad: bad}, about: "a", first: "0", asked: 2500, log: "cannot be used",
			spoil: func(parts string) { expect.OK(t, os.Truncate(filepath.Join(parts, "000000001026.safetensors"), 999)) }},
		"a part is gone": {stop: 2400, again: &fakeNet{bad: bad}, about: "a", first: "0", asked: 2500, log: "cannot be used",
			spoil: func(parts string) { expect.OK(t, os.Remove(filepath.Join(parts, "000000000000.safetensors"))) }},
	} {
		t.Run(name, func(t *testing.T) {
			e := &extraction{t: t, dir: t.TempDir()}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cause := func() error { return died }
			if test.cancelled {
				cause = func() error { cancel(); return ctx.Err() }
			}
			if err := e.run(ctx, &fakeNet{bad: bad, stop: test.stop, cause: cause}, "a"); err == nil {
				t.Fatal("it was not interrupted")
			}
			if test.cancelled && !strings.Contains(e.says.String(), fmt.Sprintf("%d of 2500 pictures are done", test.stop)) {
				t.Errorf("it said %q", e.says.String())
			}
			parts := filepath.Join(e.dir, ".a.npy.parts")
			if test.spoil != nil {
				test.spoil(parts)
			}
			expect.OK(t, e.run(t.Context(), test.again, test.about))
			asked := test.again.asked
			if asked[0] != test.first || test.asked > 0 && len(asked) != test.asked {
				t.Errorf("%d bags were extracted from bag %s on, want %d from %s", len(asked), asked[0], test.asked, test.first)
			}
			if !strings.Contains(e.says.String(), test.says) || !strings.Contains(e.log.String(), test.log) ||
				test.log == "" && e.log.Len() > 0 {
				t.Errorf("it said %q and logged %q, want %q and %q", e.says.String(), e.log.String(), test.says, test.log)
			}
			want := whole
			if !slices.Equal(test.again.bad, bad) || test.again.shift != 0 {
				want = &extraction{t: t, dir: t.TempDir()}
				expect.OK(t, want.run(t.Context(), &fakeNet{bad: test.again.bad, shift: test.again.shift}, "a"))
			}
			sameFiles(t, e.files(), want.files())
			if !slices.Equal(e.leftOut, want.leftOut) {
				t.Errorf("bags %v are left out, want %v", e.leftOut, want.leftOut)
			}
		})
	}
}

// While one process keeps rows, another one does without. A folder that cannot be made costs the rows, not the files.
func TestExtraction_DoesWithoutAFolderOfItsOwn(t *testing.T) {
	for name, take := range map[string]func(e *extraction) (release func() error){
		"another process": func(e *extraction) func() error {
			k, err := keepRows(t.Context(), filepath.Join(e.dir, "a.npy"), "a", []int{1, 2}, slog.New(slog.DiscardHandler))
			expect.OK(t, err)
			expect.OK(t, k.lock(t.Context()))
			return k.remove
		},
		"a file": func(e *extraction) func() error {
			path := filepath.Join(e.dir, ".a.npy.parts")
			expect.OK(t, os.WriteFile(path, nil, 0o666))
			return func() error { return os.Remove(path) }
		},
	} {
		e := &extraction{t: t, dir: t.TempDir()}
		release := take(e)
		if err := e.run(t.Context(), &fakeNet{}, "a"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		expect.OK(t, release())
		if files := e.files(); len(files) != 3 {
			t.Errorf("%s: %d files stay", name, len(files))
		}
	}
}
