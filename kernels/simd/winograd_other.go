//go:build !amd64 || noasm

package simd

func (l Level) winogradInput(dst, src *Matrix, channels int) {
	transformGeneric(inputLine, 6, 6, dst, src, channels, false)
}

func (l Level) winogradFilter(dst, src *Matrix, channels int) {
	transformGeneric(filterLine, 6, 3, dst, src, channels, false)
}

func (l Level) winogradGradient(dst, src *Matrix, channels int) {
	transformGeneric(gradientLine, 6, 4, dst, src, channels, false)
}

func (l Level) winogradFilterGradient(dst, src *Matrix, channels int, load bool) {
	transformGeneric(filterGradientLine, 3, 6, dst, src, channels, load)
}

func (l Level) winogradOutput(o *WinogradOutput) { winogradOutputGeneric(o) }

func (l Level) winogradDataGradient(o *WinogradOutput) { winogradDataGradientGeneric(o) }
