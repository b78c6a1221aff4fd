package nmn_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// layers are the folders at the top level that hold packages, from the ground up. A package imports packages of its
// own layer and of the layers below it; imports.txt lists them. The last layer holds programs, which nothing imports.
var layers = [][]string{
	{"internal", "format", "text", "ranks"},
	{"cuda"},
	{"kernels"},
	{"model", "loader", "eval", "labels"},
	{"train"},
	{"captioner"},
	{"report", "telemetry"},
	{"recipe"},
	{"run"},
	{"experiment"},
	{"paper"},
	{"cmd", "examples", "bench", "tools"},
}

// elsewhere are the packages that stand in another layer than the folder at the top level that holds them, by the
// folder whose layer it is: roofs group packages by who needs them, not by what they stand on.
var elsewhere = map[string]string{
	"captioner/s2vt": "model", "captioner/metrics": "eval", "captioner/session": "run", "bench/measure": "run",
	"tools/ref": "internal", "tools/ranksuite": "internal", "tools/optest": "kernels", "tools/conform": "kernels",
	"tools/emulator": "kernels", "tools/launchgen/signature": "kernels",
}

// free are the folders whose packages may import anything; their lines say so instead of listing it.
var free = []string{"cmd", "examples"}

// withoutLine are the packages that consist of tests, of the repository and of the scripts.
var withoutLine = []string{".", "bench"}

// withCgo are the only packages that may use cgo.
var withCgo = []string{
	"cuda", "cuda/cublas", "cuda/cudnn", "cuda/nccl", "cuda/internal/fakedriver", "ranks/mpi",
}

// outside names the packages that may import what is neither of this module nor of the standard library; "/..." stands
// for all packages below a path. From the layer of recipe upward there is no restriction.
var outside = map[string][]string{
	"cogentcore.org/lab/base/mpi":             {"ranks/mpi"},
	"github.com/blevesearch/snowballstem/...": {"captioner/metrics"},
	"github.com/google/renameio/v2":           {"internal/durable"},
	"github.com/jdkato/prose/v2":              {"text/english"},
	"github.com/parquet-go/parquet-go":        {"format/parquet"},
	"github.com/prometheus/client_golang/...": {"telemetry/metrics"},
	"github.com/prometheus/client_model/go":   {"telemetry/metrics"},
	"github.com/prometheus/common/...":        {"telemetry/metrics"},
	"golang.org/x/sync/errgroup":              {"loader/doctor"},
	"go.yaml.in/yaml/v3":                      {"loader/manifest"},
	"golang.org/x/image/...":                  {"loader/picture"},
	"golang.org/x/sync/semaphore":             {"loader/picture"},
	"golang.org/x/sys/cpu":                    {"kernels/simd"},
	"golang.org/x/sys/unix": {
		"ranks/launch", "internal/lock", "loader/frames", "tools/chaos", "tools/chaos/inject",
	},
	"golang.org/x/sys/windows":    {"internal/lock"},
	"golang.org/x/text/encoding":  {"loader/annotation"},
	"golang.org/x/text/transform": {"loader/annotation"},
	"golang.org/x/text/unicode/norm": {"loader", "loader/features", "loader/manifest", "loader/relabel",
		"text"},
	"google.golang.org/protobuf/encoding/protowire": {"format/onnx", "telemetry/tensorboard"},
	"gorgonia.org/cu":     {"cuda", "cuda/cudnn"},
	"gorgonia.org/cu/dnn": {"cuda/cudnn"},
	"gorgonia.org/tensor": append([]string{
		"kernels/tensor", "tools/conform", "kernels/profile", "tools/optest", "kernels/reduce", "kernels",
		"model", "model/backbone", "model/param", "captioner/s2vt", "model/vit", "loader", "loader/dataset", "loader/doctor",
		"loader/scenes", "eval", "train", "captioner",
	}, families...),
}

// outsideInTests names further packages whose tests, and nothing else of them, may import such modules.
var outsideInTests = map[string][]string{
	"github.com/jdkato/prose/v2": {"text"},
	"github.com/parquet-go/parquet-go": {"format/records", "loader/features", "labels/audit",
		"labels/misplaced", "labels/audit/rows"},
	"go.yaml.in/yaml/v3":                            {"loader/dataset", "telemetry/metrics"},
	"google.golang.org/protobuf/encoding/protowire": {"model/export", "telemetry"},
	"gorgonia.org/tensor":                           {"telemetry"},
}

// alone are packages that import this and nothing else. The oracle of the kernels must share no code with the product,
// for an error in it would hide in both.
var alone = map[string]string{"tools/ref": "math"}

// The operations of the kernels; each family holds contract and implementations.
var families = []string{
	"kernels/activation", "kernels/conv", "kernels/noise", "kernels/pixels", "kernels/pool", "kernels/recurrent",
	"kernels/transformer", "kernels/update",
}

