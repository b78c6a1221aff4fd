package safetensors

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFile_WholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	tensors := []Tensor{{Name: "a", DType: F32, Shape: []int{2, 3}, Data: make([]float32, 6)},
		{Name: "b", DType: U8, Shape: []int{5}, Data: make([]uint8, 5)}}
	if got := Bytes(tensors); got != 29 {
		t.Errorf("%d bytes of data, want 29", got)
	}
	size, err := WriteFile(path, map[string]string{"k": "v"}, tensors)
	check(t, err)
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
	check(t, Write(&want, nil, original))
	copied, err := Copy(original)
	check(t, err)
	numbers[1] = 0
	if err := Write(&got, nil, copied); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("the copy is written as %q (%v), the original as %q", got.Bytes(), err, want.Bytes())
	}
	if _, err := Copy([]Tensor{{Name: "a", Shape: []int{2}, Data: numbers}}); err == nil {
		t.Error("3 elements pass for 2")
	}
}
