package simd

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Environment is the variable that forces a level: generic, neon, avx2 or avx512. Empty or unset means
// the best one.
const Environment = "NMN_SIMD"

// ErrLevel is wrapped by errors about levels that do not exist or cannot run here.
var ErrLevel = errors.New("no such SIMD level here")

// Level is an instruction set that the kernels are written for.
type Level uint8

// Levels, in ascending order of speed.
const (
	Generic Level = iota // Go code, on every processor
	NEON                 // arm64: 128-bit vectors with fused multiply-add
	AVX2                 // amd64: 256-bit vectors with fused multiply-add (AVX2, FMA, BMI2)
	AVX512               // amd64: 512-bit vectors (AVX512 F, VL, DQ and BW)
)

var (
	levelNames     = [...]string{"generic", "neon", "avx2", "avx512"}
	levelProcessor = [...]string{NEON: "arm64", AVX2: "amd64", AVX512: "amd64"}
)

// String returns the name as the environment variable has it.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// Levels returns the levels that this build can run on this machine, in ascending order. The first is
// Generic.
func Levels() []Level {
	levels := []Level{Generic}
	for _, l := range []Level{NEON, AVX2, AVX512} {
		if missing(l) == "" {
			levels = append(levels, l)
		}
	}
	return levels
}

// Detect returns the level that the environment variable forces, or the best one that can run.
func Detect() (Level, error) {
	level, err := Select(os.Getenv(Environment))
	if err != nil {
		return Generic, fmt.Errorf("environment %s: %w", Environment, err)
	}
	return level, nil
}

// missing returns the reason why a level cannot run, or nothing if it can.
func missing(l Level) string {
	if needs := levelProcessor[l]; l != Generic && needs != assembly {
		return fmt.Sprintf("this build holds no assembly for it (it needs %s and no tag noasm)", needs)
	}
	if lacks := extensionsMissing(l); lacks != nil {
		return "the processor or the operating system lacks " + strings.Join(lacks, ", ")
	}
	return ""
}

// Select returns the level of a name. The empty name is the best level that can run. A level that is unknown
// or cannot run here gives an error that wraps ErrLevel and names what is missing.
func Select(name string) (Level, error) {
	levels := Levels()
	if name == "" {
		return levels[len(levels)-1], nil
	}
	i := slices.Index(levelNames[:], name)
	if i < 0 {
		return Generic, fmt.Errorf("simd level %q is none of %s: %w", name, strings.Join(levelNames[:], ", "), ErrLevel)
	}
	level := Level(i)
	if reason := missing(level); reason != "" {
		return Generic, fmt.Errorf("simd level %s cannot run: %s; use one of %v: %w", level, reason, levels, ErrLevel)
	}
	return level, nil
}
