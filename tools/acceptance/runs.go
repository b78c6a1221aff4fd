package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// level is one of label noise, in the order of the bands of a check.
type level struct{ folder, title string }

var levels = []level{
	{"flips-0.3-0.1", "30 % missing and 10 % incorrect"},
	{"flips-0.4-0", "40 % missing"},
	{"flips-0-0.2", "20 % incorrect"},
	{"flips-0-0", "no noise"},
}

// The levels with other measurements than the rest.
const (
	onlyIncorrect = 2
	clean         = 3
)

// group are the arms of one level of noise and seed.
type group struct {
	dir   string
	arms  map[string]arm
	audit struct{ oof, noise judgement } // without noise there is nothing to find, and both are empty
}

// arm is the quality of an arm at the end, and after each epoch of its stage.
type arm struct {
	last   figures
	epochs map[int]figures
}

// figures are the figures of an evaluation, as nmn writes them.
type figures struct {
	Truth struct {
		AP          overall
		AtThreshold struct{ All struct{ OF1 *float64 } } `json:"at_threshold"`
		Brier       overall
		ECE         overall
	}
	Transition struct {
		Q01, Q10 overall // means of the noise model over words
		Q01Error overall `json:"q01_error"`
		Q10Error overall `json:"q10_error"`
	}
}

// overall is a figure over all words, stored together with figures of groups of words. It is nil if there is
// none.
type overall struct{ All *float64 }

// known is a figure, or NaN.
func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// judgement is the result of nmn audit --truth for two rankings.
type judgement struct {
	Truth struct {
		Posterior, Difference struct{ AP *float64 }
	}
}

func readGroup(folder, level, seed string) (*group, error) {
	dir := filepath.Join(folder, level, "seed-"+seed)
	g := &group{dir: dir, arms: map[string]arm{}}
	for _, name := range []string{"stage1", "baseline", "nmn-fi", "held-rates", "soft-labels"} {
		var result struct{ Evaluation figures }
		if err := readJSON(filepath.Join(dir, name, "result.json"), &result); err != nil {
			return nil, err
		}
		var epochs []struct {
			Epoch      int
			Evaluation figures
		}
		if err := readJSON(filepath.Join(dir, name, "epochs.json"), &epochs); err != nil {
			return nil, err
		}
		a := arm{last: result.Evaluation, epochs: map[int]figures{}}
		for _, e := range epochs {
			a.epochs[e.Epoch] = e.Evaluation
		}
		for _, epoch := range []int{early, late} {
			if _, ok := a.epochs[epoch]; !ok && name != "stage1" {
				return nil, fmt.Errorf("%s: no figures after epoch %d", filepath.Join(dir, name), epoch)
			}
		}
		g.arms[name] = a
	}
	if level == levels[clean].folder {
		return g, nil
	}
	if err := readJSON(filepath.Join(dir, "audit-oof.json"), &g.audit.oof); err != nil {
		return nil, err
	}
	return g, readJSON(filepath.Join(dir, "audit-noise.json"), &g.audit.noise)
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
