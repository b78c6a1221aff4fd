package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
		if register := beyond.FindString(body); register != "" && !strings.Contains(name, "AVX512") {
			t.Errorf("%s uses %s", name, register)
		}
	}
}

// TestBFloat16_IsWhatADisassemblerReads gives the bytes of every instruction that Go's assembler lacks to LLVM.
func TestBFloat16_IsWhatADisassemblerReads(t *testing.T) {
	disassembler, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed (Debian package llvm): bytes are not compared")
	}
	source, err := os.ReadFile(filepath.Join("..", "..", "kernels", "simd", "kernels_amd64.s"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\tLONG \$0x(..)(..)(..)(..); WORD \$0x(..)(..) // (\S+) Z(\d+), Z(\d+), Z(\d+)$`)
	var code, want []string
	for _, m := range line.FindAllStringSubmatch(string(source), -1) {
		for _, i := range []int{4, 3, 2, 1, 6, 5} {
			code = append(code, "0x"+m[i])
		}
		want = append(want, fmt.Sprintf("%s %%zmm%s, %%zmm%s, %%zmm%s", strings.ToLower(m[7]), m[8], m[9], m[10]))
	}
	if len(want) < 50 {
		t.Fatalf("%d instructions", len(want))
	}
	command := exec.Command(disassembler, "--disassemble", "-triple=x86_64")
	command.Stdin = strings.NewReader(strings.Join(code, " ") + "\n")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for text := range strings.Lines(string(out)) {
		if text = strings.Join(strings.Fields(text), " "); text != "" && text != ".text" {
			got = append(got, text)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("LLVM reads %d instructions %q, want %d %q", len(got), got, len(want), want)
	}
}

func afterFirstLine(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return rest
}
