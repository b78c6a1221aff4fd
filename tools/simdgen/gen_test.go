package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommittedAssembly_IsWhatIsGenerated runs the generator into another folder. The first line of the
// files names that folder and is left out.
func TestCommittedAssembly_IsWhatIsGenerated(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", ".", "-dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"kernels_amd64.s", "kernels_amd64.go", "kernels_arm64.s", "kernels_arm64.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "kernels", "simd", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(afterFirstLine(got), afterFirstLine(want)) {
			t.Errorf("%s is not what the generator writes: run go -C tools/simdgen run .", name)
		}
	}
}

// TestAVX2_HasSixteenRegisters: the registers from 16 on need AVX-512, even in instructions of 256 bits.
func TestAVX2_HasSixteenRegisters(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "kernels", "simd", "kernels_amd64.s"))
	if err != nil {
		t.Fatal(err)
	}
	beyond := regexp.MustCompile(`\b[XYZ](1[6-9]|2\d|3[01])\b`)
	kernels := strings.Split(string(source), "\nTEXT ·")[1:]
	if len(kernels) == 0 {
		t.Fatal("no kernels")
	}
	for _, kernel := range kernels {
		name, body, _ := strings.Cut(kernel, "(")
		if register := beyond.FindString(body); register != "" && !strings.HasSuffix(name, "AVX512") {
			t.Errorf("%s uses %s", name, register)
		}
	}
}

func afterFirstLine(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return rest
}
