package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shop is a small tree with one of everything that names its module.
var shop = map[string]string{
	"go.mod": "// Module shop sells.\nmodule shop\n\ngo 1.26.0\n\nrequire github.com/other/shop v1.0.0\n",
	"till/till.go": `// Package till counts. See [shop/goods.Item], but shop/receipts is no package.
package till

import (
	"fmt"
	"shop/goods" // the goods
	"strings"    // words
	"unsafe"

	"github.com/other/shop/goods/v2"
	"shop/goods/rare"
)

//go:linkname price shop/goods.price
func price() int

const source = "import \"shop/goods\"\n"
const run = "runs/shop/goods"
`,
	"goods/goods_cuda.go": "//go:build cuda\n\npackage goods // import \"shop/goods\"\n\n" +
		"import _ `shop/goods/rare`\n",
	"goods/rare/rare_test.go":   "package rare_test\n\nimport . \"shop/goods/rare\"\n",
	"goods/rare/rare.go":        "package rare\n",
	"goods/unformatted.go":      "package goods\nimport ( \"shop/till\"\n\"fmt\" )\n",
	"goods/testdata/broken.go":  "package \"shop/till\" {",
	"tool/gen/go.mod":           "module shop/tool/gen\n\nrequire shop v0.0.0 // shop/goods\n\nreplace shop => ../../\n",
	"tool/gen/main.go":          "package main\n\nimport \"shop/till\"\n",
	"Dockerfile":                "RUN go build -ldflags=\"-X shop/till.revision=1\" -o /out/shop ./cmd/shop\n",
	"build.sh":                  "go install shop/till@latest && cp shop/log.txt $HOME/shop/till\n",
	"docs/use.md":               "`go doc shop/till/...`, shop/goods.\n",
	"runs/one/notes.md":         "shop/till\n",
	"till/till_windows.data":    "shop/till\n",
	".git/COMMIT_EDITMSG.md":    "shop/till\n",
	"goods/rare/rare_notes.txt": "https://example.org/shop/till\n",
}

func TestRename_AndBack(t *testing.T) {
	root := plant(t, shop)
	for _, to := range []string{"example.org/team/shop", "example.org/team/shop/v2", "shop.example.org"} {
		was, err := modulePath(root)
		if err != nil {
			t.Fatal(err)
		}
		before := harvest(t, root)
		from, changed, err := rename(root, to)
		if err != nil || from != was || changed != 11 {
			t.Fatalf("renamed %s to %s in %d files, %v; want %s and 11", from, to, changed, err, was)
		}
		once := harvest(t, root)
		if _, changed, err := rename(root, to); err != nil || changed != 0 {
			t.Errorf("renaming to %s again changed %d files, %v", to, changed, err)
		}
		if !maps.Equal(once, harvest(t, root)) {
			t.Errorf("renaming to %s again changed the tree", to)
		}
		// An interruption before the last file, which is the go.mod at the root.
		if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(before["go.mod"]), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, changed, err := rename(root, to); err != nil || changed != 1 {
			t.Errorf("finishing the renaming to %s changed %d files, %v", to, changed, err)
		}
		if !maps.Equal(once, harvest(t, root)) {
			t.Errorf("renaming to %s with an interruption gives another tree", to)
		}
	}
	if _, _, err := rename(root, "shop"); err != nil {
		t.Fatal(err)
	}
	after := harvest(t, root)
	for name, text := range shop {
		if after[name] != text {
			t.Errorf("%s after renaming back:\n%s\nwant:\n%s", name, after[name], text)
		}
	}
	if len(after) != len(shop) {
		t.Errorf("%d files after renaming back, want %d", len(after), len(shop))
	}
}

func TestRename_WritesEveryMention(t *testing.T) {
	root := plant(t, shop)
	if _, _, err := rename(root, "example.org/team/shop"); err != nil {
		t.Fatal(err)
	}
	after := harvest(t, root)
	for name, want := range map[string]string{
		"go.mod": strings.Replace(shop["go.mod"], "module shop", "module example.org/team/shop", 1),
		"till/till.go": `// Package till counts. See [example.org/team/shop/goods.Item], but shop/receipts is no package.
package till

import (
	"example.org/team/shop/goods" // the goods
	"fmt"
	"strings" // words
	"unsafe"

	"example.org/team/shop/goods/rare"
	"github.com/other/shop/goods/v2"
)

//go:linkname price example.org/team/shop/goods.price
func price() int

const source = "import \"example.org/team/shop/goods\"\n"
const run = "runs/shop/goods"
`,
		"goods/goods_cuda.go": "//go:build cuda\n\npackage goods // import \"example.org/team/shop/goods\"\n\n" +
			"import _ `example.org/team/shop/goods/rare`\n",
		"goods/unformatted.go": "package goods\nimport ( \"example.org/team/shop/till\"\n\"fmt\" )\n",
		"tool/gen/go.mod": "module example.org/team/shop/tool/gen\n\n" +
			"require example.org/team/shop v0.0.0 // example.org/team/shop/goods\n\nreplace example.org/team/shop => ../../\n",
		"Dockerfile":  strings.Replace(shop["Dockerfile"], "-X shop", "-X example.org/team/shop", 1),
		"build.sh":    strings.Replace(shop["build.sh"], "install shop", "install example.org/team/shop", 1),
		"docs/use.md": "`go doc example.org/team/shop/till/...`, example.org/team/shop/goods.\n",
	} {
		if after[name] != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, after[name], want)
		}
	}
}

// A file that does not parse, or a module that would have the path of another, stops a renaming before it has begun.
func TestRename_AllOrNothing(t *testing.T) {
	for _, c := range []struct{ file, text, to, want string }{
		{"till/broken.go", "package till\n\nimport \"shop/goods\n", "example.org/shop", "till/broken.go"},
		{"go.mod", shop["go.mod"], "github.com/other", "github.com/other/shop is another module"},
		{"go.mod", "go 1.26.0\n", "example.org/shop", "no line that names the module"},
	} {
		files := maps.Clone(shop)
		files[c.file] = c.text
		root := plant(t, files)
		if _, _, err := rename(root, c.to); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("renamed with %s as it is: %v, want an error with %q", c.file, err, c.want)
		}
		if !maps.Equal(files, harvest(t, root)) {
			t.Errorf("a renaming that failed for %s has changed the tree", c.file)
		}
	}
}

func TestCheckPath(t *testing.T) {
	for _, path := range []string{
		"nmn", "example.org/team/nmn", "nmn.example.org", "github.com/Some-One/nmn_2/v2", "example.org/~me/nmn",
		"a.b/v10",
	} {
		if err := checkPath(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{
		"", "nmn2", "team/nmn", "example/nmn", "Example.org/nmn", "example.org/", "example.org//nmn",
		"/example.org/nmn", "example.org/nmn/v1", "example.org/nmn/v0", "example.org/nmn/v02", "example.org/a b",
		"example.org/ä",
		"example.org/.nmn", "example.org/nmn.", "example.org/internal/nmn", "https://example.org/nmn", ".org/nmn",
		"../nmn", "example..org/nmn", "example.org/$(nmn)",
	} {
		if checkPath(path) == nil {
			t.Errorf("%q is taken for a module path", path)
		}
	}
}

// plant writes files below a new folder.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// harvest reads all files below a folder.
func harvest(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		files[filepath.ToSlash(below)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.Contains(name, ".module-") {
			t.Errorf("%s was left behind", name)
		}
	}
	return files
}
