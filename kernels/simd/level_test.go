package simd

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestSelect_EveryLevelOfThisMachineByName(t *testing.T) {
	levels := Levels()
	if levels[0] != Generic {
		t.Fatalf("levels %v do not begin with generic", levels)
	}
	for _, want := range levels {
		if got, err := Select(want.String()); err != nil || got != want {
			t.Errorf("%s: got %v, %v", want, got, err)
		}
	}
	if got, err := Select(""); err != nil || got != levels[len(levels)-1] {
		t.Errorf("the best of %v: got %v, %v", levels, got, err)
	}
}

func TestSelect_RefusesWhatCannotRun(t *testing.T) {
	for _, name := range []string{"AVX2", "avx", "NEON", "0", " "} {
		_, err := Select(name)
		if !errors.Is(err, ErrLevel) || !strings.Contains(err.Error(), "generic, neon, avx2, avx512") {
			t.Errorf("%q: got %v", name, err)
		}
	}
	for _, l := range []Level{NEON, AVX2, AVX512} {
		if slices.Contains(Levels(), l) {
			continue
		}
		if _, err := Select(l.String()); !errors.Is(err, ErrLevel) || !strings.Contains(err.Error(), "lacks") &&
			!strings.Contains(err.Error(), "no assembly") {
			t.Errorf("%s: got %v", l, err)
		}
	}
}

func TestDetect_ReadsEnvironment(t *testing.T) {
	t.Setenv(Environment, "generic")
	if got, err := Detect(); err != nil || got != Generic {
		t.Errorf("generic: got %v, %v", got, err)
	}
	t.Setenv(Environment, "sse9")
	if _, err := Detect(); !errors.Is(err, ErrLevel) || !strings.Contains(err.Error(), Environment) {
		t.Errorf("unknown: got %v", err)
	}
	must := os.Unsetenv(Environment)
	if got, err := Detect(); must != nil || err != nil || got != Levels()[len(Levels())-1] {
		t.Errorf("unset: got %v, %v, %v", got, err, must)
	}
}

func TestLevel_UnknownNumberHasAName(t *testing.T) {
	if got := Level(9).String(); got != "level 9" {
		t.Errorf("got %q", got)
	}
}
