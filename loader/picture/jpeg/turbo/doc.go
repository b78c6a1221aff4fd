// Package turbo decodes JPEG files by libjpeg-turbo, beside the decoder of package jpeg and with the same
// pixels: to compare with, and for hosts whose libjpeg-turbo is faster.
//
// The library, libturbojpeg.so.0, is opened when a Decoder is first made; a program starts without it.
// Builds with cgo and the tag turbo or cuda, on Linux, have the package; others say that they lack it.
package turbo
