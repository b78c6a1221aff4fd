package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
)

// The parts of pickles that tests put together.

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func integer(n int) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func integerTuple(list ...int) string {
	s := "("
	for _, n := range list {
		s += integer(n)
	}
	return s + "t"
}

func storageOf(class, key string, elements int) string {
	return "(" + text("storage") + "ctorch\n" + class + "\n" + text(key) + text("cpu") + integer(elements) + "tQ"
}

func tensorOf(storage string, offset int, shape, strides []int) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + integer(offset) + integerTuple(shape...) +
		integerTuple(strides...) + "\x89NtR"
}

// archive is a file in PyTorch's zip format with a pickle and a storage 0 of floats.
func archive(t testing.TB, pickle string, floats int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string]string{"x/data.pkl": pickle,
		"x/data/0": strings.Repeat("\x00\x00\x80\x3f", floats)} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		expect.OK(t, err)
	}
	expect.OK(t, z.Close())
	return b.Bytes()
}

// memoBomb makes tuples that have the one before twice: 2^depth numbers, if anybody walked them.
func memoBomb(depth int) (s string) {
	for i := range depth {
		s += fmt.Sprintf("h%ch%c\x86q%c", i, i, i+1)
	}
	return s
}

func state(tensor string) string { return "\x80\x02}(" + text("w") + tensor + "u." }

func TestPickle_ASmallOneWrittenByHand(t *testing.T) {
	pickle := state(tensorOf(storageOf("FloatStorage", "0", 6), 1, []int{2, 2}, []int{2, 1}))
	content := archive(t, pickle, 6)
	f, err := Read(bytes.NewReader(content), int64(len(content)), "hand.pth")
	expect.OK(t, err)
	if _, shape, values := read(t, f, "w"); len(shape) != 2 || len(values) != 4 || values[3] != 1 {
		t.Errorf("%v %v", shape, values)
	}
}

func TestPickle_WhatIsNotATensorIsRefused(t *testing.T) {
	float := storageOf("FloatStorage", "0", 6)
	for name, c := range map[string]struct{ pickle, says string }{
		"code":                   {"\x80\x02cposix\nsystem\n(" + text("true") + "tR.", `byte 2: it asks for "posix.system"`},
		"code by name on stack":  {"\x80\x04" + text("builtins") + text("eval") + "\x93.", `"builtins.eval"`},
		"a class of torch":       {"\x80\x02ctorch.nn.modules.linear\nLinear\n)\x81.", `"torch.nn.modules.linear.Linear"`},
		"foreign instruction":    {"\x80\x02}\x81.", "NEWOBJ (0x81)"},
		"INST":                   {"(iposix\nsystem\n.", "INST"},
		"unknown instruction":    {"\x80\x02\xff.", "0xff"},
		"attributes of a tensor": {state(tensorOf(float, 0, []int{1}, []int{1}) + "}b"), "attributes"},
		"call of a class":        {"ctorch\nFloatStorage\n)R.", "calls a torch.FloatStorage"},
		"call of a number":       {"K\x01)R.", "calls a int"},
		"deep nesting": {"\x80\x02" + strings.Repeat("]", 1<<20) + strings.Repeat("a", 1<<20-1) + ".",
			"holds a list"},
		"memo bomb":             {"\x80\x02((K\x00tq\x00" + memoBomb(100) + "t.", "holds a tuple"},
		"memo before it is set": {"h\x05.", "entry 5 of the memo"},
		"too many values":       {strings.Repeat("N", maxValues+1) + ".", "more than 2097152 values"},
		"too many marks":        {strings.Repeat("(", maxValues+1) + ".", "more than 2097152 values"},
		"empty stack":           {"\x80\x02R.", "stack is empty"},
		"below a mark":          {"K\x01(\x85.", "stack is empty"},
		"no mark":               {"\x80\x02t.", "no mark"},
		"no end":                {"\x80\x02}", "left, or the pickle"},
		"huge string":           {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.", "bytes wanted"},
		"two results":           {"NN.", "ends with 2 values"},
		"protocol":              {"\x80\x09N.", "protocol 9"},
		"no dictionary":         {"K\x01.", "holds a int"},
		"no tensors":            {"}(" + text("epoch") + "K\x01u.", "1 entries (epoch)"},
		"name of a number":      {"}K\x01" + tensorOf(float, 0, []int{1}, []int{1}) + "s.", "a int for a name"},
		"same name twice": {"}(" + text("w") + tensorOf(float, 0, []int{1},
			[]int{1}) + text("w") + tensorOf(float, 0, []int{1}, []int{1}) + "u.", `"w" occurs twice`},
		"storage of no class": {"(" + text("storage") + text("x") + text("0") + text("cpu") + "K\x06tQ.",
			"a storage of string"},
		"path for a key": {state(tensorOf(storageOf("FloatStorage", "../../etc/passwd", 6), 0, []int{1}, []int{1})),
			"../../etc/passwd"},
		"storage not there": {state(tensorOf(storageOf("FloatStorage", "1", 6), 0, []int{1}, []int{1})), "no x/data/1"},
		"storage of another type": {state(tensorOf(storageOf("DoubleStorage", "0", 6), 0, []int{1}, []int{1})),
			`tensor "w": storage "0" of 6 F64 is in an entry of 24 bytes`},
		"storage that is too short": {state(tensorOf(storageOf("FloatStorage", "0", 7), 0, []int{7}, []int{1})),
			"7 F32 is in an entry of 24 bytes"},
		"shape beyond the storage": {state(tensorOf(float, 0, []int{7}, []int{1})), "ends at element 6 of a storage of 6"},
		"offset outside":           {state(tensorOf(float, 6, []int{1}, []int{1})), "ends at element 6"},
		"negative offset":          {state(tensorOf(float, -1, []int{1}, []int{1})), "a tensor of storage"},
		"negative stride":          {state(tensorOf(float, 5, []int{2}, []int{-1})), "a tensor of storage"},
		"strides of another rank":  {state(tensorOf(float, 0, []int{2, 2}, []int{1})), "as many sizes as strides"},
		"shape that overflows": {state(tensorOf(float, 0, []int{math.MaxInt32, math.MaxInt32, math.MaxInt32},
			[]int{0, 0, 0})), "too large"},
		"strides that overflow": {state(tensorOf(float, 0, []int{2}, []int{math.MaxInt32})), "ends at element"},
	} {
		t.Run(name, func(t *testing.T) {
			content := archive(t, c.pickle, 6)
			_, err := Read(bytes.NewReader(content), int64(len(content)), "hostile.pth")
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "hostile.pth") {
				t.Errorf("%.300v\nwant %q in it", err, c.says)
			}
		})
	}
}

