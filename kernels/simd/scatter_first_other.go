//go:build !amd64 || noasm

package simd

func (l Level) scatterFirst(s *FirstScatter, channels int) { scatterFirstGeneric(s, channels) }
