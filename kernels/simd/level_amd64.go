//go:build !noasm

package simd

import (
	"strings"

	"golang.org/x/sys/cpu"
)

// missing names the extensions that a level uses and that the processor lacks or the operating
// system does not save; empty when the level can run.
func missing(l Level) string {
	type extension struct {
		name string
		has  bool
	}
	// x/sys/cpu reports an AVX extension only where the operating system saves its registers.
	needs := []extension{}
	switch l {
	case AVX2:
		needs = []extension{{"AVX", cpu.X86.HasAVX}, {"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA}, {"BMI2", cpu.X86.HasBMI2}}
	case AVX512:
		needs = []extension{{"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA}, {"BMI2", cpu.X86.HasBMI2},
			{"AVX512F", cpu.X86.HasAVX512F}, {"AVX512VL", cpu.X86.HasAVX512VL},
			{"AVX512DQ", cpu.X86.HasAVX512DQ}, {"AVX512BW", cpu.X86.HasAVX512BW}}
	}
	var lacks []string
	for _, e := range needs {
		if !e.has {
			lacks = append(lacks, e.name)
		}
	}
	if lacks == nil {
		return ""
	}
	return "the processor or the operating system lacks " + strings.Join(lacks, ", ")
}
