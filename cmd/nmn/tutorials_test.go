package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// The tutorials of docs/start run word for word, and print what their pages show. Each page has a folder of its own.
func TestTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("the tutorials train nets")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	pages, err := filepath.Glob("../../docs/start/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no tutorials: %v", err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) { typePage(t, page) })
	}
}

// fenced matches a heading, or a fenced block with its language.
var fenced = regexp.MustCompile("(?ms)^#+ ([^\n]*)$|^```([a-z]+)\n(.*?)^```$")

// typePage runs the sh and python blocks of a page in turn. A text block shows lines of the output above it, in
// any order. With -update, lines that are not printed become the printed lines that are most like them.
func typePage(t *testing.T, page string) {
	text := readBytes(t, page)
	folder, python := t.TempDir(), pythonWithNumPy()
	env := tutorialEnvironment(t)
	var title, output string
	skipped, updated := "", string(text)
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		switch heading, language, code := block[1], block[2], block[3]; {
		case heading != "":
			title, skipped = heading, missingTool(heading, python)
			if skipped != "" {
				t.Logf("%q is left out: no %s", heading, skipped)
			}
		case skipped != "":
		case language == "sh":
			output = runBlock(t, exec.Command("bash", "-euo", "pipefail", "-c", code), folder, env)
		case language == "python":
			output = runBlock(t, exec.Command(python, "-c", code), folder, env)
		case language == "text" && *rewrite:
			updated = strings.Replace(updated, code, printedLike(code, output), 1)
		case language == "text":
			for _, line := range notPrinted(code, output) {
				t.Errorf("under %q the page shows a line that is not printed (-update replaces it):\n%s\nprinted:\n%s",
					title, line, output)
			}
		}
	}
	if updated != string(text) {
		write(t, page, updated)
	}
}

func runBlock(t *testing.T, cmd *exec.Cmd, folder string, env []string) string {
	t.Helper()
	cmd.Dir, cmd.Env = folder, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", cmd.Args[len(cmd.Args)-1], err, out)
	}
	return string(out)
}

// missingTool returns the tool that a heading such as "Your own clips (needs ffmpeg)" asks for, if it is not there.
func missingTool(heading, python string) string {
	_, need, _ := strings.Cut(strings.TrimSuffix(heading, ")"), "(needs ")
	switch need {
	case "":
		return ""
	case "Python":
		if python != "" {
			return ""
		}
	case "ffmpeg":
		if _, err := exec.LookPath(need); err == nil {
			return ""
		}
	}
	return need
}

// pythonWithNumPy returns an interpreter that can import the package, or "".
func pythonWithNumPy() string {
	for _, python := range []string{os.Getenv("NMN_PYTHON"), "../../build/wheel/bin/python",
		"../../build/python/bin/python"} {
		path, err := filepath.Abs(python)
		if python != "" && err == nil && exec.Command(path, "-c", "import numpy").Run() == nil {
			return path
		}
	}
	return ""
}

// tutorialEnvironment has nmn on the PATH, which is this test binary, and the Python package of the working tree.
func tutorialEnvironment(t *testing.T) []string {
	t.Helper()
	bin := t.TempDir()
	program := filepath.Join(bin, "nmn")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, program)
	}
	if err != nil {
		t.Skip(err)
	}
	packages, err := filepath.Abs("../../python")
	expect.OK(t, err)
	return append(os.Environ(), "NMN_TEST_AS_COMMAND=1", "NMN_PROGRAM="+program, "PYTHONPATH="+packages,
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

var (
	numeral = regexp.MustCompile(`[0-9][0-9.,]*`)
	rules   = regexp.MustCompile(`-{2,}`)
)

// plain returns a line without what may differ: other processors add in other orders, and figures set the width
// of columns.
func plain(line string) string {
	return strings.Join(strings.Fields(rules.ReplaceAllString(numeral.ReplaceAllString(line, "0"), "-")), " ")
}

// notPrinted returns the lines of a page that the output lacks.
func notPrinted(page, output string) (missing []string) {
	printed := make(map[string]bool)
	for line := range strings.Lines(output) {
		printed[plain(line)] = true
	}
	for line := range strings.Lines(page) {
		if want := plain(line); want != "" && want != "..." && !printed[want] {
			missing = append(missing, line)
		}
	}
	return missing
}

// printedLike replaces each line of a page by the line of the output that shares most words with it.
func printedLike(page, output string) string {
	var replaced strings.Builder
	for line := range strings.Lines(page) {
		best, most := line, 0
		if strings.TrimSpace(line) != "..." && !strings.Contains(output, line) {
			for other := range strings.Lines(output) {
				if shared := sharedWords(plain(line), plain(other)); shared > most {
					best, most = other, shared
				}
			}
		}
		replaced.WriteString(best)
	}
	return replaced.String()
}

// sharedWords counts the words of a that b has, and takes off the words that b has more than a.
func sharedWords(a, b string) (n int) {
	words := strings.Fields(b)
	for _, word := range strings.Fields(a) {
		if i := slices.Index(words, word); i >= 0 {
			n, words = n+2, slices.Delete(words, i, i+1)
		}
	}
	return n - len(words)
}
