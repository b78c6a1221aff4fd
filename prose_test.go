package nmn_test

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

	"go.yaml.in/yaml/v3"
)

// The words of Plain.yml, which make prose finds in pages and comments, are not in messages, errors and help either.
// Vale does not read strings.
func TestProse_StringsArePlain(t *testing.T) {
	t.Parallel()
	var rule struct{ Swap map[string]string }
	if err := yaml.Unmarshal([]byte(readFile(t, ".ci/vale/nmn/Plain.yml")), &rule); err != nil {
		t.Fatal(err)
	}
	if len(rule.Swap) < 10 {
		t.Fatalf("Plain.yml has %d words", len(rule.Swap))
	}
	var words []string
	for word := range rule.Swap {
		words = append(words, word)
	}
	plain := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (name == "build" || name == ".git" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			// The list of function words is data.
			if strings.Contains(text, " ") && name != "text/function_words.go" {
				for _, found := range plain.FindAllString(text, -1) {
					t.Errorf("%s: %q in a string", files.Position(literal.Pos()), found)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
