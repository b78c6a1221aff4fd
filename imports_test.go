package nmn_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestImports_FollowTheTable(t *testing.T) {
	files, module := goFiles(t)
	table := readTable(t)
	if len(files) < 50 {
		t.Errorf("only %d Go files found", len(files))
	}
	for _, f := range files {
		for _, imported := range f.imports {
			if why := table.objection(f, imported, module); why != "" {
				t.Errorf("%s imports %q: %s", f.path, imported, why)
			}
		}
	}
}

func TestImports_ForbiddenEdgesAreFound(t *testing.T) {
	table := readTable(t)
	for _, c := range []struct {
		path, imported string // ./ begins the path of a package of this module
		allowed        bool
	}{
		{"model/net.go", "./kernels/conv", true},
		{"model/net.go", "./format/safetensors", true},
		{"text/vocabulary.go", "./internal/durable", true},
		{"internal/durable/file.go", "./text", false},
		{"internal/rng/rng.go", "./model", false},
		{"loader/shard/writer.go", "./internal/durable", true},
		{"loader/shard/reader.go", "./loader", false},
		{"loader/frames/make.go", "./loader/shard", true},
		{"loader/frames/make.go", "./loader", false},
		{"loader/set.go", "./loader/shard", true},
		{"model/net.go", "./kernels/simd", false},
		{"model/net.go", "./tools/conform", false},
		{"model/net_test.go", "./tools/conform", true},
		{"kernels/pool/cpu_test.go", "./tools/optest", true},
		{"kernels/pool/cpu.go", "./tools/optest", false},
		{"report/table_test.go", "./tools/conform", false},
		{"model/net.go", "./train", false},
		{"captioner/s2vt/net.go", "./model/param", true},
		{"model/param/param.go", "./model", false},
		{"model/net_test.go", "./train", false},
		{"train/loop.go", "./loader", true},
		{"train/loop_test.go", "./loader/scenes", true},
		{"train/loop.go", "./loader/scenes", false},
		{"eval/ap_test.go", "./loader/scenes", false},
		{"loader/set.go", "./train", false},
		{"eval/ap.go", "./kernels", false},
		{"labels/rates/em/em.go", "./train", false},
		{"labels/audit/suspect.go", "./report", false},
		{"labels/rates/crossfit/plan.go", "./loader", false},
		{"loader/doctor/scan.go", "./loader", true},
		{"loader/encoded.go", "./loader/doctor", false},
		{"telemetry/metrics.go", "./eval", false},
		{"telemetry/metrics_test.go", "./eval", true},
		{"train/loop.go", "./captioner", false},
		{"report/run.go", "./recipe", false},
		{"recipe/arms.go", "./run", false},
		{"run/session.go", "./recipe", true},
		{"run/session.go", "./experiment", false},
		{"tools/ref/conv.go", "math", true},
		{"tools/ref/conv.go", "sort", false},
		{"tools/ref/conv.go", "./internal/rng", false},
		{"tools/ref/conv_test.go", "./internal/rng", false},
		{"kernels/conv/cpu.go", "./kernels/pool", false},
		{"kernels/conv/cpu.go", "./tools/ref", false},
		{"kernels/conv/cpu.go", "golang.org/x/sys/cpu", false},
		{"kernels/conv/cpu.go", "C", false},
		{"cuda/device.go", "C", true},
		{"cuda/device.go", "gorgonia.org/tensor", false},
		{"cuda/device.go", "gorgonia.org/cu/dnn", false},
		{"telemetry/metrics/server.go", "github.com/prometheus/client_golang/prometheus", true},
		{"telemetry/log.go", "github.com/prometheus/client_golang/prometheus", false},
		{"report/table.go", "github.com/spf13/cobra", false},
		{"format/safetensors/file.go", "gorgonia.org/tensor", false},
		{"helpers/misc.go", "fmt", false},
		{"cmd/nmn/main.go", "./telemetry", true},
		{"cmd/nmn/main.go", "./cmd/nmn/flags", true},
		{"cmd/nmn/main.go", "./examples/audit", false},
		{"train/loop_test.go", "./cmd/nmn", false},
	} {
		f := file{path: c.path, folder: path.Dir(c.path)}
		imported := c.imported
		if inner, own := strings.CutPrefix(imported, "./"); own {
			imported = "example.org/nmn/" + inner
		}
		if why := table.objection(f, imported, "example.org/nmn"); (why == "") != c.allowed {
			t.Errorf("%s imports %q: allowed %v, want %v (%s)", c.path, c.imported, why == "", c.allowed, why)
		}
	}
}

