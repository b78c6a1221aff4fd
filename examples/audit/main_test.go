package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestExamine_FindsTheNoiseThatWasAdded(t *testing.T) {
	var out bytes.Buffer
	if err := examine(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"dog: 35 %", "cat: 33 %", "90 % are expected to be wrong", "is missing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}
