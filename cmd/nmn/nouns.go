package main

import (
	"regexp"
	"slices"
	"strings"

	"nmn/loader/dataset"
	"nmn/report"
)

// nouns are the user's words for the data in text output: pictures, clips or rows instead of bags, and labels
// instead of words if the data have labels.
type nouns struct {
	samples string // in the plural
	labels  bool
}

// nounsOf returns the nouns of the data of a run.
func nounsOf(c *dataset.Config) nouns { return nouns{c.Samples(), !c.Captioned()} }

// ofScores are the nouns of score files.
var ofScores = nouns{"samples", true}

var (
	pictureWord = regexp.MustCompile(`\b([Pp]icture)(s?)\b`)
	bagWord     = regexp.MustCompile(`\b([Bb]ag|[Ss]ample)(s?)\b`)
	classWord   = regexp.MustCompile(`\b([Ww]ord)(s?)\b`)

	beforeName = regexp.MustCompile(`[/\\._"-]$`)
	afterName  = regexp.MustCompile(`^([/\\_"-]|\.\w)`)
)

// text replaces the nouns in a text, except in parentheses, which may list labels.
func (n nouns) text(s string) string {
	var b strings.Builder
	for s != "" {
		open := strings.IndexByte(s, '(')
		if open < 0 {
			open = len(s)
		}
		b.WriteString(n.plain(s[:open]))
		end := len(s)
		if i := strings.IndexByte(s[open:], ')'); i >= 0 {
			end = open + i + 1
		}
		b.WriteString(s[open:end])
		s = s[end:]
	}
	return b.String()
}

func (n nouns) plain(s string) string {
	s = replaceNoun(s, bagWord, strings.TrimSuffix(n.samples, "s"))
	if n.labels {
		s = replaceNoun(s, classWord, "label")
	}
	return s
}

// replaceNoun replaces a noun and keeps its plural and its capital. Parts of file names and quoted words stay as they
// are.
func replaceNoun(s string, old *regexp.Regexp, noun string) string {
	var b strings.Builder
	last := 0
	for _, at := range old.FindAllStringIndex(s, -1) {
		before, found, after := s[:at[0]], s[at[0]:at[1]], s[at[1]:]
		if beforeName.MatchString(before) || afterName.MatchString(after) {
			continue
		}
		now := noun
		if strings.HasSuffix(found, "s") {
			now += "s"
		}
		if found[0] < 'a' {
			now = strings.ToUpper(now[:1]) + now[1:]
		}
		b.WriteString(s[last:at[0]] + now)
		last = at[1]
	}
	return b.String() + s[last:]
}

// tables replaces the nouns in the titles, columns and notes of tables.
func (n nouns) tables(all []*report.Table) []*report.Table {
	for _, t := range all {
		t.Title = n.text(t.Title)
		counted := slices.ContainsFunc(t.Columns, func(c report.Column) bool { return c.Name == "labels" })
		for i := range t.Columns {
			c := &t.Columns[i]
			if c.Name == "word" && n.labels && counted { // next to the number of labels
				c.Name = "class"
			}
			c.Name = n.text(c.Name)
		}
		for i := range t.Notes {
			t.Notes[i] = n.text(t.Notes[i])
		}
		n.cells(t)
	}
	return all
}

// cells replaces the nouns in columns of sentences.
func (n nouns) cells(t *report.Table) {
	for i, c := range t.Columns {
		if c.Name != "not audited" && c.Name != "found" && c.Name != "remarks" {
			continue
		}
		for r := range t.Rows {
			if cell := &t.Rows[r].Cells[i]; cell.Text != "" {
				cell.Text = n.text(cell.Text)
			}
		}
	}
}

// write writes tables: with the nouns of the data as text or Markdown, and unchanged for other programs.
func (n nouns) write(p *program, format report.Format, tables ...*report.Table) error {
	if format == report.Text || format == report.Markdown {
		tables = n.tables(tables)
	}
	return report.Write(p.out, format, tables...)
}
