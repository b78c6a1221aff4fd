package picture

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// progressiveInks is a progressive JPEG of 16×16 pixels and four inks; the first ink has the given number of
// scans that change nothing. Such files are left to image/jpeg, which sets no limit.
func progressiveInks(scans int) []byte {
	data := []byte{0xff, 0xd8}
	segment := func(marker byte, body ...byte) {
		length := len(body) + 2
		data = append(append(data, 0xff, marker, byte(length>>8), byte(length)), body...)
	}
	segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)               // quantisation
	segment(0xc2, 8, 0, 16, 0, 16, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0) // frame
	segment(0xc4, append(append([]byte{0x00, 1}, make([]byte, 15)...), 0)...)         // one code: no change
	segment(0xda, append([]byte{4}, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0, 0)...)              // all inks
	data = append(data, 0x00, 0x00)                                                   // 16 blocks
	for range scans - 1 {
		segment(0xda, 1, 1, 0, 0, 0, 0)
		data = append(data, 0x0f) // 4 blocks
	}
	return append(data, 0xff, 0xd9)
}

// A file of 10 bytes for each scan must not cost the time of thousands of pictures.
func TestDecode_ScansAreLimited(t *testing.T) {
	if err := Decode(progressiveInks(256), new(Picture)); err != nil {
		t.Errorf("256 scans: %v", err)
	}
	err := Decode(progressiveInks(257), new(Picture))
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "more than 256 scans") {
		t.Errorf("257 scans: %v", err)
	}
}
