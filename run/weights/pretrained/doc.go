// Package pretrained is for programs that start from weights that others have published. It lists such files and
// finds the ones that were downloaded; package download brings them.
package pretrained
