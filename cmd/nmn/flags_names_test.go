package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// Messages of packages name settings by their keys, which this program turns into its flags: none names a flag, and
// every key exists.
func TestMessages_NameKeysThatExist(t *testing.T) {
	t.Parallel()
	flag, key := regexp.MustCompile(`(^|[^-\w])--[a-z]`), regexp.MustCompile("`([a-z0-9_]+(?:\\.[a-z0-9_]+)*)`")
	names, keys := settingKeys(), 0
	for _, path := range goSources(t, "cmd", "bench", "build", "runs", "examples", "docker", "python", "tools") {
		eachString(t, path, func(text string) {
			if flag.MatchString(strings.ReplaceAll(text, "--mpi", "")) { // which is srun's
				t.Errorf("%s names a flag, want the key of the setting between backquotes: %q", path, text)
			}
			for _, m := range key.FindAllStringSubmatch(text, -1) {
				if keys++; strings.HasPrefix(m[1], "data.") || strings.HasPrefix(m[1], "net.") ||
					strings.HasPrefix(m[1], "train.") {
					if !names[m[1]] {
						t.Errorf("%s: there is no setting %q of %q", path, m[1], text)
					}
				}
			}
		})
	}
	if keys < 50 {
		t.Errorf("only %d keys found", keys)
	}
}

// eachString calls f with every string literal of a Go file.
func eachString(t *testing.T, path string, f func(text string)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	expect.OK(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			expect.OK(t, err)
			f(text)
		}
		return true
	})
}

// goSources returns the Go files of the repository that are not tests, except in some of its folders.
func goSources(t *testing.T, apart ...string) (files []string) {
	t.Helper()
	root := filepath.Join("..", "..")
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
			if slices.Contains(apart, inside) {
				return filepath.SkipDir
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
	expect.OK(t, err)
	return files
}

func TestFlagOf_IsWhatTheUserTypes(t *testing.T) {
	for key, want := range map[string]string{
		"data.max_bad_samples": "--max-bad-samples", "train.stage1_epochs": "--epochs", "net.weights": "--init",
		"data.noise": "--noise", "train.patience": "train.patience", "train.loss": "train.loss", "run_dir": "--run-dir",
	} {
		if got := flagOf(key); got != want {
			t.Errorf("%s is typed as %q, want %q", key, got, want)
		}
	}
}

// A flag of a setting takes what the setting takes, and the help lists it.
func TestFlagKeys_AreSettings(t *testing.T) {
	for flag, keys := range flagKeys {
		for _, key := range keys {
			if !settingKeys()[key] {
				t.Errorf("--%s sets %s, which is no setting", flag, key)
			}
		}
	}
	captioners := captionerSettings()
	for flag, keys := range captioners.keys {
		if _, is := captioners.declared[keys[0]]; !is {
			t.Errorf("--%s sets %s, which is no setting of a captioner", flag, keys[0])
		}
	}
}

// A flag or a setting that does not exist is answered by the nearest one that does.
func TestUnknownFlags_NameTheNearestFlagOrSetting(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"train --epoch 3":                      "unknown flag: --epoch; did you mean --epochs?",
		"train --shedule cosine":               "unknown flag: --shedule; did you mean --set train.schedule=VALUE?",
		"train --schedule cosine":              "it is a setting, --set train.schedule=VALUE",
		"train --set train.shedule=1":          "there is no setting train.shedule; did you mean train.schedule?",
		"predict r x --treshold .3":            "unknown flag: --treshold; did you mean --threshold?",
		"audit x.csv --vocab w.txt":            "it is a setting, --set data.vocabulary=VALUE",
		"audit x.csv --net scenes":             "it is a setting, --set net.arch=VALUE",
		"audit x.csv --preset scenes":          "unknown flag: --preset (see",
		"scenes d --flps .1:.1":                "unknown flag: --flps; did you mean --flips?",
		"audit captions c.json --pages p.html": "unknown flag: --pages; did you mean --page?",
	} {
		wantUsage(t, call(t, strings.Fields(line)...), want)
	}
}
