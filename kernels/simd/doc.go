// Package simd holds the innermost loops of the CPU: matrix multiplication on packed panels and vector
// operations, in assembly for each instruction set and once in Go.
//
// A Level names an instruction set, and every operation is a method of it. Detect and Select return only
// levels that the processor, the operating system and the build can run: no other may be used. Results of one
// level are the same on every machine. Levels differ in the last bits, because some fuse multiplication and
// addition and some do not.
//
// The generator in the folder tools/simdgen, a module of its own, writes the assembly. "go generate" runs it.
// The build tag noasm leaves the assembly out.
//
// Lengths are checked before assembly runs. A slice that is too short panics: that is an error in the calling
// package, never an error of the user's input.
package simd

//go:generate go -C ../../tools/simdgen run .
