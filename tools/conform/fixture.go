package conform

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
)

//go:embed testdata/oracle
var golden embed.FS

// OracleEnv is the environment variable that names a folder of fixtures to use instead of the
// ones in the repository: same files and format, other shapes and values.
const OracleEnv = "NMN_ORACLE"

// Fixture is one golden file: inputs that are exact in float32 and expected values in float64, made by
// automatic differentiation, with a tolerance for each. Images and filters are channels first, as in the
// file. See Array for the conversions.
type Fixture struct {
	Name, Doc string
	Meta      map[string]any // settings of the fixture; numbers are float64

	t      testing.TB
	arrays map[string]Array // by path: "inputs.x", "expected.mean.d_U"; scalars have an empty shape
	others map[string]any   // lists and texts by path
}

// LoadFixture reads a fixture by its name without extension and ends the test when that fails.
func LoadFixture(t testing.TB, name string) *Fixture {
	t.Helper()
	f, err := readFixture(oracle(), name)
	if err != nil {
		t.Fatalf("fixture %q: %v", name, err)
	}
	f.t = t
	return f
}

// FixtureNames returns the names of all fixtures that match a pattern of path.Match, in order. It ends the
// test when there is none.
func FixtureNames(t testing.TB, pattern string) []string {
	t.Helper()
	entries, err := fs.ReadDir(oracle(), ".")
	if err != nil {
		t.Fatalf("fixtures: %v", err)
	}
	var names []string
	for _, entry := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(entry.Name(), ".json"), ".safetensors")
		if ok, err := path.Match(pattern, name); err != nil || ok && name != entry.Name() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("fixtures: none matches %q", pattern)
	}
	return slices.Compact(names)
}

func oracle() fs.FS {
	if folder := os.Getenv(OracleEnv); folder != "" {
		return os.DirFS(folder)
	}
	files, err := fs.Sub(golden, "testdata/oracle")
	if err != nil {
		panic(err) // the path above is constant
	}
	return files
}

