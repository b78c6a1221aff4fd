//go:build !amd64 || noasm

package simd

func (l Level) maxWindows(dst, upper, lower []float32, channels, count int) {
	maxWindowsGeneric(dst, upper, lower, channels, count)
}

func (l Level) scatterWindows(s *WindowScatter, channels, count int) {
	scatterWindowsGeneric(s, channels, count)
}

func (l Level) meanWindows(dst, upper, lower []float32, channels, count int) {
	meanWindowsGeneric(dst, upper, lower, channels, count)
}

func (l Level) spreadWindows(dUpper, dLower, grad []float32, channels, count int) {
	spreadWindowsGeneric(dUpper, dLower, grad, channels, count)
}
