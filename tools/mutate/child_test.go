package main

import "testing"

// Tests that run their own binary as a program compare its output: counting their coverage must not add to
// it.
func TestMeasure_TestsThatRunThemselves(t *testing.T) {
	m, packages, err := openModule(t.Context(), files(t, map[string]string{"go.mod": "module shop\n\ngo 1.26\n",
		"till/till.go": "package till\n\nfunc open() bool { return true }\n", "till/till_test.go": `package till

import (
	"os"
	"os/exec"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("CHILD") != "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestQuiet(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "CHILD=1")
	if out, err := child.CombinedOutput(); err != nil || len(out) > 0 || !open() {
		t.Errorf("the child says %q, %v", out, err)
	}
}
`}), []string{"./till"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLaboratory(t.Context(), m, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if b, err := l.measure(t.Context(), packages[0]); err != nil || !b.covers.ran(m.mutants(packages[0])[0]) {
		t.Errorf("measured %+v, %v", b, err)
	}
}
