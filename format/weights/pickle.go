package weights

import (
	"bufio"
	"fmt"
	"io"
)

// A pickle is a program for a machine with a stack and a memo, which makes objects. This machine implements
// the instructions that make dictionaries of tensors and the few names in pickleGlobals. They make only data.
// Every other instruction and name is an error with its position.

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

// unpickler runs a pickle.
type unpickler struct {
	r      *bufio.Reader
	at     int64 // of the next byte in its file, for messages
	left   int64 // bytes that may still be read
	values int   // that may still be made
	stack  []any
	marks  []int // heights of the stack
	memo   map[uint32]any
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
		code, err := u.byte()
		if err != nil {
			return nil, fmt.Errorf("pickle, byte %d: %w", at, err)
		}
		if code == pickleStop {
			if len(u.stack) != 1 || len(u.marks) != 0 {
				return nil, faultf("pickle, byte %d: it ends with %d values", at, len(u.stack))
			}
			return u.stack[0], nil
		}
		run := pickleOperations[code]
		if run == nil {
			err = faultf("instruction %s is not one that tensors are made with", opcodeName(code))
		} else {
			err = run(u)
		}
		if err != nil {
			return nil, fmt.Errorf("pickle, byte %d: %w", at, err)
		}
	}
}

// byte reads one byte.
func (u *unpickler) byte() (byte, error) {
	b, err := u.bytes(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// bytes reads n bytes. Memory grows only with existing bytes.
func (u *unpickler) bytes(n uint64) ([]byte, error) {
	if n > uint64(u.left) {
		return nil, faultf("%d bytes wanted, at most %d are left, or the pickle is larger than %d",
			n, u.left, maxPickle)
	}
	const atOnce = 1 << 16
	var b []byte
	for uint64(len(b)) < n {
		piece := make([]byte, min(n-uint64(len(b)), atOnce))
		read, err := io.ReadFull(u.r, piece)
		u.at, u.left = u.at+int64(read), u.left-int64(read)
		if err != nil {
			return nil, cut(err)
		}
		b = append(b, piece...)
	}
	return b, nil
}

// number reads a little-endian unsigned number of width bytes.
func (u *unpickler) number(width int) (uint64, error) {
	b, err := u.bytes(uint64(width))
	n := uint64(0)
	for i, v := range b {
		n |= uint64(v) << (8 * i)
	}
	return n, err
}

// line reads up to a newline, which is left out.
func (u *unpickler) line() (string, error) {
	const most = 256 // longer than any known name
	var b []byte
	for len(b) < most {
		c, err := u.byte()
		if err != nil {
			return "", err
		}
		if c == '\n' {
			return string(b), nil
		}
		b = append(b, c)
	}
	return "", faultf("a name of more than %d bytes", most)
}

// spend counts values that take memory.
func (u *unpickler) spend() error {
	if u.values--; u.values < 0 {
		return faultf("it makes more than %d values", maxValues)
	}
	return nil
}

func (u *unpickler) push(v any) error {
	if err := u.spend(); err != nil {
		return err
	}
	u.stack = append(u.stack, v)
	return nil
}

// mark notes the height of the stack.
func (u *unpickler) mark() error {
	if err := u.spend(); err != nil {
		return err
	}
	u.marks = append(u.marks, len(u.stack))
	return nil
}

// pop takes the topmost value, but none below the last mark.
func (u *unpickler) pop() (any, error) {
	if len(u.stack) <= u.floor() {
		return nil, faultf("the stack is empty")
	}
	v := u.stack[len(u.stack)-1]
	u.stack = u.stack[:len(u.stack)-1]
	return v, nil
}

// top is the topmost value.
func (u *unpickler) top() (any, error) {
	if len(u.stack) <= u.floor() {
		return nil, faultf("the stack is empty")
	}
	return u.stack[len(u.stack)-1], nil
}

func (u *unpickler) floor() int {
	if len(u.marks) == 0 {
		return 0
	}
	return u.marks[len(u.marks)-1]
}

// popMark takes all values above the last mark, and the mark.
func (u *unpickler) popMark() ([]any, error) {
	if len(u.marks) == 0 {
		return nil, faultf("there is no mark on the stack")
	}
	floor := u.floor()
	items := append([]any(nil), u.stack[floor:]...)
	u.stack, u.marks = u.stack[:floor], u.marks[:len(u.marks)-1]
	return items, nil
}
