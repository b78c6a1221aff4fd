// Package jpeg decodes JPEG files into 8-bit RGB, for a loader that reads hundreds of photographs a second.
//
// It takes what photographs are: baseline, extended and progressive files of 8 bits, grey, YCbCr or RGB, at
// any whole subsampling of chroma, with restart intervals. Its pixels are those of libjpeg with its default
// settings, bit for bit: the accurate integer inverse DCT, chroma interpolated linearly ("fancy
// upsampling"), and the colour matrix of JFIF in 16-bit fixed point. What it does not take (four
// components, arithmetic coding, 12 bits, lossless) gives ErrUnsupported.
//
// How a scan is read: its bytes are copied once without what was stuffed after 0xff, so that the bit
// reader takes eight bytes at a time and looks for no marker; one look-up finds code and value together
// where they are short, as nearly all are. Rows of blocks go through the inverse DCT into planes, and rows
// of planes through interpolation and colour matrix into the picture; those loops are package simd's.
//
// A Decoder keeps its memory: pictures of a size seen before cost no allocation.
package jpeg
