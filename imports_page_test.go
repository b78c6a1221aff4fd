package nmn_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the imports as they are into the tables of docs/design.md")

const designPage = "docs/design.md"

// page is the section of docs/design.md on packages: a drawing of the layers, and for each layer a table with a row
// for each package.
type page struct {
	drawing [][]string // the layers from the top down
	rows    []row
	// before and after are the text around the tables.
	before, after string
}

// row is what the page says about a package.
type row struct {
	layer    string // the heading above the table: the folders of the layer
	folder   string
	sentence string   // what the package is for
	imports  []string // packages of this module; anythingGoes alone for one that may import all
}

const anythingGoes = "anything"

func (r *row) anything() bool { return len(r.imports) == 1 && r.imports[0] == anythingGoes }

// row finds the row of a package, or returns nil.
func (p *page) row(folder string) *row {
	for i := range p.rows {
		if p.rows[i].folder == folder {
			return &p.rows[i]
		}
	}
	return nil
}

// below is everything that a package reaches through the tables.
func (p *page) below(folder string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		r := p.row(name)
		if r == nil || r.anything() {
			return
		}
		for _, next := range r.imports {
			if !seen[next] {
				seen[next] = true
				visit(next)
			}
		}
	}
	visit(folder)
	return seen
}

// parsePage reads the section "The packages".
func parsePage(text string) (*page, error) {
	const heading = "\n## The packages\n"
	start := strings.Index(text, heading)
	if start < 0 {
		return nil, fmt.Errorf("%s has no section %q", designPage, strings.TrimSpace(heading))
	}
	section := text[start+len(heading):]
	p := &page{}
	if end := strings.Index(section, "\n## "); end >= 0 {
		section, p.after = section[:end+1], section[end+1:]
	}
	tables := max(0, strings.Index(section, "\n### ")+1)
	if tables == 0 {
		tables = len(section)
	}
	p.before = text[:start+len(heading)+tables]
	for line := range strings.Lines(section[:tables]) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			p.drawing = append(p.drawing, strings.Fields(line[1:strings.LastIndex(line, "|")]))
		}
	}
	layer := ""
	for line := range strings.Lines(section[tables:]) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "### "); ok {
			layer = name
			continue
		}
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		r, err := parseRow(line)
		if err != nil {
			return nil, err
		}
		r.layer = layer
		p.rows = append(p.rows, r)
	}
	return p, nil
}

// parseRow reads a line of a table: package, sentence, imports.
func parseRow(line string) (row, error) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != 3 {
		return row{}, fmt.Errorf("%s: %d columns, want 3: %s", designPage, len(cells), line)
	}
	r := row{folder: strings.Trim(cells[0], " `"), sentence: strings.TrimSpace(cells[1])}
	for name := range strings.SplitSeq(cells[2], ",") {
		if name = strings.Trim(name, " `"); name != "-" {
			r.imports = append(r.imports, name)
		}
	}
	return r, nil
}

// String is the page as parsePage reads it.
func (p *page) String() string {
	var out strings.Builder
	out.WriteString(p.before)
	layer := ""
	for _, r := range p.rows {
		if r.layer != layer {
			layer = r.layer
			fmt.Fprintf(&out, "### %s\n\n| package | what it is for | imports |\n|---|---|---|\n", layer)
		}
		imports := "-"
		switch {
		case r.anything():
			imports = anythingGoes
		case len(r.imports) > 0:
			imports = "`" + strings.Join(r.imports, "`, `") + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", r.folder, r.sentence, imports)
		if i := slices.IndexFunc(p.rows, func(o row) bool { return o.folder == r.folder }); i+1 == len(p.rows) ||
			p.rows[i+1].layer != layer {
			out.WriteString("\n")
		}
	}
	out.WriteString(p.after)
	return out.String()
}

// follow makes the rows those of the packages as they are. Sentences stay; a new package has none, and a package
// outside of all layers gets no row.
func (p *page) follow(actual map[string][]string) {
	var rows []row
	for folder, imports := range actual {
		i := layerOf(folder)
		if i < 0 {
			continue
		}
		r := row{folder: folder, imports: imports, layer: strings.Join(layers[i], ", ")}
		if old := p.row(folder); old != nil {
			r.sentence = old.sentence
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int {
		if order := place(a.folder) - place(b.folder); order != 0 {
			return order
		}
		return strings.Compare(a.folder, b.folder)
	})
	p.rows = rows
}

// place orders packages by layer, and within a layer by the folder at the top level.
func place(folder string) int {
	top, _, _ := strings.Cut(folder, "/")
	return slices.Index(slices.Concat(layers...), top)
}

var updateOnce sync.Once

// readPage reads the page; with -update it writes it first.
func readPage(t *testing.T) *page {
	t.Helper()
	p, err := parsePage(readFile(t, designPage))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		updateOnce.Do(func() {
			p.follow(actualImports(goFiles(t)))
			if err := os.WriteFile(designPage, []byte(p.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	return p
}
