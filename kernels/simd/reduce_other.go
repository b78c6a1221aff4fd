//go:build !amd64 || noasm

package simd

func (l Level) reduceRows([]uint8, int, []uint8, int, *Reduction) bool { return false }

func (l Level) reduceColumns([]uint8, []uint8, int, []uint16) bool { return false }
