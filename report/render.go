package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nmn/eval"
	"nmn/internal/visible"
)

// markdownEscapes are the characters that Markdown would take for markup inside a cell.
var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "\n",
	" ")

// visible returns the printable table: names and words from files cannot move a cursor or begin a line.
func (t *Table) visible() *Table {
	line := func(s string) string { return visible.Line(strings.ReplaceAll(s, "\n", " ")) }
	shown := &Table{Title: line(t.Title), Stacked: t.Stacked}
	for _, c := range t.Columns {
		c.Name = line(c.Name)
		shown.Columns = append(shown.Columns, c)
	}
	for _, row := range t.Rows {
		row.Cells = slices.Clone(row.Cells)
		for i := range row.Cells {
			row.Cells[i].Text = line(row.Cells[i].Text)
		}
		shown.Rows = append(shown.Rows, row)
	}
	for _, n := range t.Notes {
		shown.Notes = append(shown.Notes, line(n))
	}
	return shown
}

func (t *Table) markdown(b *strings.Builder) {
	if t.Title != "" {
		fmt.Fprintf(b, "**%s**\n\n", markdownEscapes.Replace(t.Title))
	}
	for _, c := range t.Columns {
		fmt.Fprintf(b, "| %s ", markdownEscapes.Replace(c.Name))
	}
	b.WriteString("|\n")
	for _, c := range t.Columns {
		if c.Text {
			b.WriteString("|:--")
		} else {
			b.WriteString("|--:")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		for i, c := range row.Cells {
			s := markdownEscapes.Replace(c.display(t.Columns[i]))
			if c.Bold {
				s = "**" + s + "**"
			}
			fmt.Fprintf(b, "| %s ", s)
		}
		b.WriteString("|\n")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "\n%s\n", markdownEscapes.Replace(n))
	}
}

// text aligns the columns: words to the left, numbers to the right.
func (t *Table) text(b *strings.Builder) {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = utf8.RuneCountInString(c.Name)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row.Cells[i].display(c)))
		}
	}
	line := func(cell func(i int) string) {
		var l strings.Builder
		for i, c := range t.Columns {
			s := cell(i)
			pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(s)))
			if i > 0 {
				l.WriteString("  ")
			}
			if c.Text {
				l.WriteString(s + pad)
			} else {
				l.WriteString(pad + s)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	rule := func() { line(func(i int) string { return strings.Repeat("-", widths[i]) }) }
	if t.Title != "" {
		b.WriteString(t.Title + "\n\n")
	}
	line(func(i int) string { return t.Columns[i].Name })
	rule()
	for n, row := range t.Rows {
		if row.Rule && n > 0 {
			rule()
		}
		line(func(i int) string { return row.Cells[i].display(t.Columns[i]) })
	}
	for _, n := range t.Notes {
		b.WriteString("\n" + Wrap(n) + "\n")
	}
}

// noteColumns is how wide a note may become as text.
const noteColumns = 100

// Wrap breaks a text between words into lines of at most 100 columns, as the notes of tables are.
func Wrap(s string) string { return wrapped(s, noteColumns) }

// wrapped breaks a text between words into lines of at most columns characters. A longer word stays whole on its line.
func wrapped(s string, columns int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(s) {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+size > columns:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += size
	}
	return b.String()
}

// csv writes ten significant digits; a column with a spread becomes two, the second named "... sd". Undefined
// is an empty field. Title and notes are left out.
func (t *Table) csv(b *strings.Builder) error {
	w := csv.NewWriter(b)
	var header []string
	for _, c := range t.Columns {
		header = append(header, c.Name)
		if c.Spread {
			header = append(header, c.Name+" sd")
		}
	}
	if err := w.Write(header); err != nil {
		return err
	}
	for _, row := range t.Rows {
		var fields []string
		for i, c := range row.Cells {
			if c.Value.Defined() {
				fields = append(fields, tenDigits(c.Value))
			} else {
				fields = append(fields, c.Text)
			}
			if t.Columns[i].Spread {
				fields = append(fields, tenDigits(c.Spread))
			}
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// tenDigits prints more digits than any figure here needs, and hides the rounding errors of sums.
func tenDigits(v eval.Number) string {
	if !v.Defined() {
		return ""
	}
	return strconv.FormatFloat(float64(v), 'g', 10, 64)
}

// jsonNumber is the same as a JSON number, or null.
func jsonNumber(v eval.Number) json.RawMessage {
	if !v.Defined() {
		return json.RawMessage("null")
	}
	return json.RawMessage(tenDigits(v))
}

// jsonTable is the JSON form: rows are objects whose keys are the columns, with null for undefined.
type jsonTable struct {
	Title   string           `json:"title"`
	Columns []string         `json:"columns"`
	Rows    []map[string]any `json:"rows"`
	Notes   []string         `json:"notes,omitempty"`
}

func writeJSON(b *strings.Builder, tables []*Table) error {
	out := make([]jsonTable, 0, len(tables))
	for _, t := range tables {
		j := jsonTable{Title: t.Title, Notes: t.Notes, Rows: []map[string]any{}}
		for _, c := range t.Columns {
			j.Columns = append(j.Columns, c.Name)
		}
		for _, row := range t.Rows {
			fields := map[string]any{}
			for i, c := range row.Cells {
				name := t.Columns[i].Name
				if c.Text != "" && !c.Value.Defined() {
					fields[name] = c.Text
				} else {
					fields[name] = jsonNumber(c.Value)
				}
				if t.Columns[i].Spread {
					fields[name+" sd"] = jsonNumber(c.Spread)
				}
			}
			j.Rows = append(j.Rows, fields)
		}
		out = append(out, j)
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
