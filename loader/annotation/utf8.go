package annotation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// utf8Reader fails at the first byte that is not UTF-8, and names its line.
type utf8Reader struct {
	r     io.Reader
	line  int               // line of the next byte, from 1
	begun [utf8.UTFMax]byte // start of a character whose other bytes have not been read
	n     int               // bytes of begun
	fault error
}

func (u *utf8Reader) Read(p []byte) (int, error) {
	if u.fault != nil {
		return 0, u.fault
	}
	n, err := u.r.Read(p)
	valid := u.check(p[:n], errors.Is(err, io.EOF))
	if u.fault != nil {
		return valid, u.fault
	}
	return n, err
}

// check notes a fault and returns how many bytes are before it. With end, a character that has begun must be whole.
func (u *utf8Reader) check(p []byte, end bool) int {
	at := 0
	for u.n > 0 && at < len(p) { // the rest of a character, byte by byte
		u.begun[u.n] = p[at]
		u.n++
		at++
		if r, size := utf8.DecodeRune(u.begun[:u.n]); r != utf8.RuneError || size > 1 {
			u.n = 0
		} else if utf8.FullRune(u.begun[:u.n]) {
			return u.fail(at - 1)
		}
	}
	if u.n > 0 && end {
		return u.fail(at)
	}
	if u.n > 0 {
		return at
	}
	whole := p[at:]
	if tail := unfinished(whole); tail > 0 && !end {
		u.n = copy(u.begun[:], whole[len(whole)-tail:])
		whole = whole[:len(whole)-tail]
	}
	if utf8.Valid(whole) {
		u.line += bytes.Count(whole, []byte("\n"))
		return len(p)
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(whole[i:])
		if r == utf8.RuneError && size <= 1 {
			u.line += bytes.Count(whole[:i], []byte("\n"))
			return u.fail(at + i)
		}
		i += size
	}
}

func (u *utf8Reader) fail(at int) int {
	u.fault = fmt.Errorf("line %d is not UTF-8: save the file in UTF-8", u.line)
	return at
}

// unfinished is the number of bytes at the end of p that begin a character and do not end it.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}
