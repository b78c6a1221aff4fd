package weights

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

const (
	pickleProto = 0x80
	pickleStop  = '.'
)

// pickleOperations are the instructions that are understood, by their code.
var pickleOperations = [256]func(*unpickler) error{
	// Instructions around the program.
	pickleProto: func(u *unpickler) error {
		version, err := u.byte()
		if err == nil && version > 5 {
			err = faultf("a pickle of protocol %d, want at most 5", version)
		}
		return err
	},
	// FRAME: its length has no new information
	0x95: func(u *unpickler) error { _, err := u.number(8); return err },

	// Constants.
	'N':  func(u *unpickler) error { return u.push(nil) },
	0x88: func(u *unpickler) error { return u.push(true) },
	0x89: func(u *unpickler) error { return u.push(false) },
	'K':  func(u *unpickler) error { n, err := u.number(1); return u.pushed(int64(n), err) },
	'M':  func(u *unpickler) error { n, err := u.number(2); return u.pushed(int64(n), err) },
	'J':  func(u *unpickler) error { n, err := u.number(4); return u.pushed(int64(int32(n)), err) },
	0x8a: long,
	'G':  float,
	'X':  func(u *unpickler) error { return u.text(4) },
	0x8c: func(u *unpickler) error { return u.text(1) },
	0x8d: func(u *unpickler) error { return u.text(8) },
	'T':  func(u *unpickler) error { return u.text(4) }, // strings of Python 2
	'U':  func(u *unpickler) error { return u.text(1) },
	'B':  func(u *unpickler) error { return u.binary(4) },
	'C':  func(u *unpickler) error { return u.binary(1) },

	// Containers.
	'(':  (*unpickler).mark,
	')':  func(u *unpickler) error { return u.push(tuple(nil)) },
	']':  func(u *unpickler) error { return u.push(&list{}) },
	'}':  func(u *unpickler) error { return u.push(&dict{}) },
	't':  func(u *unpickler) error { items, err := u.popMark(); return u.pushed(tuple(items), err) },
	0x85: func(u *unpickler) error { return u.tuple(1) },
	0x86: func(u *unpickler) error { return u.tuple(2) },
	0x87: func(u *unpickler) error { return u.tuple(3) },
	'a':  func(u *unpickler) error { item, err := u.pop(); return u.extend([]any{item}, err) },
	'e':  func(u *unpickler) error { items, err := u.popMark(); return u.extend(items, err) },
	's': func(u *unpickler) error {
		pair, err := u.several(2)
		return u.update(pair, err)
	},
	'u': func(u *unpickler) error { pairs, err := u.popMark(); return u.update(pairs, err) },

	// The memo.
	'q':  func(u *unpickler) error { n, err := u.number(1); return u.remember(n, err) },
	'r':  func(u *unpickler) error { n, err := u.number(4); return u.remember(n, err) },
	0x94: func(u *unpickler) error { return u.remember(uint64(len(u.memo)), nil) },
	'h':  func(u *unpickler) error { n, err := u.number(1); return u.recall(n, err) },
	'j':  func(u *unpickler) error { n, err := u.number(4); return u.recall(n, err) },

	// Names and the objects they make: pickle_objects.go.
	'c':  named,
	0x93: namedOnStack,
	'R':  reduce,
	'b':  build,
	'Q':  persistent,
}

// opcodeName names a refused instruction.
func opcodeName(code byte) string {
	known := map[byte]string{
		'0': "POP", '1': "POP_MARK", '2': "DUP", 'F': "FLOAT", 'I': "INT", 'L': "LONG", 'P': "PERSID", 'S': "STRING",
		'V': "UNICODE",
		'i': "INST", 'o': "OBJ", 'd': "DICT", 'l': "LIST", 'p': "PUT", 'g': "GET", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX",
		0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x8b: "LONG4", 0x8e: "BINBYTES8", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS",
		0x91: "FROZENSET", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
	}
	if name, ok := known[code]; ok {
		return fmt.Sprintf("%s (%#02x)", name, code)
	}
	return fmt.Sprintf("%#02x", code)
}

// pushed pushes a value that came without an error.
func (u *unpickler) pushed(v any, err error) error {
	if err != nil {
		return err
	}
	return u.push(v)
}

// long reads an integer of up to 255 bytes.
func long(u *unpickler) error {
	n, err := u.number(1)
	if err != nil {
		return err
	}
	b, err := u.bytes(n)
	if err != nil || n > 8 {
		return u.pushed(bigInt(b), err)
	}
	var v int64
	for i, c := range b {
		v |= int64(c) << (8 * i)
	}
	if n > 0 && n < 8 && b[n-1]&0x80 != 0 { // two's complement of fewer bytes
		v -= 1 << (8 * n)
	}
	return u.push(v)
}

func float(u *unpickler) error {
	b, err := u.bytes(8)
	if err != nil {
		return err
	}
	return u.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
}

func (u *unpickler) text(width int) error {
	b, err := u.counted(width)
	return u.pushed(string(b), err)
}

func (u *unpickler) binary(width int) error {
	b, err := u.counted(width)
	return u.pushed(b, err)
}

// counted reads a number of bytes and then the bytes.
func (u *unpickler) counted(width int) ([]byte, error) {
	n, err := u.number(width)
	if err != nil {
		return nil, err
	}
	return u.bytes(n)
}

// several takes the topmost n values, in the order in which they were put there.
func (u *unpickler) several(n int) ([]any, error) {
	items := make([]any, n)
	for i := range items {
		v, err := u.pop()
		if err != nil {
			return nil, err
		}
		items[n-1-i] = v
	}
	return items, nil
}

func (u *unpickler) tuple(n int) error {
	items, err := u.several(n)
	return u.pushed(tuple(items), err)
}

// extend appends to the list on top.
func (u *unpickler) extend(items []any, err error) error {
	if err != nil {
		return err
	}
	v, err := u.top()
	if err != nil {
		return err
	}
	l, ok := v.(*list)
	if !ok {
		return faultf("items for a %s, want a list", kind(v))
	}
	l.items = append(l.items, items...)
	return nil
}

// update sets items of the dictionary on top: key, value, key, value.
func (u *unpickler) update(pairs []any, err error) error {
	if err != nil {
		return err
	}
	v, err := u.top()
	if err != nil {
		return err
	}
	d, ok := v.(*dict)
	if !ok || len(pairs)%2 != 0 {
		return faultf("%d keys and values for a %s, want a dictionary and pairs", len(pairs), kind(v))
	}
	for pair := range slices.Chunk(pairs, 2) {
		d.keys, d.values = append(d.keys, pair[0]), append(d.values, pair[1])
	}
	return nil
}

func (u *unpickler) remember(n uint64, err error) error {
	if err != nil {
		return err
	}
	v, err := u.top()
	if err != nil {
		return err
	}
	u.memo[uint32(n)] = v
	return u.spend()
}

func (u *unpickler) recall(n uint64, err error) error {
	if err != nil {
		return err
	}
	v, ok := u.memo[uint32(n)]
	if !ok {
		return faultf("entry %d of the memo is read before it is set", n)
	}
	return u.push(v)
}

// kind names the type of a value in Python's words.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64, bigInt:
		return "int"
	case float64:
		return "float"
	case string:
		return "string"
	case []byte:
		return "bytes"
	case tuple:
		return "tuple"
	case *list:
		return "list"
	case *dict:
		return "dictionary"
	case *storage:
		return "storage"
	case *pickledTensor:
		return "tensor"
	case global:
		return string(v)
	}
	return fmt.Sprintf("%T", v)
}
