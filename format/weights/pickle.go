package weights

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// A pickle is a program for a machine with a stack and a memo, which makes objects. This machine implements
// the instructions that make dictionaries of tensors and the few names in storageTypes and pickleCalls. They make
// only data. Every other instruction and name is an error with its position.

// Limits on hostile pickles. The state of a network with ten thousand tensors and their moments takes
// about 5 MB and 1.5 million values.
const (
	maxPickle = 64 << 20 // bytes
	maxValues = 2 << 20  // that are put onto the stack or into the memo
)

// Types of values on the stack other than nil, bool, int64, float64, string and []byte.
type (
	// tuple is immutable. list and dict are shared by all references to them.
	tuple []any
	list  struct{ items []any }
	dict  struct{ keys, values []any } // in order of insertion, keys perhaps repeated
	// global is a class or function by its name.
	global string
	// bigInt is an integer beyond int64, little-endian in two's complement.
	bigInt string
)

// unpickler runs a pickle. After the first error nothing more is read, pushed or taken, and values are zero; load
// returns that error.
type unpickler struct {
	r      *bufio.Reader
	at     int64 // of the next byte in its file, for messages
	left   int64 // bytes that may still be read
	values int   // that may still be made
	stack  []any
	marks  []int // heights of the stack
	memo   map[uint32]any
	err    error
	// storage answers persistent identifiers.
	storage func(id any) (any, error)
}

// newUnpickler reads a pickle that begins at a byte of its file and has at most size bytes.
func newUnpickler(r io.Reader, at, size int64, storage func(id any) (any, error)) *unpickler {
	return &unpickler{r: bufio.NewReader(r), at: at, left: min(size, maxPickle), values: maxValues, storage: storage}
}

// load runs the pickle up to its end and returns its object. Another pickle may follow in the file.
func (u *unpickler) load() (any, error) {
	u.stack, u.marks, u.memo = u.stack[:0], u.marks[:0], map[uint32]any{}
	for {
		at := u.at
		code := u.byte()
		switch run := pickleOperations[code]; {
		case u.err != nil:
		case code == pickleStop && len(u.stack) == 1 && len(u.marks) == 0:
			return u.stack[0], nil
		case code == pickleStop:
			u.failf("it ends with %d values", len(u.stack))
		case run == nil:
			u.failf("instruction %s is not one that tensors are made with", opcodeName(code))
		default:
			run(u)
		}
		if u.err != nil {
			return nil, fmt.Errorf("pickle, byte %d: %w", at, u.err)
		}
	}
}

// failf stops the machine with an error, unless it has stopped already.
func (u *unpickler) failf(format string, args ...any) { u.check(faultf(format, args...)) }

// check stops the machine at an error.
func (u *unpickler) check(err error) {
	if u.err == nil {
		u.err = err
	}
}

// byte reads one byte.
func (u *unpickler) byte() byte { return byte(u.number(1)) }

// bytes reads n bytes. Memory grows only with existing bytes.
func (u *unpickler) bytes(n uint64) []byte {
	if n > uint64(u.left) {
		u.failf("%d bytes wanted, at most %d are left, or the pickle is larger than %d", n, u.left, maxPickle)
	}
	const atOnce = 1 << 16
	var b []byte
	for u.err == nil && uint64(len(b)) < n {
		piece := make([]byte, min(n-uint64(len(b)), atOnce))
		read, err := io.ReadFull(u.r, piece)
		u.at, u.left = u.at+int64(read), u.left-int64(read)
		if err != nil {
			u.check(cut(err))
		}
		b = append(b, piece...)
	}
	if u.err != nil {
		return nil
	}
	return b
}

// number reads a little-endian unsigned number of width bytes.
func (u *unpickler) number(width uint64) (n uint64) {
	for i, v := range u.bytes(width) {
		n |= uint64(v) << (8 * i)
	}
	return n
}

// line reads up to a newline, which is left out.
func (u *unpickler) line() string {
	const most = 256 // longer than any known name
	var b []byte
	for len(b) < most && u.err == nil {
		c := u.byte()
		if c == '\n' {
			return string(b)
		}
		b = append(b, c)
	}
	u.failf("a name of more than %d bytes", most)
	return ""
}

// spend counts values that take memory.
func (u *unpickler) spend() {
	if u.values--; u.values < 0 {
		u.failf("it makes more than %d values", maxValues)
	}
}

func (u *unpickler) push(v any) {
	if u.spend(); u.err == nil {
		u.stack = append(u.stack, v)
	}
}

// mark notes the height of the stack.
func (u *unpickler) mark() {
	if u.spend(); u.err == nil {
		u.marks = append(u.marks, len(u.stack))
	}
}

// pop takes the topmost value, but none below the last mark.
func (u *unpickler) pop() any {
	v := u.top()
	if u.err == nil {
		u.stack = u.stack[:len(u.stack)-1]
	}
	return v
}

// top is the topmost value.
func (u *unpickler) top() any {
	if len(u.stack) <= u.floor() {
		u.failf("the stack is empty")
	}
	if u.err != nil {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

func (u *unpickler) floor() int {
	if len(u.marks) == 0 {
		return 0
	}
	return u.marks[len(u.marks)-1]
}

// popMark takes all values above the last mark, and the mark.
func (u *unpickler) popMark() []any {
	if len(u.marks) == 0 {
		u.failf("there is no mark on the stack")
	}
	if u.err != nil {
		return nil
	}
	floor := u.floor()
	items := slices.Clone(u.stack[floor:])
	u.stack, u.marks = u.stack[:floor], u.marks[:len(u.marks)-1]
	return items
}
