package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"nmn/internal/expect"
)

// TestDocs_CommandLinesAreTaken holds the command lines of pages to the commands and flags that there
// are: those in blocks of code, those within sentences, and the examples of the help. Nothing is run.
func TestDocs_CommandLinesAreTaken(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*", "*.md"))
	expect.OK(t, err)
	atTop, err := filepath.Glob(filepath.Join("..", "..", "*.md"))
	expect.OK(t, err)
	blocks, sentences := 0, 0
	for _, page := range append(pages, atTop...) {
		content := readBytes(t, page)
		inBlocks, inSentences := commandLines(string(content))
		for _, line := range inBlocks {
			blocks++
			if err := taken(line); err != nil {
				t.Errorf("%s: nmn %s: %v", filepath.Base(page), strings.Join(line, " "), err)
			}
		}
		for _, line := range inSentences {
			sentences++
			if err := named(line); err != nil {
				t.Errorf("%s: `nmn %s`: %v", filepath.Base(page), strings.Join(line, " "), err)
			}
		}
	}
	if blocks < 100 || sentences < 60 {
		t.Errorf("%d command lines were found in blocks and %d in sentences; there are more", blocks, sentences)
	}
}

func TestDocs_WrongCommandLinesAreFound(t *testing.T) {
	const page = "`nmn train --nosuch`, `nmn trian`\n\n```sh\nR=\"--bad 1\"\nnmn train $R  # why\n" +
		"for s in a b; do ./nmn eval --batch-size \\\n  many x | cat; done\nnmn eval a b > c\n```\n"
	inBlocks, inSentences := commandLines(page)
	if len(inBlocks) != 3 || len(inSentences) != 2 {
		t.Fatalf("found %q and %q", inBlocks, inSentences)
	}
	for _, line := range inBlocks {
		if err := taken(line); err == nil {
			t.Errorf("nmn %q is taken", line)
		}
	}
	for _, line := range inSentences {
		if err := named(line); err == nil {
			t.Errorf("nmn %q is taken", line)
		}
	}
}

// taken returns the error of a command line whose command or flags do not exist, or have other values, or that has too
// many or too few arguments. "..." and "[flags]" stand for what a reader puts there.
func taken(args []string) error {
	root, given, complete := withoutPlaceholders(args)
	cmd, rest, err := root.Find(given)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil || !complete {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// named returns the error of a sentence's command line, which may lack arguments and values: a command or a flag does
// not exist.
func named(args []string) error {
	root, given, _ := withoutPlaceholders(args)
	cmd, rest, err := root.Find(given)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	for _, arg := range rest {
		name, isFlag := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && cmd.Flag(name) == nil {
			return fmt.Errorf("%s has no flag %s", cmd.CommandPath(), arg)
		}
		if !strings.HasPrefix(arg, "-") && (cmd == root || !cmd.Runnable()) {
			return fmt.Errorf("%s has no command %s", cmd.CommandPath(), arg)
		}
	}
	return nil
}

// withoutPlaceholders makes the tree of commands and leaves out what stands for something else; complete is false if
// there was such.
func withoutPlaceholders(args []string) (root *cobra.Command, given []string, complete bool) {
	root = newRoot(&program{terminal: systemTerminal(nil)})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, arg := range args {
		if arg != "..." && arg != "…" && arg != "COMMAND" && !strings.HasPrefix(arg, "[") && !strings.Contains(arg, "|") {
			given = append(given, part.ReplaceAllString(arg, "1/"))
		}
	}
	return root, given, len(given) == len(args)
}

var (
	inlineCode = regexp.MustCompile("`(nmn [^`]+)`")
	part       = regexp.MustCompile(`^\$\w+/`) // of a loop over shards
	variable   = regexp.MustCompile(`^\s*([A-Z]+)="(.*)"$`)
	nmnWord    = regexp.MustCompile(`^(\./nmn|nmn|nmn:cpu|nmn:cuda)$`)
)

// commandLines finds the command lines of nmn in a page of Markdown, as lists of arguments.
func commandLines(page string) (inBlocks, inSentences [][]string) {
	inBlock := false
	variables := map[string]string{}
	page = strings.ReplaceAll(page, "\\\n", " ")
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			inBlock = !inBlock
			clear(variables)
			continue
		}
		if !inBlock {
			for _, code := range inlineCode.FindAllStringSubmatch(line, -1) {
				inSentences = append(inSentences, nmnArguments(code[1])...)
			}
			continue
		}
		if match := variable.FindStringSubmatch(line); match != nil {
			variables["$"+match[1]] = match[2]
		}
		for name, value := range variables {
			line = strings.ReplaceAll(line, name+" ", value+" ")
		}
		words := strings.Fields(line)
		described := strings.HasPrefix(line, "   ") // the description of a flag in the help
		if len(words) > 1 && !described && (nmnWord.MatchString(words[0]) || words[0] == "for" ||
			words[0] == "docker" && words[1] == "run") {
			inBlocks = append(inBlocks, nmnArguments(line)...)
		}
	}
	return inBlocks, inSentences
}

// nmnArguments cuts a line of a shell into words, and returns the arguments of each call of nmn.
func nmnArguments(line string) (calls [][]string) {
	var call []string
	called := false
	end := func() {
		if called {
			calls = append(calls, call)
		}
		call, called = nil, false
	}
	for line != "" {
		line = strings.TrimLeft(line, " ")
		word, rest := shellWord(line)
		line = rest
		switch {
		case strings.HasPrefix(word, "#"):
			line = ""
		case word == "|" || word == ">" || word == "&&" || word == ";" || word == "2>" || word == "<":
			end()
		case called:
			call = append(call, word)
		case nmnWord.MatchString(word):
			called = true
		}
	}
	end()
	return calls
}

// shellWord takes the first word of a line, without its quotes.
func shellWord(line string) (word, rest string) {
	var b strings.Builder
	quote := rune(0)
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			return b.String(), line[i:]
		case quote == 0 && r == ';':
			if i == 0 {
				return ";", line[1:]
			}
			return b.String(), line[i:]
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), ""
}

// The words of Plain.yml, which make prose finds in pages and comments, are not in messages, errors and help either.
// Vale does not read strings.
func TestProse_StringsArePlain(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", ".ci", "vale", "nmn", "Plain.yml")
	content := readBytes(t, file)
	var rule struct{ Swap map[string]string }
	expect.OK(t, yaml.Unmarshal(content, &rule))
	if len(rule.Swap) < 10 {
		t.Fatalf("%s has %d words", file, len(rule.Swap))
	}
	var words []string
	for word := range rule.Swap {
		words = append(words, word)
	}
	plain := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
	for _, path := range goSources(t, "build") {
		if strings.HasSuffix(filepath.ToSlash(path), "text/build.go") { // its list of words is data
			continue
		}
		eachString(t, path, func(text string) {
			if !strings.Contains(text, " ") {
				return
			}
			for _, found := range plain.FindAllString(text, -1) {
				t.Errorf("%s: %q in %q", path, found, text)
			}
		})
	}
}
