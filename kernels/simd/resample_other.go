//go:build !amd64 || noasm

package simd

func (l Level) resampleRow([]uint32, []uint8, *Taps, int) int { return 0 }

func (l Level) blendRows([]uint8, []uint32, []uint32, uint32, int) int { return 0 }
