package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
)

func TestPEP440_SaysWhatGitSays(t *testing.T) {
	for says, want := range map[string]string{
		"v1.2.3-0-g0123abc":              "1.2.3",
		"v1.2.3-4-g0123abc":              "1.2.4.dev4+g0123abc",
		"v1.2.3-4-g0123abc-dirty":        "1.2.4.dev4+g0123abc.dirty",
		"v1.2.3-0-g0123abc-dirty":        "1.2.4.dev0+g0123abc.dirty",
		"v1.2.3-rc.1-0-g0123abc":         "1.2.3rc1",
		"v1.2.3-rc1-2-g0123abc":          "1.2.3rc2.dev2+g0123abc",
		"v2.0.0-beta-0-g0123abc":         "2.0.0b0",
		"v10.0.0-alpha.12-0-g0123abcdef": "10.0.0a12",
		"0123abc":                        "0.0.0.dev99+g0123abc",
		"0123abc-dirty":                  "0.0.0.dev99+g0123abc.dirty",
	} {
		got, err := pep440(says, 99)
		if err != nil || got != want || !isPEP440(got) {
			t.Errorf("%s: %s, want %s (%v)", says, got, want, err)
		}
	}
	for _, says := range []string{"v1.2-0-g0123abc", "very-0-g0123abc", "v1.2.3-nightly-0-g0123abc", ""} {
		if got, err := pep440(says, 1); err == nil {
			t.Errorf("%q became %s", says, got)
		}
	}
	for _, version := range []string{"", "v1.2.3", "1.2.3-4", "1.2.3+G", "1..2", "1.2.3\nName: x"} {
		if isPEP440(version) {
			t.Errorf("%q is taken for a version", version)
		}
	}
}

func TestChoose_NamesTheOthers(t *testing.T) {
	if all, err := choose(nil); err != nil || len(all) != 6 {
		t.Errorf("%d platforms, %v", len(all), err)
	}
	_, err := choose([]string{"linux-amd64", "linux-386"})
	if err == nil || !strings.Contains(err.Error(), `"linux-386", but for linux-amd64, linux-arm64`) {
		t.Error(err)
	}
}