func readFixture(files fs.FS, name string) (*Fixture, error) {
	text, err := fs.ReadFile(files, name+".json")
	if err == nil {
		return parseJSON(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	data, err := fs.ReadFile(files, name+".safetensors")
	if err != nil {
		return nil, fmt.Errorf("neither .json nor .safetensors: %w", err)
	}
	return parseSafetensors(data)
}

// header is what both forms of a fixture share.
type header struct {
	Name, Doc string
	Meta      map[string]any
	Tolerance map[string]Tolerance
	Inputs    map[string]any // JSON only
	Expected  map[string]any
	Scalars   map[string]any // safetensors only, by path
}

func parseJSON(text []byte) (*Fixture, error) {
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, err
	}
	f := newFixture(h)
	if err := f.walk("inputs", h.Inputs); err != nil {
		return nil, err
	}
	return f, errors.Join(f.walk("expected", h.Expected), f.tolerate(h.Tolerance))
}

func newFixture(h header) *Fixture {
	return &Fixture{Name: h.Name, Doc: h.Doc, Meta: h.Meta, arrays: map[string]Array{}, others: map[string]any{}}
}

func parseSafetensors(data []byte) (*Fixture, error) {
	file, err := safetensors.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal([]byte(file.Metadata["fixture"]), &h); err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	f := newFixture(h)
	for _, name := range file.Names() {
		a := Array{Name: name}
		if dtype, shape, _ := file.Info(name); dtype == safetensors.I64 {
			values, _, err := file.Int64(name)
			if err != nil {
				return nil, err
			}
			a.Shape, a.Data, a.exact = shape, wide(values), true
		} else {
			values, shape, err := file.Float32(name)
			if err != nil {
				return nil, err
			}
			a.Shape, a.Data = shape, wide(values)
		}
		f.arrays[name] = a
	}
	return f, errors.Join(f.walk("", h.Scalars), f.tolerate(h.Tolerance))
}

// walk collects the tensors, numbers and other values of a JSON object under their paths.
func (f *Fixture) walk(prefix string, object map[string]any) error {
	for key, value := range object {
		path := strings.TrimPrefix(prefix+"."+key, ".")
		switch value := value.(type) {
		case float64:
			f.arrays[path] = Array{Name: path, Data: []float64{value}}
		case map[string]any:
			if _, ok := value["data"]; !ok {
				if err := f.walk(path, value); err != nil {
					return err
				}
				continue
			}
			a, err := parseArray(path, value)
			if err != nil {
				return err
			}
			f.arrays[path] = a
		default:
			f.others[path] = value
		}
	}
	return nil
}

func parseArray(path string, object map[string]any) (Array, error) {
	a := Array{Name: path, exact: object["dtype"] == "int"}
	shape, _ := object["shape"].([]any)
	size := 1
	for _, d := range shape {
		n, ok := d.(float64)
		if !ok || n < 0 || n > 1e9 {
			return a, fmt.Errorf("%s: %v is not a dimension", path, d)
		}
		a.Shape = append(a.Shape, int(n))
		size *= int(n)
	}
	data, _ := object["data"].([]any)
	if len(data) != size {
		return a, fmt.Errorf("%s: %d values for shape %v", path, len(data), a.Shape)
	}
	for _, v := range data {
		n, ok := v.(float64)
		if !ok { // null: undefined
			n = math.NaN()
		}
		a.Data = append(a.Data, n)
	}
	return a, nil
}

// tolerate gives every expected array its tolerance. "*" stands for the whole file.
func (f *Fixture) tolerate(tolerances map[string]Tolerance) error {
	for path, a := range f.arrays {
		tolerance, ok := tolerances[strings.TrimPrefix(path, "expected.")]
		if !ok {
			tolerance, ok = tolerances["*"]
		}
		if ok && strings.HasPrefix(path, "expected.") {
			a.Tolerance = &tolerance
			f.arrays[path] = a
		}
	}
	if f.Name == "" {
		return errors.New("the fixture has no name")
	}
	return nil
}

// FixtureNet is the network of the tiny_net fixtures: blocks of convolutions, each with a pool, and the
// three layers of the head as convolutions.
type FixtureNet struct {
	Height, Width  int   // of the images
	Depths, Widths []int // convolutions of each block, and their channels, equal within a block
	FC6, FC6Kernel int   // channels and side of the filter
	FC6Pad         int
	FC7, Classes   int
}

// Net reads the network from the fixture that holds its parameters. The size of the images comes from its own
// batch.
func (f *Fixture) Net() FixtureNet {
	f.t.Helper()
	x, fc6 := f.Input("x").Shape, f.Input("params.fc6.w").Shape
	n := FixtureNet{Height: x[2], Width: x[3], FC6: fc6[0], FC6Kernel: fc6[2], FC6Pad: f.Setting("fc6_pad"),
		FC7: f.Input("params.fc7.w").Shape[0], Classes: f.Setting("K")}
	blocks, _ := f.Meta["blocks"].([]any)
	for _, block := range blocks {
		channels, _ := block.([]any) // of each convolution
		if len(channels) == 0 {
			f.t.Fatalf("fixture %q has a block without convolutions", f.Name)
		}
		width, _ := channels[0].(float64)
		n.Depths = append(n.Depths, len(channels))
		n.Widths = append(n.Widths, int(width))
	}
	return n
}

// Setting is a whole number of Meta.
func (f *Fixture) Setting(name string) int {
	f.t.Helper()
	v, ok := f.Meta[name].(float64)
	if !ok {
		f.t.Fatalf("fixture %q has no setting %s", f.Name, name)
	}
	return int(v)
}

// ParamName is the product's name of a parameter of the fixtures, which write conv1_1.w or nmn.U.
func ParamName(fixture string) string {
	name, kind, _ := strings.Cut(fixture, ".")
	kind = map[string]string{"w": "weight", "b": "bias", "U": "weight"}[kind]
	switch {
	case strings.HasPrefix(name, "conv"):
		return "backbone." + name + "." + kind
	case name == "nmn":
		return "nmn." + kind
	}
	return "head." + name + "." + kind
}
