package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestLearn_FindsTheSidesOfTheSquare(t *testing.T) {
	var out bytes.Buffer
	if err := learn(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"interrupted after an epoch\n", "held-rates: AP 0.",
		"corner 1: []\ncorner 2: [\"right\"]\ncorner 3: [\"above\"]\ncorner 4: [\"above\" \"right\"]\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}
