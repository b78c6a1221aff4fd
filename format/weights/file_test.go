package weights

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
)

func open(t *testing.T, name string) *File {
	t.Helper()
	f, err := Open(filepath.Join("testdata", name))
	expect.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// read returns a tensor, which is read in pieces of a few elements.
func read(t *testing.T, f *File, name string) (safetensors.DType, []int, []float32) {
	t.Helper()
	dtype, shape, err := f.Info(name)
	expect.OK(t, err)
	n, err := count(shape)
	expect.OK(t, err)
	next, err := f.Elements(name)
	expect.OK(t, err)
	values := make([]float32, n)
	for piece := range slices.Chunk(values, 4) {
		expect.OK(t, next(piece))
	}
	if err := next(make([]float32, 1)); err == nil {
		t.Errorf("%s: an element after the last", name)
	}
	return dtype, shape, values
}

// want is the content that make.py has put into a file.
type want struct {
	name   string
	dtype  safetensors.DType
	shape  []int
	values []float32
}

func (w want) hold(t *testing.T, f *File) {
	t.Helper()
	dtype, shape, values := read(t, f, w.name)
	if dtype != w.dtype || !slices.Equal(shape, w.shape) || !slices.Equal(values, w.values) {
		t.Errorf("%s: %s %v %v, want %s %v %v", w.name, dtype, shape, values, w.dtype, w.shape, w.values)
	}
}

var (
	sixth  = []float32{-2.5, -1.5, -.5, .5, 1.5, 2.5}
	thirds = func() []float32 {
		list := make([]float32, len(sixth))
		for i, v := range sixth {
			list[i] = float32(float64(v) / 3)
		}
		return list
	}()
)

func TestTorch_TensorsOfEveryKind(t *testing.T) {
	for name, format := range map[string]string{"zip.pth": "PyTorch", "protocol4.pth": "PyTorch",
		"legacy.pth": "PyTorch before 1.6"} {
		t.Run(name, func(t *testing.T) {
			f := open(t, name)
			if f.Format != format || len(f.Names()) != 9 {
				t.Errorf("%s, %q", f.Format, f.Names())
			}
			for _, w := range []want{
				{"a", safetensors.F32, []int{2, 3}, sixth},
				{"half", safetensors.F16, []int{2, 3}, sixth},
				{"bfloat", safetensors.BF16, []int{2, 3}, sixth},
				{"double", safetensors.F64, []int{2, 3}, thirds},
				{"transposed", safetensors.F32, []int{3, 2}, []float32{-2.5, .5, -1.5, 1.5, -.5, 2.5}},
				{"cut", safetensors.F32, []int{1, 2}, []float32{1.5, 2.5}},
				{"learns", safetensors.F32, []int{2}, []float32{1, -2}},
				{"empty", safetensors.F32, []int{0, 4}, []float32{}},
			} {
				w.hold(t, f)
			}
			if _, err := f.Elements("steps"); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "I64") ||
				!strings.Contains(err.Error(), `"steps"`) {
				t.Errorf("integers as weights: %v", err)
			}
		})
	}
}

func TestTorch_StateOfATrainingLoop(t *testing.T) {
	f := open(t, "loop.pth")
	if names := f.Names(); !slices.Equal(names, []string{"0.weight", "0.bias"}) {
		t.Errorf("names %q, want those without module.", names)
	}
	_, _, bias := read(t, f, "0.bias")
	if math.Abs(float64(bias[0])+.11877556) > 1e-7 || math.Abs(float64(bias[1])-.2937234) > 1e-7 {
		t.Errorf("bias %v", bias)
	}
}

func TestTorch_AWholeModuleIsRefusedByTheNameItAsksFor(t *testing.T) {
	_, err := Open(filepath.Join("testdata", "program.pth"))
	for _, part := range []string{"program.pth", "data.pkl", "byte 2", `"torch.nn.modules.container.Sequential"`,
		"state_dict()"} {
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want %s in it", err, part)
		}
	}
}

