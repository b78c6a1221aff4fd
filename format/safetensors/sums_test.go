package safetensors

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// summed writes a file with checksums and returns its bytes.
func summed(t testing.TB, meta map[string]string, tensors []Tensor) []byte {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "summed"))
	expect.OK(t, err)
	defer file.Close()
	expect.OK(t, WriteSummed(file, meta, tensors))
	if _, err := file.WriteString("end"); err != nil { // the offset is left at the end
		t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	expect.OK(t, err)
	whole, found := bytes.CutSuffix(b, []byte("end"))
	if !found {
		t.Fatalf("the offset after writing is not the end: %q", b)
	}
	return whole
}

func summedTensors() []Tensor {
	return []Tensor{
		{Name: "weight", Shape: []int{2, 3}, Data: []float32{1, -2, 3, 0, 5, -6}},
		{Name: sumsKey, Shape: []int{0}, Data: []float32{}}, // a name like the key's confuses nothing
		{Name: "steps", Shape: []int{2}, Data: []int64{7, 8}},
		{Name: "mask", DType: Bool, Shape: []int{3}, Data: []uint8{1, 0, 1}},
	}
}

// readAll reads everything in every way.
func readAll(b []byte) error {
	f, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	_, _, err = f.Float32("weight")
	next, err2 := f.Elements("weight")
	for range 3 {
		if err2 == nil {
			err2 = next(make([]float32, 2))
		}
	}
	_, _, err3 := f.Int64("steps")
	_, _, err4 := f.Int64("mask")
	// Each way of reading must find the damage by itself.
	if (err == nil) != (err2 == nil) {
		return errors.New("Float32 and Elements disagree")
	}
	return errors.Join(err, err2, err3, err4)
}

func TestWriteSummed_EveryFlippedBitIsFound(t *testing.T) {
	whole := summed(t, map[string]string{"config": `{"rate": "0.1"}`}, summedTensors())
	expect.OK(t, readAll(whole))
	key := bytes.Index(whole, []byte(sumsKey)) // a flip here makes the file one without checksums
	for i := range whole {
		if i >= key && i < key+len(sumsKey) {
			continue
		}
		for bit := range 8 {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 1 << bit
			if err := readAll(damaged); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotFound) {
				t.Fatalf("bit %d of byte %d (%q): %v", bit, i, whole[max(0, i-10):min(len(whole), i+10)], err)
			}
		}
	}
}

func TestWriteSummed_IsWriteWithOneMoreKey(t *testing.T) {
	meta := map[string]string{"format": "pt", sumsKey: "of a file before"}
	f := open(t, summed(t, meta, summedTensors()))
	if len(f.Metadata) != 1 || f.Metadata["format"] != "pt" {
		t.Errorf("metadata %q", f.Metadata)
	}
	var plain bytes.Buffer
	expect.OK(t, Write(&plain, map[string]string{"format": "pt"}, summedTensors()))
	if f.sums == nil || open(t, plain.Bytes()).sums != nil {
		t.Error("checksums although there are none, or none although there are some")
	}
	if !bytes.Equal(summed(t, meta, summedTensors()), summed(t, meta, summedTensors())) {
		t.Error("the same arguments give other bytes")
	}
}

// The error for a program that changes tensors and copies the metadata names the key to leave out.
func TestNewReader_SumsOfAnotherFileNameTheKey(t *testing.T) {
	f := open(t, summed(t, nil, summedTensors()))
	var sums []string
	for range len(f.sums) + 1 {
		sums = append(sums, noSum)
	}
	for name, text := range map[string]string{
		"too few": noSum, "no number": "0000000g" + strings.Repeat(" "+noSum, len(f.sums)),
		"of another header": strings.Join(sums, " "),
	} {
		var b bytes.Buffer
		expect.OK(t, Write(&b, map[string]string{sumsKey: text}, summedTensors()))
		if _, err := NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())); !errors.Is(err, ErrCorrupt) ||
			!strings.Contains(err.Error(), sumsKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
