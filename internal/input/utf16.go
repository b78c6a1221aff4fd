package input

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF8 reads UTF-16, as spreadsheets write it, as UTF-8. Any other text is returned as it is.
func UTF8(text *bufio.Reader) *bufio.Reader {
	start, _ := text.Peek(4)
	order := utf16Order(start)
	if order == nil {
		return text
	}
	return bufio.NewReaderSize(&utf16Reader{text: text, order: order}, text.Size())
}

// SkipMark drops the byte order mark with which some programs begin UTF-8.
func SkipMark(text *bufio.Reader) {
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = text.Discard(3) // cannot fail: the bytes are in the buffer
	}
}

// utf16Order finds UTF-16 by the first four bytes of a text: by its mark, or by the zeros of two ASCII characters.
func utf16Order(start []byte) binary.ByteOrder {
	var zero [4]bool
	for i, b := range start {
		zero[i] = b == 0
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe")) || len(start) == 4 && zero == [4]bool{false, true, false, true}:
		return binary.LittleEndian
	case bytes.HasPrefix(start, []byte("\xfe\xff")) || len(start) == 4 && zero == [4]bool{true, false, true, false}:
		return binary.BigEndian
	}
	return nil
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	text  io.Reader
	order binary.ByteOrder
	left  []byte // of a character
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(u.left) == 0 {
		char, err := u.unit()
		if err == nil && utf16.IsSurrogate(char) {
			var second rune
			second, err = u.unit()
			char = utf16.DecodeRune(char, second)
		}
		if err != nil {
			return 0, err
		}
		u.left = utf8.AppendRune(u.left, char)
	}
	n := copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}

// unit is a character, or half of one.
func (u *utf16Reader) unit() (rune, error) {
	var pair [2]byte
	_, err := io.ReadFull(u.text, pair[:])
	return rune(u.order.Uint16(pair[:])), err
}
