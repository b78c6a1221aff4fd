package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// build makes a file from a header and data.
func build(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func open(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := NewReader(bytes.NewReader(b), int64(len(b)))
	expect.OK(t, err)
	return f
}

func TestFile_RoundTripKeepsEveryBit(t *testing.T) {
	nan := math.Float32frombits(0x7fc12345)
	long := make([]float32, 50_000) // several chunks
	for i := range long {
		long[i] = float32(i) * 0.37
	}
	tensors := []Tensor{
		{Name: "mask", DType: Bool, Shape: []int{3}, Data: []uint8{1, 0, 1}},
		{Name: "weird \"name\" <é>", Shape: []int{2, 2}, Data: []float32{1, nan, float32(math.Inf(-1)), -0}},
		{Name: "long", Shape: []int{250, 200}, Data: long},
		{Name: "scalar", Data: []float64{math.Pi}},
		{Name: "empty", Shape: []int{0, 1 << 30, 1 << 30}, Data: []float32{}},
		{Name: "ids", Shape: []int{2}, Data: []int64{math.MinInt64, math.MaxInt64}},
		{Name: "i32", Shape: []int{1}, Data: []int32{-7}},
		{Name: "stream", DType: BF16, Shape: []int{2}, Data: func(w io.Writer) error {
			_, err := w.Write([]byte{0x80, 0x3f, 0, 0xc0})
			return err
		}},
	}
	var b, second bytes.Buffer
	meta := map[string]string{"b": "2", "a": "1 <&>"}
	expect.OK(t, Write(&b, meta, tensors))
	if err := Write(&second, meta, tensors); err != nil || !bytes.Equal(b.Bytes(), second.Bytes()) {
		t.Fatalf("a second Write gave other bytes (error %v)", err)
	}
	f := open(t, b.Bytes())
	if want := []string{"scalar", "ids", "weird \"name\" <é>", "long", "empty", "i32", "stream",
		"mask"}; !sameNames(f.Names(), want) {
		t.Errorf("names %q, want the order of falling element size %q", f.Names(), want)
	}
	if !reflect.DeepEqual(f.Metadata, meta) {
		t.Errorf("metadata %q, want %q", f.Metadata, meta)
	}
	if got, shape, err := f.Float32("long"); err != nil || !reflect.DeepEqual(got, long) ||
		!reflect.DeepEqual(shape, []int{250, 200}) {
		t.Errorf("long came back as %v, error %v", shape, err)
	}
	if got, _, err := f.Float32(`weird "name" <é>`); err != nil || math.Float32bits(got[1]) != math.Float32bits(nan) {
		t.Errorf("NaN came back as %v, error %v", got, err)
	}
	if got, shape, err := f.Float32("scalar"); err != nil || len(shape) != 0 || got[0] != math.Pi {
		t.Errorf("scalar came back as %v %v, error %v", got, shape, err)
	}
	if got, _, err := f.Int64("ids"); err != nil || got[0] != math.MinInt64 || got[1] != math.MaxInt64 {
		t.Errorf("ids came back as %v, error %v", got, err)
	}
	if got, _, err := f.Int64("i32"); err != nil || got[0] != -7 {
		t.Errorf("i32 came back as %v, error %v", got, err)
	}
	if got, _, err := f.Int64("mask"); err != nil || !reflect.DeepEqual(got, []int64{1, 0, 1}) {
		t.Errorf("mask came back as %v, error %v", got, err)
	}
	if got, _, err := f.Float32("stream"); err != nil || got[0] != 1 || got[1] != -2 {
		t.Errorf("stream came back as %v, error %v", got, err)
	}
	if raw, err := bytesOf(f, "stream"); err != nil || !bytes.Equal(raw, []byte{0x80, 0x3f, 0, 0xc0}) {
		t.Errorf("raw bytes %v, error %v", raw, err)
	}
	if got, _, err := f.Float32("empty"); err != nil || len(got) != 0 {
		t.Errorf("empty came back as %v, error %v", got, err)
	}
}

// bytesOf are the bytes of a tensor as stored in the file.
func bytesOf(f *File, name string) ([]byte, error) {
	r, err := f.Bytes(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func sameNames(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

func TestFile_DataStartsAligned(t *testing.T) {
	for extra := range 9 {
		var b bytes.Buffer
		name := strings.Repeat("n", extra+1)
		if err := Write(&b, nil, []Tensor{{Name: name, Shape: []int{1}, Data: []float64{1}}}); err != nil {
			t.Fatal(err)
		}
		if (b.Len()-8)%8 != 0 {
			t.Errorf("name of %d letters: data at byte %d", extra+1, b.Len()-8)
		}
		if got, _, err := open(t, b.Bytes()).Float32(name); err != nil || got[0] != 1 {
			t.Errorf("got %v, error %v", got, err)
		}
	}
}

func TestFile_RefusesWhatBreaksTheFormat(t *testing.T) {
	eight := make([]byte, 8)
	cases := []struct{ name, header, message string }{
		{"no object", `[]`, "does not start"},
		{"empty header", ``, "does not start"},
		{"not UTF-8", "{\"a\xff\":1}", "UTF-8"},
		{"cut JSON", `{"a":{"dtype":"F32"`, "header"},
		{"text after", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} x`, "continues after"},
		{"repeated tensor",
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u0061":{"dtype":"F32","shape":[1],` +
				`"data_offsets":[4,8]}}`,
			`"a" occurs twice`},
		{"repeated field", `{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "occurs twice"},
		{"repeated metadata", `{"__metadata__":{"k":"1","k":"2"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`,
			"occurs twice"},
		{"metadata number", `{"__metadata__":{"k":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, "not a string"},
		{"unknown field", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}`, `tensor "a": unknown field "x"`},
		{"missing field", `{"a":{"dtype":"F32","shape":[2]}}`, `tensor "a": needs`},
		{"unknown dtype", `{"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}`, `tensor "a": unknown dtype F31`},
		{"dtype number", `{"a":{"dtype":3,"shape":[2],"data_offsets":[0,8]}}`, `tensor "a": unknown dtype 3`},
		{"negative shape", `{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, `tensor "a": -2 is not a size`},
		{"fractional shape", `{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}`, `tensor "a": 2.0 is not a size`},
		{"text shape", `{"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}}`, `tensor "a": 2 is not a size`},
		{"shape too large", `{"a":{"dtype":"F32","shape":[2147483647,2147483647,2147483647],"data_offsets":[0,8]}}`,
			`tensor "a": shape`},
		{"dimension too large", `{"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}}`,
			`tensor "a": 9223372036854775808`},
		{"wrong size", `{"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}}`, `tensor "a": F64 [2] needs 16 bytes`},
		{"backward", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, `tensor "a"`},
		{"three offsets", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}`, `tensor "a": needs`},
		{"overlap",
			`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`,
			`tensor "b" at bytes 4 to 8 overlaps tensor "a"`},
		{"hole", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, `tensor "a" starts at byte 4`},
		{"past the end", `{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}`, `tensor "a" ends at byte 12`},
		{"bytes left", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "4 bytes after"},
		{"nested", `{"a":` + strings.Repeat("[", 100_000), "header"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := build(c.header, eight)
			_, err := NewReader(bytes.NewReader(b), int64(len(b)))
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.message) {
				t.Errorf("error %v, want ErrCorrupt with %q", err, c.message)
			}
		})
	}
}

func TestFile_RefusesEveryTruncation(t *testing.T) {
	var b bytes.Buffer
	expect.OK(t, Write(&b, map[string]string{"k": "v"}, []Tensor{{Name: "a", Shape: []int{3}, Data: []float32{1, 2, 3}}}))
	for n := range b.Len() {
		if _, err := NewReader(bytes.NewReader(b.Bytes()[:n]), int64(n)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d of %d bytes: error %v", n, b.Len(), err)
		}
	}
}

func TestFile_HugeHeaderLengthTakesNoMemory(t *testing.T) {
	for _, length := range []uint64{maxHeader + 1, maxHeader, math.MaxUint64, 1 << 63} {
		b := append(binary.LittleEndian.AppendUint64(nil, length), '{')
		if _, err := NewReader(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("length %d: error %v", length, err)
		}
	}
}

func TestFile_WrongUseNamesTheTensor(t *testing.T) {
	f := open(t,
		build(
			`{"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},"u":{"dtype":"U64","shape":[1],`+
				`"data_offsets":[8,16]},"x":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}}`,
			append(bytes.Repeat([]byte{0xff}, 16), 0, 0, 0x80, 0x3f)))
	call := map[string]func() error{
		"Float32 of integers":   func() error { _, _, err := f.Float32("a"); return err },
		"Int64 of floats":       func() error { _, _, err := f.Int64("x"); return err },
		"Int64 above its range": func() error { _, _, err := f.Int64("u"); return err },
	}
	for name, f := range call {
		if err := f(); err == nil || !strings.Contains(err.Error(), "tensor \"") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, _, err := f.Info("none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Info of no tensor: error %v", err)
	}
	if got, _, err := f.Int64("a"); err != nil || got[0] != -1 {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestOpen_ErrorsNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.safetensors")
	expect.OK(t, os.WriteFile(path, []byte("short"), 0o600))
	for _, p := range []string{path, t.TempDir(), path + ".none"} {
		if _, err := Open(p); err == nil || !strings.Contains(err.Error(), filepath.Base(p)) {
			t.Errorf("Open(%q): error %v", p, err)
		}
	}
	if err := os.WriteFile(path, build(`{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, []byte{7}),
		0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	expect.OK(t, err)
	if got, _, err := f.Int64("a"); err != nil || got[0] != 7 {
		t.Errorf("got %v, error %v", got, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestWrite_RefusesBeforeWriting(t *testing.T) {
	short := func(w io.Writer) error { _, err := w.Write([]byte{1}); return err }
	cases := map[string][]Tensor{
		"name twice":    {{Name: "a", Data: []float32{1}}, {Name: "a", Data: []float32{1}}},
		"reserved name": {{Name: "__metadata__", Data: []float32{1}}},
		"not UTF-8":     {{Name: "\xff", Data: []float32{1}}},
		"wrong count":   {{Name: "a", Shape: []int{3}, Data: []float32{1}}},
		"negative":      {{Name: "a", Shape: []int{-1}, Data: []float32{}}},
		"overflow":      {{Name: "a", Shape: []int{math.MaxInt, math.MaxInt, 4}, DType: U8, Data: short}},
		"unknown dtype": {{Name: "a", DType: "F3", Data: short}},
		"other dtype":   {{Name: "a", DType: I64, Data: []float32{1}}},
		"no data":       {{Name: "a"}},
	}
	for name, tensors := range cases {
		var b bytes.Buffer
		if err := Write(&b, nil, tensors); err == nil || b.Len() != 0 {
			t.Errorf("%s: error %v after %d bytes", name, err, b.Len())
		}
	}
	if err := Write(io.Discard, nil, []Tensor{{Name: "a", DType: U8, Shape: []int{2}, Data: short}}); err == nil {
		t.Error("a function that writes too little passed")
	}
	if err := Write(&fullDisk{left: 100}, nil,
		[]Tensor{{Name: "a", Shape: []int{1000}, Data: make([]float32, 1000)}}); !errors.Is(err, errFull) {
		t.Errorf("error %v, want the writer's", err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, fmt.Errorf("write: %w", errFull)
	}
	return len(p), nil
}

func FuzzNewReader(f *testing.F) {
	f.Add(build(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, make([]byte, 8)))
	f.Add(
		build(
			`{"__metadata__":{"k":"v"},"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"e":{"dtype":"I64",`+
				`"shape":[0],"data_offsets":[2,2]}}`,
			make([]byte, 2)))
	f.Add(summed(f, map[string]string{"k": "v"}, summedTensors()))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error without a sentinel: %v", err)
			}
			return
		}
		total, tensors := 0, []Tensor{}
		for _, name := range file.Names() {
			dtype, shape, err := file.Info(name)
			expect.OK(t, err)
			_, _, floatErr := file.Float32(name)
			_, _, intErr := file.Int64(name)
			if floatErr == nil && intErr == nil {
				t.Fatalf("tensor %q is both float and integer", name)
			}
			raw, err := bytesOf(file, name)
			expect.OK(t, err)
			total += len(raw)
			tensors = append(tensors, Tensor{Name: name, DType: dtype, Shape: shape, Data: func(w io.Writer) error {
				_, err := w.Write(raw)
				return err
			}})
		}
		if total > len(b) {
			t.Fatalf("%d bytes of tensors in a file of %d", total, len(b))
		}
		var copied bytes.Buffer // any file that can be read can be written and read again
		expect.OK(t, Write(&copied, file.Metadata, tensors))
		reopened := open(t, copied.Bytes())
		if len(reopened.Names()) != len(tensors) || !reflect.DeepEqual(reopened.Metadata, file.Metadata) {
			t.Fatal("a written copy differs")
		}
	})
}

func TestRowWriter_RowsThatNobodyCountedBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.safetensors")
	file, err := os.Create(path)
	expect.OK(t, err)
	w, err := NewRowWriter(file, map[string]string{"from": "a test"}, "features", 3)
	expect.OK(t, err)
	for row := range 40 {
		expect.OK(t, w.Write([]float32{float32(row), -1, .5}))
	}
	if err := w.Write([]float32{1}); err == nil || !strings.Contains(err.Error(), "row 41 has 1 values, want 3") {
		t.Errorf("a row of another width: %v", err)
	}
	expect.OK(t, errors.Join(w.Close(), file.Close()))
	f, err := Open(path)
	expect.OK(t, err)
	defer f.Close()
	values, shape, err := f.Float32("features")
	if err != nil || !slices.Equal(shape, []int{40, 3}) || values[3*39] != 39 || values[3*39+2] != .5 ||
		f.Metadata["from"] != "a test" {
		t.Errorf("%v %v %v %v", shape, values, f.Metadata, err)
	}
	data, err := f.Bytes("features")
	expect.OK(t, err)
	row := make([]byte, 12)
	if _, err := data.ReadAt(row, 7*12); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 3)
	F32.Float32Decoder()(got, row)
	if !slices.Equal(got, []float32{7, -1, .5}) {
		t.Errorf("row 7 read by its offset: %v", got)
	}
}

func TestFloat32Decoder_Integers(t *testing.T) {
	for dtype, b := range map[DType][]byte{
		U8: {0, 255}, I8: {0, 255}, Bool: {0, 1}, I16: {0, 0, 0xff, 0xff},
		U64: {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80},
	} {
		got := make([]float32, 2)
		dtype.Float32Decoder()(got, b)
		want := map[DType]float32{U8: 255, I8: -1, Bool: 1, I16: -1, U64: 1 << 63}[dtype]
		if got[0] != 0 || got[1] != want {
			t.Errorf("%s: %v, want 0 and %v", dtype, got, want)
		}
	}
	if F8E4M3.Float32Decoder() != nil {
		t.Error("8-bit floating point has a decoder")
	}
}

func TestWriteFile_WholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	tensors := []Tensor{{Name: "a", DType: F32, Shape: []int{2, 3}, Data: make([]float32, 6)},
		{Name: "b", DType: U8, Shape: []int{5}, Data: make([]uint8, 5)}}
	if got := Bytes(tensors); got != 29 {
		t.Errorf("%d bytes of data, want 29", got)
	}
	size, err := WriteFile(path, map[string]string{"k": "v"}, tensors)
	expect.OK(t, err)
	before, err := os.ReadFile(path)
	if err != nil || int64(len(before)) != size {
		t.Fatalf("%d bytes on disk, %v, want %d", len(before), err, size)
	}
	broken := errors.New("the device is gone")
	half := Tensor{Name: "a", DType: F32, Shape: []int{2}, Data: func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 4)); err != nil {
			return err
		}
		return broken
	}}
	if _, err := WriteFile(path, nil, []Tensor{half}); !errors.Is(err, broken) {
		t.Errorf("error %v, want the tensor's", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file that was there has changed: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files %v, %v: want one", entries, err)
	}
	if _, err := WriteFile(filepath.Join(path, "y"), nil, tensors); err == nil {
		t.Error("a file below a file was written")
	}
}

func TestCopy_IsWrittenAsTheOriginalAndChangesNoMore(t *testing.T) {
	numbers := []float32{1, 2, 3}
	original := []Tensor{{Name: "u8", Shape: []int{3}, Data: []uint8{1, 2, 3}}, {Name: "f32", Shape: []int{3},
		Data: numbers},
		{Name: "f64", Shape: []int{1}, Data: []float64{4}}, {Name: "i64", Shape: []int{1}, Data: []int64{5}},
		{Name: "bf16", DType: BF16, Shape: []int{2}, Data: []uint16{6, 7}}, {Name: "i32", Shape: []int{}, Data: []int32{8}}}
	if got := Bytes(original); got != 3+12+8+8+4+4 {
		t.Errorf("%d bytes of data, want 39", got)
	}
	var want, got bytes.Buffer
	expect.OK(t, Write(&want, nil, original))
	copied, err := Copy(original)
	expect.OK(t, err)
	numbers[1] = 0
	if err := Write(&got, nil, copied); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("the copy is written as %q (%v), the original as %q", got.Bytes(), err, want.Bytes())
	}
	if _, err := Copy([]Tensor{{Name: "a", Shape: []int{2}, Data: numbers}}); err == nil {
		t.Error("3 elements pass for 2")
	}
}