// forSuites are packages for tests alone: the compliance suite with its fixtures, the operations in float64, what makes
// devices and tensors, and what stands in for a graphics card.
var forSuites = []string{
	"tools/conform", "tools/ref", "tools/optest", "tools/emulator", "cuda/internal/fakedriver", "cuda/internal/fakecudnn",
	"tools/ranksuite", "ranks/local/localtest",
}

// notInProduct are the packages that only tests import, and each other: those for suites, and what builds the emulator.
var notInProduct = append([]string{"tools/emulator/library", "internal/expect"}, forSuites...)

// suiteUsers are the packages whose tests may use those for suites.
var suiteUsers = append([]string{
	"kernels", "kernels/tensor", "model", "captioner/s2vt", "train", "captioner", "cuda", "cuda/cudnn", "cuda/nccl",
	"model/vit", "model/backbone", "model/export", "kernels/profile", "bench/measure", "ranks", "ranks/local", "ranks/mpi",
}, families...)

// dataSets make, read and write data sets. Tests of every package that reaches the loader take their data from them.
var dataSets = []string{"loader/annotation", "labels/inject", "loader/scenes"}

// forTests may be imported by the tests of every package.
var forTests = []string{
	"internal/expect", "internal/rng", "internal/parallel", "internal/durable", "format/parquet", "format/safetensors",
	"format/weights", "format/npy", "loader/shard", "text/english",
	"ranks/local", "ranks/local/localtest", "golang.org/x/sys/unix",
}

// objection says why a file must not import something; it is empty when the file may.
func (t table) objection(f file, imported, module string) string {
	inner, own := strings.CutPrefix(imported, module+"/")
	if own && program(inner) && !sameProgram(f.folder, inner) {
		return "nothing imports a program"
	}
	_, known := t[f.folder]
	switch {
	case f.folder == ".", t.anything(f.folder):
		return ""
	case !known && !slices.Contains(withoutLine, f.folder):
		return tablePath + " has no line for its package: go test . -run Imports -update"
	case alone[f.folder] != "" && !f.test():
		if imported != alone[f.folder] {
			return fmt.Sprintf("%s imports %s alone", f.folder, alone[f.folder])
		}
	case imported == "C":
		if !slices.Contains(withCgo, f.folder) {
			return fmt.Sprintf("only %v may use cgo", withCgo)
		}
	case !own:
		return objectionOutside(f, imported)
	case f.test():
		if !t.testMayUse(f.folder, inner) {
			return "its package does not reach it, nor is it for tests"
		}
	default:
		return t.objectionInside(f.folder, inner)
	}
	return ""
}

// objectionInside is about files that are no tests, and packages of this module.
func (t table) objectionInside(folder, inner string) string {
	from, to := layerOf(folder), layerOf(inner)
	switch {
	case to < 0:
		return "its folder stands in no layer"
	case to > from:
		return fmt.Sprintf("%s stands above %s", strings.Join(layers[to], ", "), strings.Join(layers[from], ", "))
	case slices.Contains(notInProduct, inner) && !slices.Contains(notInProduct, folder):
		return "it is for tests alone"
	case !slices.Contains(t[folder], inner):
		return "its line in " + tablePath + " does not have it; if it should, go test . -run Imports -update"
	}
	return ""
}

// testMayUse reports whether tests of a package may import another package of this module.
func (t table) testMayUse(folder, inner string) bool {
	reached := t.below(folder)
	switch {
	case inner == folder, reached[inner]:
	case slices.Contains(forTests, inner):
		return alone[folder] == ""
	case slices.Contains(dataSets, inner):
		return folder == "loader" || reached["loader"]
	default:
		return slices.Contains(forSuites, inner) && slices.Contains(suiteUsers, folder)
	}
	return true
}

// objectionOutside is about what is not of this module.
func objectionOutside(f file, imported string) string {
	standard := !strings.Contains(strings.Split(imported, "/")[0], ".")
	if standard || layerOf(f.folder) >= layerOf("recipe") && !program(f.folder) ||
		f.test() && (slices.Contains(forTests, imported) || slices.Contains(outsideInTests[imported], f.folder)) {
		return ""
	}
	for name, packages := range outside {
		tree, all := strings.CutSuffix(name, "/...")
		if (imported == tree || all && strings.HasPrefix(imported, tree+"/")) && slices.Contains(packages, f.folder) {
			return ""
		}
	}
	return "outside in imports_rules_test.go does not name its package"
}

// layerOf is the index of a package's layer, or -1.
func layerOf(folder string) int {
	top, _, _ := strings.Cut(cmp.Or(elsewhere[folder], folder), "/")
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, top) })
}

// program reports whether a package stands in the last layer.
func program(folder string) bool { return layerOf(folder) == len(layers)-1 }

// sameProgram reports whether two packages belong to one program, as cmd/nmn and a folder below it do.
func sameProgram(a, b string) bool {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	return len(x) > 1 && len(y) > 1 && x[0] == y[0] && x[1] == y[1]
}
