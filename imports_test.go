package nmn_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The operations of the kernels; each family holds contract and implementations.
var families = []string{"kernels/activation", "kernels/conv", "kernels/noise", "kernels/pixels", "kernels/pool", "kernels/recurrent", "kernels/update"}

// backend is what a user of kernels sees: the interface, its families and their tensors.
var backend = append([]string{"kernels", "kernels/tensor"}, families...)

// leaves may be imported by every package.
var leaves = []string{"internal/rng", "internal/parallel", "format/safetensors", "format/npy", "internal/durable", "loader/shard"}

// room is what a package may import.
type room struct {
	packages []string // of this module, leaves apart
	// others restricts what is not of this module: nil for no restriction, else the only import paths;
	// "std" stands for the whole standard library.
	others []string
	cgo    bool
}

// rooms is the map of the packages, as docs/design.md tells it. cmd/nmn may import everything.
var rooms = func() map[string]room {
	hosts := []string{"std", "gorgonia.org/tensor"}
	m := map[string]room{
		"internal/rng":              {others: []string{"std"}},
		"internal/parallel":         {others: []string{"std"}},
		"bench":                     {others: []string{"std"}}, // scripts
		"format/safetensors":        {others: []string{"std"}},
		"format/npy":                {others: []string{"std"}},
		"format/table":              {packages: []string{"text"}, others: []string{"std"}},
		"internal/durable":          {others: []string{"std", "github.com/google/renameio/v2"}},
		"loader/shard":              {others: []string{"std", "golang.org/x/sys/unix"}},
		"format/weights":            {others: []string{"std", "google.golang.org/protobuf/encoding/protowire"}},
		"loader/frames":             {others: []string{"std", "golang.org/x/sys/unix"}},
		"text":                      {},
		"loader/features":           {others: []string{"std", "github.com/parquet-go/parquet-go"}},
		"loader":                    {packages: []string{"text", "loader/features", "loader/picture", "kernels/tensor", "kernels/simd"}},
		"loader/annotation":         {packages: []string{"loader", "text"}, others: []string{"std"}},
		"loader/manifest":           {packages: []string{"loader", "loader/features", "loader/picture", "text"}, others: []string{"std"}},
		"loader/noise":              {packages: []string{"loader", "text"}, others: []string{"std"}},
		"loader/scenes":             {packages: []string{"loader", "loader/picture", "text"}},
		"loader/picture":            {packages: []string{"kernels/simd", "loader/picture/jpeg", "loader/picture/jpeg/turbo"}, others: []string{"std"}},
		"loader/picture/jpeg":       {packages: []string{"kernels/simd"}, others: []string{"std"}},
		"loader/picture/jpeg/turbo": {others: []string{"std"}, cgo: true},
		"kernels/tensor":            {packages: []string{"kernels/simd", "cuda"}, others: hosts},
		"kernels":                   {packages: append([]string{"kernels/tensor", "kernels/simd", "cuda", "cuda/cudnn"}, families...), others: hosts},
		"kernels/simd":              {others: []string{"std", "golang.org/x/sys/cpu"}},
		"kernels/ref":               {others: []string{"math"}},
		"kernels/conform":           {packages: append([]string{"kernels/ref"}, backend...), others: hosts},
		"kernels/profile":           {packages: backend, others: hosts},
		"kernels/optest":            {packages: []string{"kernels/tensor", "kernels/simd"}, others: hosts},
		"cuda":                      {others: []string{"std", "gorgonia.org/cu"}, cgo: true},
		"cuda/cudnn":                {packages: []string{"cuda"}, others: []string{"std", "gorgonia.org/cu", "gorgonia.org/cu/dnn"}, cgo: true},
		"model/param":               {packages: []string{"kernels/tensor"}, others: hosts},
		"model":                     {packages: append([]string{"model/param"}, backend...)},
		"model/s2vt":                {packages: append([]string{"model/param"}, backend...), others: hosts},
		"format/onnx":               {others: []string{"std", "google.golang.org/protobuf/encoding/protowire"}},
		"model/export":              {packages: []string{"model", "format/onnx"}, others: []string{"std"}},
		// What builds and tests the CUDA engine.
		"cuda/toolkit":             {others: []string{"std"}},
		"cuda/internal/fakedriver": {others: []string{"std"}, cgo: true},
		"cuda/internal/fakecudnn":  {others: []string{"std"}, cgo: true},
		"kernels/gen":              {packages: []string{"kernels/gen/signature"}, others: []string{"std"}},
		"kernels/gen/signature":    {others: []string{"std"}},
		"kernels/emulator/library": {packages: []string{"kernels/emulator"}, others: []string{"std"}},
		"kernels/emulator":         {packages: []string{"kernels/gen/signature"}, others: []string{"std"}},
		"train":                    {packages: append([]string{"loader", "model", "model/param", "eval", "text"}, backend...)},
		"captioning":               {packages: append([]string{"model/s2vt", "train", "loader/annotation", "loader/dataset", "loader/features", "loader/scenes", "text", "eval", "eval/caption"}, backend...)},
		"eval":                     {packages: []string{"text", "labels"}},
		"eval/caption":             {packages: []string{"text"}},
		"labels":                   {packages: []string{"text"}, others: []string{"std"}},
		"labels/rates":             {packages: []string{"labels", "eval", "text"}, others: []string{"std", "golang.org/x/sync/errgroup"}},
		"labels/audit":             {packages: []string{"labels", "labels/rates", "eval", "format/table"}, others: []string{"std", "github.com/parquet-go/parquet-go"}},
		"labels/em":                {packages: []string{"labels", "labels/rates", "eval"}, others: []string{"std"}},
		"labels/crossfit":          {others: []string{"std"}},
		"loader/doctor":            {packages: []string{"loader", "loader/picture", "loader/features"}, others: append([]string{"golang.org/x/sync/errgroup"}, hosts...)},
		"report":                   {packages: []string{"eval", "eval/caption", "text", "labels/rates", "labels/audit"}},
		"telemetry":                {packages: []string{"train", "captioning", "eval/caption", "loader", "text", "telemetry/tensorboard"}},
		"telemetry/tensorboard":    {others: []string{"std", "google.golang.org/protobuf/encoding/protowire"}},
		"run/captioner":            {packages: append([]string{"run", "telemetry", "captioning", "train", "model/s2vt", "loader", "loader/dataset", "eval/caption", "internal/setting"}, backend...)},
		"experiment/table4":        {packages: []string{"experiment", "run/captioner", "run", "recipe", "report", "captioning", "train", "model", "loader", "loader/annotation", "loader/features", "loader/scenes", "eval/caption", "kernels", "internal/setting"}},
		"bench/acceptance":         {others: []string{"std"}},
	}
	for _, family := range families {
		m[family] = room{packages: []string{"kernels/tensor", "kernels/simd", "cuda", "cuda/cudnn"}, others: hosts}
	}
	return m
}()