func TestPickle_AViewOfManyElementsOfASmallStorageIsRead(t *testing.T) {
	pickle := state(tensorOf(storageOf("FloatStorage", "0", 2), 0, []int{1000, 2}, []int{0, 1})) // expand()
	content := archive(t, pickle, 2)
	f, err := Read(bytes.NewReader(content), int64(len(content)), "expanded.pth")
	expect.OK(t, err)
	if _, _, values := read(t, f, "w"); len(values) != 2000 || values[1999] != 1 {
		t.Errorf("%d values", len(values))
	}
}

func TestLegacy_StoragesOutsideOfTheFile(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "legacy.pth"))
	expect.OK(t, err)
	six := []byte("\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x20\xc0") // six elements from -2.5
	at := bytes.Index(whole, six)
	for name, c := range map[string]struct {
		at   int
		b    byte
		says string
	}{
		"more elements than are there": {at + 1, 1, "has 262 elements, its tensors need 6"},
		"negative":                     {at + 7, 0xff, "elements, its tensors need 6"},
		"another magic number":         {5, 0, "not a file of PyTorch"},
		"another version":              {18, 0, "version"},
		"big-endian":                   {bytes.IndexByte(whole, 0x88), 0x89, "little-endian"},
	} {
		content := bytes.Clone(whole)
		content[c.at] = c.b
		_, err := Read(bytes.NewReader(content), int64(len(content)), "legacy.pth")
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q in it", name, err, c.says)
		}
	}
}

// FuzzPickle runs pickles as stored in an archive.
func FuzzPickle(f *testing.F) {
	f.Add([]byte(state(tensorOf(storageOf("FloatStorage", "0", 6), 1, []int{2, 2}, []int{2, 1}))))
	f.Add([]byte("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01aG\x00\x00\x00\x00\x00\x00\x00\x00s."))
	f.Add([]byte("\x80\x02ccollections\nOrderedDict\n)R}bq\x00h\x00\x85\x86\x87\x8a\x02\xff\x80."))
	f.Fuzz(func(t *testing.T, pickle []byte) {
		u := newUnpickler(bytes.NewReader(pickle), 0, int64(len(pickle)), func(id any) (any, error) {
			return parseStorage(id)
		})
		root, err := u.load()
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("error without a sentinel: %v", err)
			}
			return
		}
		file, err := stateFile("fuzz", root, func(s *storage) (place, error) { return nil, faultf("no storage") })
		if err == nil && len(file.arrays) > 0 || err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("%d tensors without a storage, %v", len(file.arrays), err)
		}
	})
}

// The first byte of a .safetensors file belongs to the length of its header, and may equal a pickle's first
// byte.
func TestRead_SafetensorsWithAHeaderOfAnyLength(t *testing.T) {
	for extra := range 1600 {
		var b bytes.Buffer
		expect.OK(t, safetensors.Write(&b, map[string]string{"note": strings.Repeat("x", extra)},
			[]safetensors.Tensor{{Name: "a", Shape: []int{2, 3}, Data: sixth}}))
		f, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "w.safetensors")
		if err != nil || f.Format != "safetensors" {
			t.Fatalf("a header that begins %x: %v", b.Bytes()[:9], err)
		}
	}
}
