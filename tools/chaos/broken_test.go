//go:build linux && (amd64 || arm64)

package main

import (
	"go/parser"
	"go/token"
	"testing"
)

// The code changes over time. A broken promise must still be a change of today's code, and valid Go.
func TestBrokenPromises_AreOfTheCodeOfToday(t *testing.T) {
	t.Chdir("../..")
	for _, b := range brokenPromises {
		source, err := b.change()
		if err != nil {
			t.Errorf("%s: %v", b.how, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), b.file, source, 0); err != nil {
			t.Errorf("%s: %v", b.how, err)
		}
		if len((&settings{only: b.only}).chosen()) == 0 {
			t.Errorf("%s: no scenario begins with %q", b.how, b.only)
		}
	}
}