// made is a wheel of small files.
func made(t *testing.T, folder string) (name string) {
	t.Helper()
	program := filepath.Join(folder, "program")
	expect.OK(t, os.WriteFile(program, bytes.Repeat([]byte("nmn"), 1000), 0o755))
	of := source{version: "1.2.3", time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	name = filepath.Join(folder, platforms[0].fileName(of.version))
	files := []entry{{name: "nmn/__init__.py", text: "x = 1\n"},
		{name: "nmn_noisy_labels-1.2.3.data/scripts/nmn", file: program, executable: true},
		{name: "nmn_noisy_labels-1.2.3.dist-info/WHEEL", text: platforms[0].wheelFile()}}
	if _, err := writeWheel(name, files, of); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPlatforms_NameTheirTagsTwice(t *testing.T) {
	for _, p := range platforms {
		for _, tag := range p.tags {
			if !strings.Contains(p.fileName("1.2.3"), tag) || !strings.Contains(p.wheelFile(), "\nTag: py3-none-"+tag+"\n") {
				t.Errorf("%s: no tag %s in %s or in\n%s", p.name, tag, p.fileName("1.2.3"), p.wheelFile())
			}
		}
	}
}

func TestWriteWheel_RecordsEveryFile(t *testing.T) {
	archive, err := zip.OpenReader(made(t, t.TempDir()))
	expect.OK(t, err)
	defer archive.Close()
	texts := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		expect.OK(t, err)
		if texts[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if executable := f.Mode()&0o111 != 0; executable != strings.HasSuffix(f.Name, "/scripts/nmn") {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	last := archive.File[len(archive.File)-1].Name
	rows, err := csv.NewReader(bytes.NewReader(texts[last])).ReadAll()
	if err != nil || last != "nmn_noisy_labels-1.2.3.dist-info/RECORD" || len(rows) != len(texts) {
		t.Fatalf("%s has %d rows of %d files: %v", last, len(rows), len(texts), err)
	}
	for _, row := range rows {
		sum := sha256.Sum256(texts[row[0]])
		want := []string{"sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(texts[row[0]]))}
		if row[0] == last {
			want = []string{"", ""}
		}
		if row[1] != want[0] || row[2] != want[1] {
			t.Errorf("%v, want %v", row, want)
		}
	}
}

func TestWriteWheel_WritesTheSameBytesAgain(t *testing.T) {
	first, err := os.ReadFile(made(t, t.TempDir()))
	expect.OK(t, err)
	second, err := os.ReadFile(made(t, t.TempDir()))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%d bytes, then %d others: %v", len(first), len(second), err)
	}
}

func TestWriteWheel_LeavesNothingWhereItFails(t *testing.T) {
	folder := t.TempDir()
	for _, f := range []entry{{name: "x", file: filepath.Join(folder, "none")}, {name: "x,y"}, {name: "x", file: folder}} {
		if _, err := writeWheel(filepath.Join(folder, "x.whl"), []entry{f}, source{version: "1"}); err == nil {
			t.Errorf("%v was packed", f)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// Equal sources give an equal program in two places, and it has its version.
func TestCompile_WritesTheSameBytesElsewhere(t *testing.T) {
	of := source{version: "1.2.3", revision: "0123abc"}
	var programs [2][]byte
	for i := range programs {
		folder := t.TempDir()
		writeFile(t, folder, "go.mod", "module tiny\n")
		writeFile(t, folder, "main.go", "package main\n\nimport \"tiny/run\"\n\nfunc main() { run.Tell() }\n")
		expect.OK(t, os.Mkdir(filepath.Join(folder, "run"), 0o755))
		writeFile(t, folder, "run/run.go",
			"package run\n\nvar revision, version string\n\nfunc Tell() { println(version, revision) }\n")
		t.Chdir(folder)
		program := filepath.Join(folder, "out", fmt.Sprint("tiny", i))
		expect.OK(t, compile(platforms[0], of, ".", program))
		var err error
		if programs[i], err = os.ReadFile(program); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Error("two builds differ")
	}
	if !bytes.Contains(programs[0], []byte("1.2.3")) || !bytes.Contains(programs[0], []byte("0123abc")) {
		t.Error("the program does not have its version and revision")
	}
}

func writeFile(t *testing.T, folder, name, text string) {
	t.Helper()
	expect.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
}

func TestDescribe_TakesTheTimeOfTheEnvironment(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	got, err := describe("1.2.3rc1")
	if err != nil || got.version != "1.2.3rc1" || got.time.Unix() != 1700000000 {
		t.Errorf("%+v, %v", got, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	if got, err = describe("1.2.3"); err != nil || got.time.Year() != 1980 {
		t.Errorf("%+v, %v", got, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "now")
	if _, err = describe("1.2.3"); err == nil {
		t.Error("SOURCE_DATE_EPOCH=now was taken")
	}
	if _, err = describe("v1.2.3"); err == nil {
		t.Error("a version that is none was taken")
	}
}

func TestPythonFiles_HaveTheVersion(t *testing.T) {
	files, err := pythonFiles(filepath.Join("..", "..", "python", "nmn"), "1.2.3")
	expect.OK(t, err)
	names := map[string]entry{}
	for _, f := range files {
		names[f.name] = f
	}
	for _, want := range []string{"nmn/__init__.py", "nmn/_program.py", "nmn/py.typed"} {
		if _, there := names[want]; !there {
			t.Errorf("no %s", want)
		}
	}
	if version := names["nmn/_version.py"].text; !strings.Contains(version, `__version__ = "1.2.3"`) {
		t.Error(version)
	}
	if _, err := pythonFiles(t.TempDir(), "1"); err == nil {
		t.Error("a folder without the package was taken")
	}
}

// METADATA describes the package as pyproject.toml does.
func TestMetadata_IsThatOfTheProject(t *testing.T) {
	text, err := metadata("1.2.3", []string{"go/LICENSE"})
	expect.OK(t, err)
	for _, want := range []string{"\nVersion: 1.2.3\n", "\nLicense-File: go/LICENSE\nClassifier"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	project, err := os.ReadFile(filepath.Join("..", "..", "python", "pyproject.toml"))
	expect.OK(t, err)
	_, section, _ := strings.Cut(string(project), "\n[project]\n")
	section, _, _ = strings.Cut(section, "\n[tool.")
	section = strings.ReplaceAll(section, `dynamic = ["version"]`, "")
	found := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(section, -1)
	for _, m := range found {
		if strings.HasPrefix(m[1], "License ::") { // which License-Expression replaces
			continue
		}
		if !strings.Contains(text, m[1]) {
			t.Errorf("METADATA does not contain %q", m[1])
		}
	}
	if len(found) < 15 {
		t.Errorf("pyproject.toml has %v", found)
	}
}
