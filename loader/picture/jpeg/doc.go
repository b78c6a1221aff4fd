// Package jpeg decodes JPEG files into 8-bit RGB, fast enough for a loader that reads hundreds of photographs
// a second.
//
// It supports the kinds of files that photographs use: baseline, extended and progressive files of 8 bits,
// grey, YCbCr or RGB, at any whole subsampling of chroma, with restart intervals. Its pixels equal the output of
// libjpeg with its default settings, bit for bit: the accurate integer inverse DCT, chroma interpolated
// linearly ("fancy upsampling"), and the colour matrix of JFIF in 16-bit fixed point. Other kinds (four
// components, arithmetic coding, 12 bits, lossless) return ErrUnsupported.
//
// A scan is read in these steps. Its bytes are copied once without the stuffing after 0xff, so the bit reader
// takes eight bytes at a time and looks for no marker. One look-up finds code and value together if they are
// short, as nearly all are. Rows of blocks go through the inverse DCT into planes, and rows of planes through
// interpolation and colour matrix into the picture; package simd has those loops.
//
// A Decoder keeps its memory: further pictures of a known size need no allocation.
package jpeg
