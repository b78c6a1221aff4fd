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
	p := readPage(t)
	if len(files) < 50 {
		t.Errorf("only %d Go files found", len(files))
	}
	for _, f := range files {
		for _, imported := range f.imports {
			if why := p.objection(f, imported, module); why != "" {
				t.Errorf("%s imports %q: %s", f.path, imported, why)
			}
		}
	}
}

func TestImports_ForbiddenEdgesAreFound(t *testing.T) {
	p := readPage(t)
	for _, c := range []struct {
		path, imported string // ./ begins the path of a package of this module
		allowed        bool
	}{
		{"model/net.go", "./kernels/conv", true},
		{"model/net.go", "./format/safetensors", true},
		{"text/vocabulary_file.go", "./internal/durable", true},
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
		{"tools/acceptance/main.go", "./eval", false},
		{"tools/acceptance/main.go", "go.yaml.in/yaml/v3", false},
		{"report/chart/png.go", "gonum.org/v1/plot/vg", true},
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
		if why := p.objection(f, imported, "example.org/nmn"); (why == "") != c.allowed {
			t.Errorf("%s imports %q: allowed %v, want %v (%s)", c.path, c.imported, why == "", c.allowed, why)
		}
	}
}

// The page says what is, no less and no more.
func TestImports_TheTablesAreTrue(t *testing.T) {
	p := readPage(t)
	files, module := goFiles(t)
	actual := actualImports(files, module)
	seen := map[string]bool{}
	for _, r := range p.rows {
		imports, exists := actual[r.folder]
		switch i := layerOf(r.folder); {
		case !exists:
			t.Errorf("%s has a row, but no Go files", r.folder)
		case seen[r.folder]:
			t.Errorf("%s has more than one row", r.folder)
		case i < 0: // reported below
		case r.layer != strings.Join(layers[i], ", "):
			t.Errorf("%s stands in the table of %q, want %q", r.folder, r.layer, strings.Join(layers[i], ", "))
		case !strings.HasSuffix(r.sentence, "."):
			t.Errorf("%s: its row has no sentence that says what the package is for", r.folder)
		}
		seen[r.folder] = true
		if !slices.Equal(slices.Sorted(slices.Values(r.imports)), imports) {
			t.Errorf("%s imports %v, but its row says %v: go test . -run Imports -update", r.folder, imports, r.imports)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(actual)) {
		if layerOf(folder) < 0 {
			t.Errorf("%s stands in no layer: see layers in imports_rules_test.go", folder)
		} else if !seen[folder] {
			t.Errorf("%s has no row: go test . -run Imports -update adds one, then write its sentence", folder)
		}
	}
}

// The tables must not turn back: a package that imports another is not reached from there, under any build tags.
func TestImports_TheTablesHaveNoCycle(t *testing.T) {
	p := readPage(t)
	for _, r := range p.rows {
		if p.below(r.folder)[r.folder] {
			t.Errorf("%s imports itself by a detour", r.folder)
		}
	}
}

func TestImports_TheDrawingShowsTheLayers(t *testing.T) {
	drawn := readPage(t).drawing
	slices.Reverse(drawn)
	if !slices.EqualFunc(drawn, layers, slices.Equal) {
		t.Errorf("the drawing of %s shows, from the ground up,\n%v, want\n%v", designPage, drawn, layers)
	}
}

func TestImports_UpdateKeepsSentences(t *testing.T) {
	const head = "| package | what it is for | imports |\n|---|---|---|\n"
	const before = "# Design\n\n## The packages\n\n| train |\n\n### wrong\n\n" + head +
		"| `train` | Trains. | `text` |\n| `gone` | Is gone. | - |\n| `cmd/nmn` | Runs. | - |\n\n" +
		"## Next\n\n| `no` | row | - |\n"
	const want = "# Design\n\n## The packages\n\n| train |\n\n" +
		"### internal, format, text, ranks\n\n" + head + "| `internal/rng` |  | - |\n| `text` |  | - |\n\n" +
		"### train\n\n" + head + "| `train` | Trains. | `internal/rng`, `text` |\n\n" +
		"### cmd, examples, bench, tools\n\n" + head + "| `cmd/nmn` | Runs. | anything |\n\n" +
		"## Next\n\n| `no` | row | - |\n"
	files := []file{
		{"train/loop.go", "train", []string{"fmt", "m/text", "m/internal/rng"}},
		{"train/loop_test.go", "train", []string{"m/eval"}},
		{"text/word.go", "text", nil},
		{"internal/rng/rng.go", "internal/rng", nil},
		{"cmd/nmn/main.go", "cmd/nmn", []string{"m/train"}},
		{"container_test.go", ".", []string{"m/train"}},
		{"elsewhere/elsewhere.go", "elsewhere", nil},
	}
	text := before
	for range 2 {
		p, err := parsePage(text)
		if err != nil {
			t.Fatal(err)
		}
		p.follow(actualImports(files, "m"))
		if text = p.String(); text != want {
			t.Fatalf("updated page:\n%s\nwant:\n%s", text, want)
		}
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
