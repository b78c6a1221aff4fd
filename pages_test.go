package nmn_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan  = regexp.MustCompile("`([^`\\s]+/[^`\\s]+)`")
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links between pages lead somewhere, docs/README.md lists every page, and pages for contributors name existing paths.
func TestPages_LinksAndPathsExist(t *testing.T) {
	pages, err := filepath.Glob("docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	const contents = "docs/README.md"
	list := readFile(t, contents)
	forContributors := []string{"CONTRIBUTING.md", "docs/background/design.md", "docs/reference/glossary.md"}
	for _, page := range append(pages, "README.md", contents, "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md") {
		text := readFile(t, page)
		rest, inDocs := strings.CutPrefix(page, "docs/")
		if inDocs && page != contents && !strings.Contains(list, "("+rest+")") {
			t.Errorf("%s does not list %s", contents, page)
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
			} else if anchor != "" && !slices.Contains(slugs(readFile(t, target)), anchor) {
				t.Errorf("%s links to %s: %s has no such heading", page, match[1], target)
			}
		}
		if !slices.Contains(forContributors, page) {
			continue
		}
		for _, match := range codeSpan.FindAllStringSubmatch(text, -1) {
			if strings.ToLower(match[1]) != match[1] {
				continue // a placeholder, such as FAMILY
			}
			if found, err := filepath.Glob(match[1]); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which does not exist", page, match[1])
			}
		}
	}
}

// A newcomer reads the README in a few minutes. What is longer belongs to docs.
func TestPages_ReadmeIsShort(t *testing.T) {
	if lines := strings.Count(readFile(t, "README.md"), "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, want at most 150", lines)
	}
}

// slugs are the anchors of a page's headings.
func slugs(text string) (all []string) {
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(slug, " ", "-"))
	}
	return all
}
