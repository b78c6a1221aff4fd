package weights

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
)

// npzOf is an archive of one compressed array.
func npzOf(t testing.TB, header string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("w.npy")
	if err == nil {
		_, err = w.Write([]byte(npy.Magic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header))
	}
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	expect.OK(t, err)
	return b.Bytes()
}

func TestNPZ_BrokenArraysAreRefused(t *testing.T) {
	head := func(shape string) string {
		return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }"
	}
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"too little data": {npzOf(t, head("(3,)"), make([]byte, 8)), "does not fill"},
		"too much data":   {npzOf(t, head("(1,)"), make([]byte, 8)), "does not fill"},
		"overflow":        {npzOf(t, head("(2147483647, 2147483647, 2147483647)"), nil), "too large"},
	} {
		if _, err := Read(bytes.NewReader(c.content), int64(len(c.content)), "w.npz"); !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q in it", name, err, c.says)
		}
	}
}

// A bomb is an archive of a few kB that claims a large tensor: opening it and reading the start takes the
// memory of the pieces that are asked for.
func TestZip_ABombIsReadInPieces(t *testing.T) {
	content := npzOf(t, "{'descr': '<f4', 'fortran_order': False, 'shape': (16777216,), }", make([]byte, 64<<20))
	if len(content) > 1<<17 {
		t.Fatalf("an archive of %d bytes is no bomb", len(content))
	}
	f, err := Read(bytes.NewReader(content), int64(len(content)), "bomb.npz")
	expect.OK(t, err)
	piece := make([]float32, 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	next, err := f.Elements("w")
	if err == nil {
		err = next(piece)
	}
	runtime.ReadMemStats(&after)
	expect.OK(t, err)
	allocated := after.TotalAlloc - before.TotalAlloc
	if allocated > 1<<20 {
		t.Errorf("%d bytes for %d elements", allocated, len(piece))
	}
}

// FuzzRead reads files that may be of any format.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"arrays.npz", "compressed.npz", "loop.pth", "legacy.pth"} {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) { readAll(t, content, "fuzz.pth") })
}

// readAll reads all elements of a file that may be broken, and compares their size with the file's.
func readAll(t *testing.T, content []byte, name string) {
	f, err := Read(bytes.NewReader(content), int64(len(content)), name)
	if err != nil {
		return
	}
	for _, name := range f.Names() {
		dtype, shape, err := f.Info(name)
		expect.OK(t, err)
		n, err := count(shape)
		if !floating(dtype) || err != nil || n > 1<<16 {
			continue // elements of unknown tensors are never read
		}
		next, err := f.Elements(name)
		if err != nil {
			continue
		}
		_ = next(make([]float32, n)) // data may be cut short or damaged
		if err := next(make([]float32, 1)); err == nil {
			t.Fatalf("tensor %q %v has more elements than its shape", name, shape)
		}
	}
}
