package weights

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

const (
	pickleProto = 0x80
	pickleStop  = '.'
)

// pickleOperations are the instructions that are understood, by their code.
var pickleOperations = [256]func(*unpickler){
	// Instructions around the program.
	pickleProto: func(u *unpickler) {
		if version := u.byte(); version > 5 {
			u.failf("a pickle of protocol %d, want at most 5", version)
		}
	},
	0x95: func(u *unpickler) { u.number(8) }, // FRAME: its length has no new information

	// Constants.
	'N':  func(u *unpickler) { u.push(nil) },
	0x88: func(u *unpickler) { u.push(true) },
	0x89: func(u *unpickler) { u.push(false) },
	'K':  func(u *unpickler) { u.push(int64(u.number(1))) },
	'M':  func(u *unpickler) { u.push(int64(u.number(2))) },
	'J':  func(u *unpickler) { u.push(int64(int32(u.number(4)))) },
	0x8a: long,
	'G':  float,
	'X':  func(u *unpickler) { u.text(4) },
	0x8c: func(u *unpickler) { u.text(1) },
	0x8d: func(u *unpickler) { u.text(8) },
	'T':  func(u *unpickler) { u.text(4) }, // strings of Python 2
	'U':  func(u *unpickler) { u.text(1) },
	'B':  func(u *unpickler) { u.push(u.bytes(u.number(4))) },
	'C':  func(u *unpickler) { u.push(u.bytes(u.number(1))) },

	// Containers.
	'(':  (*unpickler).mark,
	')':  func(u *unpickler) { u.push(tuple(nil)) },
	']':  func(u *unpickler) { u.push(&list{}) },
	'}':  func(u *unpickler) { u.push(&dict{}) },
	't':  func(u *unpickler) { u.push(tuple(u.popMark())) },
	0x85: func(u *unpickler) { u.push(tuple(u.several(1))) },
	0x86: func(u *unpickler) { u.push(tuple(u.several(2))) },
	0x87: func(u *unpickler) { u.push(tuple(u.several(3))) },
	'a':  func(u *unpickler) { u.extend([]any{u.pop()}) },
	'e':  func(u *unpickler) { u.extend(u.popMark()) },
	's':  func(u *unpickler) { u.update(u.several(2)) },
	'u':  func(u *unpickler) { u.update(u.popMark()) },

	// The memo.
	'q':  func(u *unpickler) { u.remember(u.number(1)) },
	'r':  func(u *unpickler) { u.remember(u.number(4)) },
	0x94: func(u *unpickler) { u.remember(uint64(len(u.memo))) },
	'h':  func(u *unpickler) { u.recall(u.number(1)) },
	'j':  func(u *unpickler) { u.recall(u.number(4)) },

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

// long reads an integer of up to 255 bytes.
func long(u *unpickler) {
	b := u.bytes(u.number(1))
	n := len(b)
	if n > 8 {
		u.push(bigInt(b))
		return
	}
	var v int64
	for i, c := range b {
		v |= int64(c) << (8 * i)
	}
	if n > 0 && n < 8 && b[n-1]&0x80 != 0 { // two's complement of fewer bytes
		v -= 1 << (8 * n)
	}
	u.push(v)
}

func float(u *unpickler) { u.push(math.Float64frombits(bits.ReverseBytes64(u.number(8)))) }

// text pushes a string, whose length is a number of width bytes.
func (u *unpickler) text(width uint64) { u.push(string(u.bytes(u.number(width)))) }

// several takes the topmost n values, in the order in which they were put there.
func (u *unpickler) several(n int) []any {
	items := make([]any, n)
	for i := range items {
		items[n-1-i] = u.pop()
	}
	return items
}

// extend appends to the list on top.
func (u *unpickler) extend(items []any) {
	v := u.top()
	l, ok := v.(*list)
	if !ok {
		u.failf("items for a %s, want a list", kind(v))
		return
	}
	l.items = append(l.items, items...)
}

// update sets items of the dictionary on top: key, value, key, value.
func (u *unpickler) update(pairs []any) {
	v := u.top()
	d, ok := v.(*dict)
	if !ok || len(pairs)%2 != 0 {
		u.failf("%d keys and values for a %s, want a dictionary and pairs", len(pairs), kind(v))
		return
	}
	for pair := range slices.Chunk(pairs, 2) {
		d.keys, d.values = append(d.keys, pair[0]), append(d.values, pair[1])
	}
}

func (u *unpickler) remember(n uint64) {
	u.memo[uint32(n)] = u.top()
	u.spend()
}

func (u *unpickler) recall(n uint64) {
	v, ok := u.memo[uint32(n)]
	if !ok {
		u.failf("entry %d of the memo is read before it is set", n)
	}
	u.push(v)
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
