package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Messages of packages name settings by their keys, which this program turns into its flags: none names a flag, and
// every key has one.
func TestMessages_NameKeysThatHaveFlags(t *testing.T) {
	flag, key := regexp.MustCompile(`(^|[^-\w])--[a-z]`), regexp.MustCompile("`([a-z0-9_]+(?:\\.[a-z0-9_]+)*)`")
	names, keys := namesOfSettings(), 0
	for _, path := range librarySources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if flag.MatchString(strings.ReplaceAll(text, "--mpi", "")) { // which is srun's
				t.Errorf("%s names a flag, want the key of the setting between backquotes: %q", path, text)
			}
			for _, m := range key.FindAllStringSubmatch(text, -1) {
				if keys++; names[m[1]] == "" {
					t.Errorf("%s: no flag is known for the setting %q of %q", path, m[1], text)
				}
			}
			return true
		})
	}
	if keys < 50 {
		t.Errorf("only %d keys found", keys)
	}
}

// librarySources are the Go files that are neither tests nor programs, nor call programs of others.
func librarySources(t *testing.T) (files []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	apart := []string{"cmd", "bench", "build", "runs", "examples", "docker", "python", "cuda/toolkit", "internal/chaos",
		"internal/licences", "internal/mutate", "kernels/gen",
		"kernels/emulator"}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		inside = filepath.ToSlash(inside)
		if entry.IsDir() {
			for _, name := range apart {
				if inside == name {
					return filepath.SkipDir
				}
			}
			if name := entry.Name(); inside != "." && (name == "testdata" || strings.HasPrefix(name, ".") ||
				strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
		} else if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNamesOfSettings_AreFlagsThatSetThem(t *testing.T) {
	for key, want := range map[string]string{
		"data.max_bad_samples": "--max-bad-samples", "data.features.train.features": "--features",
		"train.learning_rate": "--learning-rate", "train.stage1_epochs": "--stage1-epochs", "train.loss": "--loss",
		"rates": "--rates", "recipe.form": "--nmn-recipe", "run.label_memory": "--label-memory",
		"net.weights": "--init", "data.noise": "--noise",
	} {
		if got := namesOfSettings()[key]; got != want {
			t.Errorf("%s is set by %q, want %q", key, got, want)
		}
	}
}
