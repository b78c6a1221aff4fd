package product

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nmn/cuda/cublas"
)

func example() *choices {
	c := newChoices(130100, 91300, "a card")
	c.Products["forward"] = Choice{Library: CuBLASLt, Way: &cublas.Way{Algorithm: [8]uint64{1, 1 << 63}, Workspace: 64},
		CuBLASLt: 2.5, CuDNN: 3}
	c.Products["data gradient"] = Choice{Library: CuDNN, CuDNN: 3}
	return c
}

func TestChoices_ComeBackFromTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "products.json")
	want, got := example(), newChoices(130100, 91300, "a card")
	if err := got.read(path); err != nil || len(got.Products) != 0 {
		t.Errorf("a file that does not exist: %v, %v", got.Products, err)
	}
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	if err := got.read(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %+v, want %+v", err, got, want)
	}
}

func TestChoices_OfSomethingElseOrCorruptAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "products.json")
	if err := example().write(path); err != nil {
		t.Fatal(err)
	}
	for _, other := range []*choices{newChoices(130200, 91300, "a card"), newChoices(130100, 91400, "a card"),
		newChoices(130100, 91300, "b")} {
		if err := other.read(path); err == nil || !strings.Contains(err.Error(), path) || len(other.Products) != 0 {
			t.Errorf("%v, %v: want an error that names the file", other, err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"format": 1`, `"format": 2`}, {`"products"`, `"others"`}, {`"cudnn",`, `"mkl",`}, {`"cublaslt",`, `"cudnn",`},
		{`"workspace": 64`, `"workspace": -64`}, {`2.5`, `-2.5`}, {"}", ""}, {`"way"`, `"weg"`},
	} {
		bad := strings.Replace(string(text), change[0], change[1], 1)
		if _, err := decodeChoices(strings.NewReader(bad)); bad == string(text) || err == nil {
			t.Errorf("%s in place of %s passes", change[1], change[0])
		}
	}
}

// Whatever a file holds, it is refused or can be written and read again.
func FuzzDecodeChoices(f *testing.F) {
	path := filepath.Join(f.TempDir(), "products.json")
	if err := example().write(path); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":1,"products":{"":{"library":"cudnn"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := decodeChoices(bytes.NewReader(text))
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "again.json")
		again := newChoices(c.CuBLASLt, c.CuDNN, c.Device)
		if err := c.write(path); err != nil {
			t.Fatal(err)
		}
		if err := again.read(path); err != nil || len(again.Products) != len(c.Products) {
			t.Errorf("%v: %d products, want %d", err, len(again.Products), len(c.Products))
		}
	})
}
