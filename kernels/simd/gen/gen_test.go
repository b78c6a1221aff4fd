package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCommittedAssembly_IsWhatIsGenerated runs the generator into another folder. The first line of the
// files names that folder and is left out.
func TestCommittedAssembly_IsWhatIsGenerated(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", ".", "-dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"kernels_amd64.s", "kernels_amd64.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(afterFirstLine(got), afterFirstLine(want)) {
			t.Errorf("%s is not what the generator writes: run go -C kernels/simd/gen run .", name)
		}
	}
}

func afterFirstLine(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return rest
}
