package report

import (
	"embed"
	"fmt"
	"html/template"
	"slices"
	"unicode/utf8"

	"nmn/internal/visible"
	"nmn/report/chart"
)

// htmlFiles are the pages of runs and experiments, and what all pages share.
//
//go:embed htmlpage
var htmlFiles embed.FS

// htmlTemplate parses the page of a name with the tables and bags that pages share.
func htmlTemplate(name string) *template.Template {
	t := template.New("tables").Funcs(template.FuncMap{"visible": visible.Line})
	t = template.Must(t.Parse(htmlFile("table.html") + htmlFile("chart.html") + htmlFile("bags.html")))
	return template.Must(t.New(name).Parse(htmlFile(name + ".html")))
}

// htmlFile is a file of the folder, which is part of the program.
func htmlFile(name string) string {
	content, err := htmlFiles.ReadFile("htmlpage/" + name)
	if err != nil {
		panic(err)
	}
	return string(content)
}

// pageColours are the colours of all pages, in light and dark. pageStyle adds the style of text, tables and charts.
var (
	pageColours = htmlFile("colours.css")
	pageStyle   = pageColours + htmlFile("page.css") + htmlFile("chart.css")
)

type pageTable struct {
	Title   string
	Label   string // what the table is for those who do not see where it stands; empty for its title
	Columns []Column
	Rows    []pageRow
	Notes   []string
	Stacked bool
}

type pageRow struct {
	Cells []pageCell
	Rule  bool
}

type pageCell struct {
	Text       string
	Left, Bold bool
	Heads      bool   // it is the heading of the row
	Name       string // of the column, where rows are stacked
}

// Short reports whether the text stays on one line, as names do.
func (c pageCell) Short() bool { return utf8.RuneCountInString(c.Text) <= 32 }

func (t *Table) page() pageTable {
	out := pageTable{Title: t.Title, Columns: t.Columns, Notes: t.Notes, Stacked: t.Stacked}
	heads := max(0, slices.IndexFunc(t.Columns, func(c Column) bool {
		return slices.Contains([]string{"arm", "word", "label", "class"}, c.Name)
	}))
	for n, row := range t.Rows {
		shown := pageRow{Cells: make([]pageCell, len(row.Cells)), Rule: row.Rule && n > 0}
		for i, c := range row.Cells {
			shown.Cells[i] = pageCell{Text: c.display(t.Columns[i]), Left: t.Columns[i].Text, Bold: c.Bold,
				Heads: i == heads && t.Columns[i].Text}
			if t.Stacked {
				shown.Cells[i].Name = t.Columns[i].Name
			}
		}
		out.Rows = append(out.Rows, shown)
	}
	return out
}

func pageTables(tables []*Table) []pageTable {
	var out []pageTable
	for _, t := range tables {
		shown := t.visible().page()
		shown.sameNoise()
		shown.spellOut()
		out = append(out, shown)
	}
	return out
}

// sameNoise removes the column of noise from a table with one level, and prints the level in a note instead.
// This saves space on telephones.
func (t *pageTable) sameNoise() {
	at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == noiseColumn })
	if at < 0 || len(t.Rows) < 2 || slices.ContainsFunc(t.Rows, func(r pageRow) bool {
		return r.Cells[at].Text != t.Rows[0].Cells[at].Text && r.Cells[at].Text != ""
	}) || t.Rows[0].Cells[at].Text == "" {
		return
	}
	t.Notes = append(slices.Clone(t.Notes), "All at noise of "+t.Rows[0].Cells[at].Text+" %.")
	t.Columns = slices.Delete(slices.Clone(t.Columns), at, at+1)
	for i := range t.Rows {
		t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, at, at+1)
	}
}

type pageChart struct {
	Drawing template.HTML
	Note    string
	Table   *pageTable
}

// numbered is a chart with the table of its numbers, which may be nil.
type numbered struct {
	*chart.Chart
	numbers *Table
	note    string
}

// pageCharts converts charts for a page. name makes their ids unique.
func pageCharts(name string, charts []numbered) []pageChart {
	var out []pageChart
	for i, c := range charts {
		shown := pageChart{Drawing: c.Inline(fmt.Sprintf("%s-%d", name, i+1)), Note: c.note}
		if c.numbers != nil {
			table := c.numbers.visible().page()
			table.Title = "The numbers of this chart"
			table.Label = c.Title
			shown.Table = &table
		}
		out = append(out, shown)
	}
	return out
}

// everyOther reports whether line i is dashed, which distinguishes neighbours in grey.
func everyOther(i int) bool { return i%2 == 1 }

// spread picks at most most of n numbers evenly, including the first and the last.
func spread(n, most int) []int {
	var out []int
	for i := range min(n, most) {
		at := i
		if n > most {
			at = i * (n - 1) / (most - 1)
		}
		out = append(out, at)
	}
	return out
}
