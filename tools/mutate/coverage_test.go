package main

import (
	"strings"
	"testing"
)

const profile = `mode: set
shop/till/till.go:3.20,5.10 2 1
shop/till/till.go:7.20,9.2 1 0
shop/till/shelf.go:1.1,9.9 4 0
`

func TestCoverage_OfPlaces(t *testing.T) {
	c, err := parseProfile([]byte(profile))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file         string
		line, column int
		want         bool
	}{
		{"till/till.go", 3, 20, true}, {"till/till.go", 4, 1, true}, {"till/till.go", 5, 10, true},
		{"till/till.go", 7, 20, false}, {"till/till.go", 9, 2, false}, {"till/shelf.go", 4, 1, false},
		{"till/till.go", 3, 19, true}, {"till/till.go", 6, 1, true}, // in no block: the expression of a case
	} {
		if got := c.ran(&mutant{file: &source{name: test.file}, line: test.line, column: test.column}); got != test.want {
			t.Errorf("%s:%d.%d: %v, want %v", test.file, test.line, test.column, got, test.want)
		}
	}
	if _, err := parseProfile([]byte("mode: set\nnonsense\n")); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error %v", err)
	}
}
