package main

import (
	_ "embed"
	"strings"
	"text/template"
)

//go:embed METADATA
var metadataTemplate string

// metadata is the file METADATA (PEP 643), which repeats pyproject.toml. terms are the names of files with
// licences, as in License-File.
func metadata(version string, terms []string) (string, error) {
	t, err := template.New("METADATA").Parse(metadataTemplate)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = t.Execute(&text, struct {
		Version string
		Terms   []string
	}{version, terms})
	return text.String(), err
}