func TestNPZ_ArraysStoredAndCompressed(t *testing.T) {
	for _, name := range []string{"arrays.npz", "compressed.npz"} {
		f := open(t, name)
		for _, w := range []want{
			{"a", safetensors.F32, []int{2, 3}, sixth},
			{"half", safetensors.F16, []int{2, 3}, sixth},
			{"double", safetensors.F64, []int{2, 3}, thirds},
			{"big", safetensors.F32, []int{2, 3}, sixth},
		} {
			w.hold(t, f)
		}
		if _, err := f.Elements("text"); err == nil {
			t.Errorf("%s: text as weights", name)
		}
	}
	if _, err := Open(filepath.Join("testdata", "fortran.npz")); err == nil ||
		!strings.Contains(err.Error(), "ascontiguousarray") {
		t.Errorf("Fortran order: %v", err)
	}
}

func TestSafetensors_IsReadAsWeights(t *testing.T) {
	var b bytes.Buffer
	tensors := []safetensors.Tensor{{Name: "model.a", Shape: []int{2, 3}, Data: sixth},
		{Name: "model.ids", Shape: []int{1}, Data: []int64{3}}}
	expect.OK(t, safetensors.Write(&b, map[string]string{"key": "value"}, tensors))
	f, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "w.safetensors")
	expect.OK(t, err)
	want{"a", safetensors.F32, []int{2, 3}, sixth}.hold(t, f)
	if f.Metadata["key"] != "value" {
		t.Errorf("metadata %v", f.Metadata)
	}
}

func TestOpen_OtherFilesAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.txt": "weights, perhaps", "empty.pth": "",
		"keras.h5": "\x89HDF\r\n\x1a\n", "zip.npz": "PK\x05\x06" + strings.Repeat("\x00", 18)} {
		path := filepath.Join(dir, name)
		expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
		if _, err := Open(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder opened")
	}
}

// Every byte of a file may be missing or another: that gives an error or the same tensors, never a panic.
func TestOpen_FilesCutShort(t *testing.T) {
	for _, name := range []string{"zip.pth", "legacy.pth", "arrays.npz", "compressed.npz"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		expect.OK(t, err)
		for size := range whole {
			if f, err := Read(bytes.NewReader(whole[:size]), int64(size), name); err == nil {
				t.Fatalf("%s: %d of %d bytes gave %q", name, size, len(whole), f.Names())
			}
		}
	}
}

func TestZip_ADamagedStorageIsFoundByItsChecksum(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "zip.pth"))
	expect.OK(t, err)
	at := bytes.Index(content, []byte("\x00\x00\x20\xc0\x00\x00\xc0\xbf")) // -2.5 and -1.5
	content[at+6] ^= 1
	f, err := Read(bytes.NewReader(content), int64(len(content)), "damaged.pth")
	expect.OK(t, err)
	next, err := f.Elements("a")
	expect.OK(t, err)
	if err := next(make([]float32, 6)); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "checksum") ||
		!strings.Contains(err.Error(), `"a"`) {
		t.Errorf("%v, want one about the checksum that names the tensor", err)
	}
}

// A prefix from a training loop is removed only if all names have it.
func TestNames_LosePrefixesThatAllOfThemHave(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"module.a", "module.b"}, []string{"a", "b"}},
		{[]string{"module.model.a", "module.model.b"}, []string{"a", "b"}},
		{[]string{"model.module.a", "model.module.b"}, []string{"a", "b"}},
		{[]string{"model.module.a", "model.b"}, []string{"module.a", "b"}},
		{[]string{"module.a", "step"}, []string{"module.a", "step"}},
		{[]string{"step", "zoo.module.a"}, []string{"step", "zoo.module.a"}},
		{[]string{"model.a", "module.b"}, []string{"model.a", "module.b"}},
	} {
		var tensors []safetensors.Tensor
		for _, name := range c.in {
			tensors = append(tensors, safetensors.Tensor{Name: name, Shape: []int{6}, Data: sixth})
		}
		var b bytes.Buffer
		expect.OK(t, safetensors.Write(&b, nil, tensors))
		f, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "w.safetensors")
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if names := f.Names(); !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%q are called %q, want %q", c.in, names, c.want)
		}
	}
}
