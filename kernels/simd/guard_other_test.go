//go:build !linux && !darwin && !freebsd

package simd

import "testing"

// fenced returns n values. Memory that faults beyond them exists only on Unix.
func fenced(_ testing.TB, n int) []float32 { return make([]float32, n) }

// fencedFront returns n bytes.
func fencedFront(_ testing.TB, n int) []uint8 { return make([]uint8, n) }
