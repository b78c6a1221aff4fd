package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The words of Plain.yml, which make prose finds in pages and comments, are not in messages, errors and help either.
// Vale does not read strings.
func TestProse_StringsArePlain(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", ".ci", "vale", "nmn", "Plain.yml")
	content := readBytes(t, file)
	var rule struct{ Swap map[string]string }
	check(t, yaml.Unmarshal(content, &rule))
	if len(rule.Swap) < 10 {
		t.Fatalf("%s has %d words", file, len(rule.Swap))
	}
	var words []string
	for word := range rule.Swap {
		words = append(words, word)
	}
	plain := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
	for _, path := range goSources(t, "build") {
		if strings.HasSuffix(filepath.ToSlash(path), "text/function_words.go") { // a list of words is data
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