func TestImports_TheTableIsTrue(t *testing.T) {
	listed := readTable(t)
	actual := actualImports(goFiles(t))
	for folder := range listed {
		if _, exists := actual[folder]; !exists {
			t.Errorf("%s has a line, but no Go files: go test . -run Imports -update", folder)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(actual)) {
		if layerOf(folder) < 0 {
			t.Errorf("%s stands in no layer: see layers in imports_rules_test.go", folder)
		}
		if !slices.Equal(listed[folder], actual[folder]) {
			t.Errorf("%s imports %v, but its line says %v: go test . -run Imports -update", folder, actual[folder],
				listed[folder])
		}
	}
}

func TestPackages_HaveAComment(t *testing.T) {
	files, _ := goFiles(t)
	described := map[string]bool{}
	for _, f := range files {
		if !f.test() {
			described[f.folder] = described[f.folder] || f.doc != ""
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(described)) {
		if !described[folder] {
			t.Errorf("%s has no comment above its package clause that says what it is for", folder)
		}
	}
}

// A package that imports another is not reached from there, under any build tags.
func TestImports_TheTableHasNoCycle(t *testing.T) {
	table := readTable(t)
	for folder := range table {
		if table.below(folder)[folder] {
			t.Errorf("%s imports itself by a detour", folder)
		}
	}
}

func TestImports_TheDrawingShowsTheLayers(t *testing.T) {
	drawn := drawnLayers(readFile(t, designPage))
	slices.Reverse(drawn)
	if !slices.EqualFunc(drawn, layers, slices.Equal) {
		t.Errorf("the drawing of %s shows, from the ground up,\n%v, want\n%v", designPage, drawn, layers)
	}
}

func TestImports_UpdateListsPackages(t *testing.T) {
	want := tableHead + "cmd/nmn: anything\ntext:\ntrain: internal/rng text\n"
	files := []file{
		{path: "train/loop.go", folder: "train", imports: []string{"fmt", "m/text", "m/internal/rng"}},
		{path: "train/loop_test.go", folder: "train", imports: []string{"m/eval"}},
		{path: "text/word.go", folder: "text"},
		{path: "cmd/nmn/main.go", folder: "cmd/nmn", imports: []string{"m/train"}},
		{path: "container_test.go", folder: ".", imports: []string{"m/train"}},
	}
	made := table(actualImports(files, "m"))
	if made.String() != want {
		t.Fatalf("table:\n%s\nwant:\n%s", made, want)
	}
	read, err := parseTable(want)
	if err != nil || read.String() != want {
		t.Errorf("read again: %v\n%s", err, read)
	}
	if _, err := parseTable("text:\ntext:\n"); err == nil {
		t.Error("two lines for one package are accepted")
	}
}

// The product has few folders at the top level. The other roofs, and folders without packages, do not count.
func TestTopLevel_HasFewFolders(t *testing.T) {
	const most = 18
	files, err := readGoFiles()
	if err != nil {
		t.Fatal(err)
	}
	otherRoofs := []string{".", "bench", "captioner", "paper", "tools", "examples", "docker"}
	var folders []string
	for _, f := range files {
		top, _, _ := strings.Cut(f.folder, "/")
		if !slices.Contains(otherRoofs, top) && !slices.Contains(folders, top) {
			folders = append(folders, top)
		}
	}
	if len(folders) > most {
		t.Errorf("%d folders of the product at the top level, at most %d: %v", len(folders), most, folders)
	}
}
