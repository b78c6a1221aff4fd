package crossfit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func bagNames(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("bag-%03d", i)
	}
	return ids
}

func plan(t *testing.T, n, folds int, seed uint64) *Plan {
	t.Helper()
	p, err := New(bagNames(n), folds, seed, nil)
	expect.OK(t, err)
	return p
}

func TestPlan_HoldsOutEveryBagOnce(t *testing.T) {
	p := plan(t, 103, 5, 7)
	seen := make([]int, 103)
	for fold := range p.Folds {
		out, in := p.HeldOut(fold), p.Training(fold)
		if len(out) != 20 && len(out) != 21 || len(out)+len(in) != 103 {
			t.Errorf("fold %d holds out %d bags and trains on %d", fold, len(out), len(in))
		}
		for _, bag := range out {
			seen[bag]++
		}
		for _, bag := range in {
			if p.Fold[bag] == fold {
				t.Errorf("fold %d trains on bag %d, which it holds out", fold, bag)
			}
		}
	}
	for bag, n := range seen {
		if n != 1 {
			t.Errorf("bag %d is held out %d times", bag, n)
		}
	}
}

func TestPlan_ComesBackFromItsFile(t *testing.T) {
	p := plan(t, 12, 3, 1<<63+5)
	p.IDs[2], p.IDs[3] = "cats & <dogs>.jpg", "a \"quoted\" <name>\nwith a line"
	path := filepath.Join(t.TempDir(), "folds.json")
	expect.OK(t, p.WriteFile(path))
	// The plan is meant to be read and searched: names are not escaped.
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"cats & <dogs>.jpg"`) {
		t.Errorf("%s, %v", text, err)
	}
	got, err := ReadFile(path)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v, want %+v", got, err, p)
	}
	if err := got.Matches(p.IDs); err != nil {
		t.Error(err)
	}
	other := append([]string{}, p.IDs...)
	other[2] = "other"
	if err := got.Matches(other); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), "sample 3") {
		t.Errorf("other bags: %v", err)
	}
	if err := got.Matches(other[:5]); !errors.Is(err, ErrPlan) {
		t.Errorf("fewer bags: %v", err)
	}
}

func TestNew_RefusesWhatCannotBeDealt(t *testing.T) {
	for name, call := range map[string]func() (*Plan, error){
		"one fold":    func() (*Plan, error) { return New(bagNames(5), 1, 1, nil) },
		"no folds":    func() (*Plan, error) { return New(bagNames(5), 0, 1, nil) },
		"few bags":    func() (*Plan, error) { return New(bagNames(3), 4, 1, nil) },
		"twice":       func() (*Plan, error) { return New([]string{"a", "b", "a"}, 2, 1, nil) },
		"not UTF-8":   func() (*Plan, error) { return New([]string{"a", "b\xff"}, 2, 1, nil) },
		"no bags":     func() (*Plan, error) { return New(nil, 2, 1, nil) },
		"many folds":  func() (*Plan, error) { return New(bagNames(2000), 1001, 1, nil) },
		"minus folds": func() (*Plan, error) { return New(bagNames(5), -2, 1, nil) },
	} {
		if _, err := call(); !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(bagNames(3), 4, 1, nil); !strings.Contains(err.Error(), "3 samples are too few for 4 folds") ||
		!strings.Contains(err.Error(), "fewer folds") {
		t.Errorf("fewer bags than folds: %v", err)
	}
}

// bad are files that no plan is.
var bad = map[string]string{
	"empty":        ``,
	"cut":          `{"format":"nmn folds 1","seed":1,"fol`,
	"other":        `{"format":"x","seed":1,"folds":2,"samples":[{"id":"a","fold":0},{"id":"b","fold":1}]}`,
	"unknown key":  `{"format":"nmn folds 1","seed":1,"folds":2,"bugs":[]}`,
	"fold":         `{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":0},{"id":"b","fold":2}]}`,
	"minus":        `{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":-1},{"id":"b","fold":1}]}`,
	"empty fold":   `{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":0},{"id":"b","fold":0}]}`,
	"twice":        `{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":0},{"id":"a","fold":1}]}`,
	"huge":         `{"format":"nmn folds 1","seed":1,"folds":1000000000000,"samples":[]}`,
	"two":          `{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":0},{"id":"b","fold":1}]} {}`,
	"fold of half": `{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":0.5},{"id":"b","fold":1}]}`,
}

func TestRead_RefusesDamagedFiles(t *testing.T) {
	for name, text := range bad {
		if p, err := Read(strings.NewReader(text), "folds.json"); !errors.Is(err, ErrPlan) ||
			!strings.HasPrefix(err.Error(), "folds.json: ") {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range bad {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"format":"nmn folds 1","seed":1,"folds":2,"samples":[{"id":"a","fold":0},{"id":"b","fold":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Read(bytes.NewReader(text), "folds.json")
		if err != nil {
			if !errors.Is(err, ErrPlan) {
				t.Errorf("%v wraps no ErrPlan", err)
			}
			return
		}
		path := filepath.Join(t.TempDir(), "folds.json")
		expect.OK(t, p.WriteFile(path))
		readBack, err := ReadFile(path)
		if err != nil || len(readBack.IDs) != len(p.IDs) || !reflect.DeepEqual(readBack.Fold, p.Fold) {
			t.Errorf("%+v comes back as %+v, %v", p, readBack, err)
		}
		os.Remove(path)
	})
}