// forSuites are packages for tests alone: the compliance suite with its fixtures, what makes their
// devices and tensors, and what stands in for a graphics card.
var forSuites = []string{"kernels/conform", "kernels/optest", "kernels/emulator", "cuda/internal/fakedriver", "cuda/internal/fakecudnn"}

// suiteUsers are the packages whose tests may use them.
var suiteUsers = append([]string{"model", "model/s2vt", "train", "captioning", "cuda", "cuda/cudnn"}, backend...)

// dataSets make, read and write data sets. Tests of every package that may use the loader take their data from them.
var dataSets = []string{"loader/annotation", "loader/noise", "loader/scenes"}

// forTests are the imports outside of this module that only tests need.
var forTests = []string{"golang.org/x/sys/unix"}

// file is a Go file with its imports, whatever its build tags are.
type file struct {
	path, folder string
	imports      []string
}

func (f file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// objection tells why a file must not import something; empty when it may.
func objection(f file, imported, module string) string {
	if f.folder == "cmd/nmn" || f.folder == "." {
		return ""
	}
	r, ok := rooms[f.folder]
	if !ok {
		return "its package has no place in the map"
	}
	inner, own := strings.CutPrefix(imported, module+"/")
	switch {
	case imported == "C":
		if !r.cgo {
			return "cgo is confined to cuda and loader/picture/jpeg/turbo"
		}
	case !own:
		return r.objectsOutside(imported, f.test())
	case slices.Contains(leaves, inner) && f.folder != "kernels/ref", slices.Contains(r.packages, inner):
	case f.test() && slices.Contains(dataSets, inner) && (f.folder == "loader" || below(f.folder)["loader"]):
	case f.test() && (inner == f.folder || below(f.folder)[inner] || slices.Contains(forSuites, inner) && slices.Contains(suiteUsers, f.folder)):
	default:
		return "the map has no such edge"
	}
	return ""
}

func (r room) objectsOutside(imported string, test bool) string {
	standard := !strings.Contains(strings.Split(imported, "/")[0], ".")
	switch {
	case r.others == nil, slices.Contains(r.others, imported), standard && slices.Contains(r.others, "std"):
	case test && (standard || slices.Contains(forTests, imported)):
	default:
		return fmt.Sprintf("only %v may be imported from outside", r.others)
	}
	return ""
}

// below is everything that a package reaches: its tests may use it too.
func below(folder string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		for _, next := range rooms[name].packages {
			if !seen[next] {
				seen[next] = true
				visit(next)
			}
		}
	}
	visit(folder)
	return seen
}

