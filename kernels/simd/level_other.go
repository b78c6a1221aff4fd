//go:build (!amd64 && !arm64) || noasm

package simd

const assembly = ""

func extensionsMissing(Level) []string { return nil }

func assemble(*[AVX512 + 1]kernels) {}
