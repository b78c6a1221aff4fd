package neon

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var wordLine = regexp.MustCompile(`(?m)^\tWORD \$0x([0-9a-f]{8}) // (.*)$`)

// written returns the instructions that the kernels have as words, by their text.
func written(t *testing.T) map[string]uint32 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kernels")
	if err := Write(path); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path + ".s")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]uint32{}
	for _, m := range wordLine.FindAllStringSubmatch(string(source), -1) {
		word, err := strconv.ParseUint(m[1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		words[m[2]] = uint32(word)
	}
	return words
}

// TestWords_AreTheInstructionsOfTheirComments gives every comment to LLVM's assembler.
func TestWords_AreTheInstructionsOfTheirComments(t *testing.T) {
	assembler, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("llvm-mc is not installed (Debian package llvm): words are not compared")
	}
	words := written(t)
	if len(words) < 10 {
		t.Fatalf("%d words", len(words))
	}
	var texts []string
	for text := range words {
		texts = append(texts, text)
	}
	assemble := exec.Command(assembler, "-triple=aarch64", "-show-encoding")
	assemble.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	var messages strings.Builder
	assemble.Stderr = &messages
	out, err := assemble.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	encodings := regexp.MustCompile(`encoding: \[0x(..),0x(..),0x(..),0x(..)\]`).FindAllStringSubmatch(string(out), -1)
	if len(encodings) != len(texts) {
		t.Fatalf("%d encodings of %d instructions:\n%s", len(encodings), len(texts), out)
	}
	for i, e := range encodings {
		want, err := strconv.ParseUint(e[4]+e[3]+e[2]+e[1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		if got := words[texts[i]]; got != uint32(want) {
			t.Errorf("%s is written as %#08x, LLVM assembles %#08x", texts[i], got, want)
		}
	}
}

func TestInstruction_WrongOperandsPanic(t *testing.T) {
	for _, operands := range [][]any{{vector(0)}, {vector(0), vector(1), 2},
		{vector(0), vector(1), register(2)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("fadd.4s of %v: written", operands)
				}
			}()
			(&kernel{file: &file{}}).v("fadd.4s", operands...)
		}()
	}
}

// TestLay_PlacesParametersAsTheCompiler: results begin at a word and have vet's names.
func TestLay_PlacesParametersAsTheCompiler(t *testing.T) {
	f := &file{}
	f.function("f", "func(a float32, n uint32, b *float32, c [3]uint32) (int, [2]float64)", func(k *kernel) {
		for name, want := range map[string]string{"n": "n+4(FP)", "b": "b+8(FP)", "c": "c+16(FP)", "ret": "ret+32(FP)",
			"ret1": "ret1+40(FP)"} {
			if got := k.memory(name); got != want {
				t.Errorf("%s is at %s, want %s", name, got, want)
			}
		}
	})
	if !strings.Contains(f.code.String(), "$0-56") {
		t.Errorf("frame of %s", f.code.String())
	}
}