func TestImports_FollowTheMap(t *testing.T) {
	files, module := goFiles(t)
	if len(files) < 50 {
		t.Errorf("only %d Go files found", len(files))
	}
	for _, f := range files {
		for _, imported := range f.imports {
			if why := objection(f, imported, module); why != "" {
				t.Errorf("%s imports %q: %s", f.path, imported, why)
			}
		}
	}
}

func TestImports_ForbiddenEdgesAreFound(t *testing.T) {
	for _, c := range []struct {
		path, imported string
		allowed        bool
	}{
		{"model/net.go", "nmn/kernels/conv", true},
		{"model/net.go", "nmn/format/safetensors", true},
		{"text/vocabulary_file.go", "nmn/internal/durable", true},
		{"internal/durable/file.go", "nmn/text", false},
		{"loader/shard/writer.go", "nmn/internal/durable", true},
		{"loader/shard/reader.go", "nmn/loader", false},
		{"loader/frames/make.go", "nmn/loader/shard", true},
		{"loader/frames/make.go", "nmn/loader", false},
		{"loader/set.go", "nmn/loader/shard", true},
		{"model/net.go", "nmn/kernels/simd", false},
		{"model/net.go", "nmn/kernels/conform", false},
		{"model/net_test.go", "nmn/kernels/conform", true},
		{"kernels/pool/cpu_test.go", "nmn/kernels/optest", true},
		{"kernels/pool/cpu.go", "nmn/kernels/optest", false},
		{"model/net.go", "nmn/train", false},
		{"model/s2vt/net.go", "nmn/model/param", true},
		{"model/param/param.go", "nmn/model", false},
		{"model/net_test.go", "nmn/train", false},
		{"train/loop.go", "nmn/loader", true},
		{"loader/set.go", "nmn/train", false},
		{"eval/ap.go", "nmn/kernels", false},
		{"labels/em/em.go", "nmn/train", false},
		{"labels/audit/suspect.go", "nmn/report", false},
		{"labels/crossfit/plan.go", "nmn/loader", false},
		{"loader/doctor/scan.go", "nmn/loader", true},
		{"loader/encoded.go", "nmn/loader/doctor", false},
		{"telemetry/metrics.go", "nmn/eval", false},
		{"telemetry/metrics_test.go", "nmn/eval", true},
		{"kernels/ref/conv.go", "math", true},
		{"kernels/ref/conv.go", "sort", false},
		{"kernels/ref/conv.go", "nmn/internal/rng", false},
		{"kernels/conv/cpu.go", "nmn/kernels/pool", false},
		{"kernels/conv/cpu.go", "nmn/kernels/ref", false},
		{"kernels/conv/cpu.go", "golang.org/x/sys/cpu", false},
		{"kernels/conv/cpu.go", "C", false},
		{"cuda/device.go", "C", true},
		{"cuda/device.go", "gorgonia.org/tensor", false},
		{"format/safetensors/file.go", "gorgonia.org/tensor", false},
		{"helpers/misc.go", "fmt", false},
		{"cmd/nmn/main.go", "nmn/telemetry", true},
	} {
		f := file{path: c.path, folder: path.Dir(c.path)}
		if why := objection(f, c.imported, "nmn"); (why == "") != c.allowed {
			t.Errorf("%s imports %q: allowed %v, want %v (%s)", c.path, c.imported, why == "", c.allowed, why)
		}
	}
}

// The map itself must not turn back: a package that it lets import another is not reached from there.
func TestImports_TheMapHasNoCycle(t *testing.T) {
	for name := range rooms {
		if below(name)[name] {
			t.Errorf("%s may import itself by a detour", name)
		}
	}
}

// goFiles reads the imports of all Go files of this module, without nested modules and test data.
func goFiles(t *testing.T) (files []file, module string) {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	module = strings.TrimSpace(strings.TrimPrefix(first, "module"))
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			return leaveOut(name, entry.Name())
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{path: name, folder: path.Dir(name)}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, module
}

// leaveOut skips folders that the go tool leaves out of ./..., nested modules, and what is built.
func leaveOut(name, base string) error {
	if name == "." {
		return nil
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	if err == nil || base == "testdata" || name == "build" || name == "runs" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return filepath.SkipDir
	}
	return nil
}
