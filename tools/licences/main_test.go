package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// builds are those whose modules are passed on: the static program on each system, and the one with CUDA and MPI.
var builds = []struct{ system, cgo, tags string }{
	{"linux", "0", ""}, {"darwin", "0", ""}, {"windows", "0", ""}, {"linux", "1", "-tags=cuda,mpi"},
}

func TestCollect_FindsTheTermsOfEveryModule(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	modules, err := linked(nil)
	if err != nil {
		t.Fatal(err)
	}
	into := t.TempDir()
	if err := collect(into, modules); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go/LICENSE", path(modules) + "/LICENSE", "github.com/spf13/pflag/LICENSE",
		"github.com/prometheus/client_golang/NOTICE"} {
		if text, err := os.ReadFile(filepath.Join(into, filepath.FromSlash(want))); err != nil || len(text) < 100 {
			t.Errorf("%s: %d bytes, %v", want, len(text), err)
		}
	}
}

// path is the module that the program itself is in: the one whose sources lie here.
func path(modules []module) string {
	here, _ := os.Getwd()
	return modules[slices.IndexFunc(modules, func(m module) bool { return m.dir == here })].path
}

func TestCollect_RefusesAModuleWithoutTerms(t *testing.T) {
	bare := module{"example.org/bare", t.TempDir()}
	err := collect(t.TempDir(), []module{bare})
	if err == nil || !strings.Contains(err.Error(), "example.org/bare has no licence text") {
		t.Errorf("a module without a licence: %v", err)
	}
	if err := collect(t.TempDir(), []module{{"gone", filepath.Join(bare.dir, "gone")}}); err == nil {
		t.Error("a module without sources was collected")
	}
}

// The bill of materials that `make sbom` wrote, named by NMN_SBOM, has a component for each module.
func TestSBOM_NamesWhatIsLinked(t *testing.T) {
	name := os.Getenv("NMN_SBOM")
	if name == "" {
		t.Skip("NMN_SBOM names no bill of materials")
	}
	t.Chdir(filepath.Join("..", ".."))
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &bill); err != nil || bill.Format != "CycloneDX" {
		t.Fatalf("%s has format %q: %v", name, bill.Format, err)
	}
	versions := map[string]string{}
	for _, c := range bill.Components {
		versions[c.Name] = c.Version
	}
	modules, err := linked(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := path(modules)
	for _, m := range modules {
		if m.path != "go" && m.path != own && versions[m.path] == "" {
			t.Errorf("%s is linked, and %s lacks it or its version", m.path, name)
		}
	}
}

// The page names the linked modules, no more and no less.
func TestPage_ListsWhatIsLinked(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	page, err := os.ReadFile(filepath.Join("docs", "reference", "licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z0-9.]+\.[a-z]+/\S+) (?:\([^)]*\) )?\|`).FindAllSubmatch(page,
		-1) {
		listed = append(listed, string(row[1]))
	}
	for _, b := range builds {
		t.Setenv("GOOS", b.system)
		t.Setenv("GOARCH", "amd64")
		t.Setenv("CGO_ENABLED", b.cgo)
		var flags []string
		if b.tags != "" {
			flags = append(flags, b.tags)
		}
		modules, err := linked(flags)
		if err != nil {
			t.Fatal(err)
		}
		own := path(modules)
		for _, m := range modules {
			if m.path != "go" && m.path != own && !slices.Contains(want, m.path) {
				want = append(want, m.path)
			}
		}
	}
	for _, m := range want {
		if !slices.Contains(listed, m) {
			t.Errorf("docs/reference/licences.md lacks %s, which is linked", m)
		}
	}
	for _, m := range listed {
		if !slices.Contains(want, m) {
			t.Errorf("docs/reference/licences.md names %s, which no build links", m)
		}
	}
}
