package nmn_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the pages show in Python is Python: it is parsed, and not run.
func TestDocs_PythonIsPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 in the path")
	}
	snippet := regexp.MustCompile("(?s)```python\n(.*?)```")
	found := 0
	err = filepath.WalkDir("docs", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		for _, m := range snippet.FindAllStringSubmatch(readFile(t, name), -1) {
			found++
			c := exec.CommandContext(t.Context(), python, "-c", "import ast, sys; ast.parse(sys.stdin.read())")
			c.Stdin = strings.NewReader(m[1])
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", name, err, m[1], out)
			}
		}
		return nil
	})
	if err != nil || found < 3 {
		t.Errorf("%d snippets, %v", found, err)
	}
}
