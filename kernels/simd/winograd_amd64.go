//go:build !noasm

package simd

func (l Level) winogradInput(dst, src *Matrix, channels int) {
	switch l {
	case AVX512:
		winogradInputAVX512(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	case AVX2:
		winogradInputAVX2(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	default:
		transformGeneric(inputLine, 6, 6, dst, src, channels, false)
	}
}

func (l Level) winogradFilter(dst, src *Matrix, channels int) {
	switch l {
	case AVX512:
		winogradFilterAVX512(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	case AVX2:
		winogradFilterAVX2(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	default:
		transformGeneric(filterLine, 6, 3, dst, src, channels, false)
	}
}

func (l Level) winogradGradient(dst, src *Matrix, channels int) {
	switch l {
	case AVX512:
		winogradGradientAVX512(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	case AVX2:
		winogradGradientAVX2(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels)
	default:
		transformGeneric(gradientLine, 6, 4, dst, src, channels, false)
	}
}

func (l Level) winogradFilterGradient(dst, src *Matrix, channels int, load bool) {
	flags := flagLoad * bit(load)
	switch l {
	case AVX512:
		winogradFilterGradientAVX512(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels, flags)
	case AVX2:
		winogradFilterGradientAVX2(at(dst.Data), dst.Row, dst.Column, at(src.Data), src.Row, src.Column, channels, flags)
	default:
		transformGeneric(filterGradientLine, 3, 6, dst, src, channels, load)
	}
}

func (l Level) winogradOutput(o *WinogradOutput) {
	flags := flagReLU * bit(o.ReLU)
	switch l {
	case AVX512:
		winogradOutputAVX512(at(o.Dst.Data), o.Dst.Row, o.Dst.Column, at(o.Src.Data), o.Src.Row, o.Src.Column, o.Channels, o.Rows, o.Columns, at(o.Bias), flags)
	case AVX2:
		winogradOutputAVX2(at(o.Dst.Data), o.Dst.Row, o.Dst.Column, at(o.Src.Data), o.Src.Row, o.Src.Column, o.Channels, o.Rows, o.Columns, at(o.Bias), flags)
	default:
		winogradOutputGeneric(o)
	}
}

func (l Level) winogradDataGradient(o *WinogradOutput) {
	flags := flagLoad * bit(o.Load)
	switch l {
	case AVX512:
		winogradDataGradientAVX512(at(o.Dst.Data), o.Dst.Row, o.Dst.Column, at(o.Src.Data), o.Src.Row, o.Src.Column, o.Channels, o.Rows, o.Columns, at(o.Mask), flags)
	case AVX2:
		winogradDataGradientAVX2(at(o.Dst.Data), o.Dst.Row, o.Dst.Column, at(o.Src.Data), o.Src.Row, o.Src.Column, o.Channels, o.Rows, o.Columns, at(o.Mask), flags)
	default:
		winogradDataGradientGeneric(o)
	}
}
