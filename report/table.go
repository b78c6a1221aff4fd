package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nmn/eval"
)

// Table is a heading, columns and rows, followed by notes. It can be written in any Format.
type Table struct {
	Title   string
	Columns []Column
	Rows    []Row
	Notes   []string
	// Stacked is set if rows hold sentences. On the narrow screen of a telephone, a page shows each row as a
	// block, with the name of the column next to each cell.
	Stacked bool
}

// Column describes the cells below a heading. Decimals applies to printed tables. CSV and JSON have ten
// significant digits.
type Column struct {
	Name     string
	Text     bool // left-aligned words rather than numbers
	Decimals int
	Spread   bool // the cells have a standard deviation
}

// TextColumns are columns of words.
func TextColumns(names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Name: name, Text: true}
	}
	return columns
}

// NumberColumns are columns of numbers with as many decimals.
func NumberColumns(decimals int, names ...string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i] = Column{Name: name, Decimals: decimals}
	}
	return columns
}

// Row is one line; Rule asks for a line above it.
type Row struct {
	Cells []Cell
	Rule  bool

	aside bool    // shown for comparison: not a candidate for the best of its block
	block cellKey // of rivals in tables of arms; zero in other tables
}

// Cell is text, or a number with an optional spread. An undefined number is printed as a dash. If a cell has
// both, Text is printed, and CSV and JSON have Value.
type Cell struct {
	Text   string
	Value  eval.Number
	Spread eval.Number // sample standard deviation; undefined with fewer than two values
	Bold   bool        // the best of its block

	decimals int // instead of the column's; 0 leaves it to the column
}

func words(s string) Cell { return Cell{Text: s, Value: eval.Undefined(), Spread: eval.Undefined()} }

func number(v eval.Number) Cell { return Cell{Value: v, Spread: eval.Undefined()} }

func figure(v float64) Cell { return number(eval.Number(v)) }

func unknown() Cell { return number(eval.Undefined()) }

// whole is a number that is always written without decimals.
func whole(v float64) Cell {
	return Cell{Text: strconv.FormatFloat(v, 'g', 6, 64), Value: eval.Number(v), Spread: eval.Undefined()}
}

func count(n int) Cell { return whole(float64(n)) }

// dash is printed for a figure that does not exist.
const dash = "–"

func (c Cell) display(column Column) string {
	switch {
	case c.Text != "":
		return c.Text
	case column.Text:
		return ""
	case !c.Value.Defined():
		return dash
	}
	decimals := cmp.Or(c.decimals, column.Decimals)
	s := strconv.FormatFloat(float64(c.Value), 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" { // a difference that rounds to 0 has no sign
		s = strings.TrimPrefix(s, "-")
	}
	if c.Spread.Defined() {
		s += " ± " + strconv.FormatFloat(float64(c.Spread), 'f', decimals, 64)
	}
	return s
}

// Format is a way of writing a table.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	CSV      Format = "csv"
	JSON     Format = "json"
	Text     Format = "text" // aligned, for a terminal
)

// Write writes tables one after the other; JSON is one array of tables, the other formats put an
// empty line between them.
func Write(w io.Writer, format Format, tables ...*Table) error {
	var b strings.Builder
	if format == JSON {
		if err := writeJSON(&b, tables); err != nil {
			return err
		}
	} else {
		for i, t := range tables {
			if i > 0 {
				b.WriteByte('\n')
			}
			if err := t.write(&b, format); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) write(b *strings.Builder, format Format) error {
	switch format {
	case Markdown:
		t.visible().markdown(b)
	case CSV:
		return t.csv(b)
	case Text:
		t.visible().text(b)
	default:
		return fmt.Errorf("report: unknown format %q, want markdown, csv, json or text", format)
	}
	return nil
}

// AddRow adds a row of cells.
func (t *Table) AddRow(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// dropEmptyColumns removes number columns in which no cell has a value.
func (t *Table) dropEmptyColumns() {
	for at := len(t.Columns) - 1; at >= 0; at-- {
		if !t.Columns[at].Text && t.empty(at) {
			t.drop(at)
		}
	}
}

// dropIfEmpty removes named columns in which no cell has a text or a value.
func (t *Table) dropIfEmpty(names ...string) {
	for _, name := range names {
		if at := t.column(name); t.empty(at) {
			t.drop(at)
		}
	}
}

func (t *Table) empty(at int) bool {
	return !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[at].Text != "" || r.Cells[at].Value.Defined() })
}

// column is the place of a column, or -1.
func (t *Table) column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

func (t *Table) drop(at int) {
	t.Columns = slices.Delete(t.Columns, at, at+1)
	for i := range t.Rows {
		t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, at, at+1)
	}
}

// Summary is the same with the main measures alone, narrow enough for a terminal.
func (t *Table) Summary() *Table {
	known := slices.ContainsFunc(t.Columns, func(c Column) bool { return measureOf(c) == "AP (truth)" })
	return t.only(t.Title, func(measure string) bool {
		return slices.Contains(mainMeasures, measure) || measure == "mAP (labels)" && !known
	})
}

// Details returns the columns that Summary leaves out: calibration, noise rates and audit. It returns nil if
// there are none.
func (t *Table) Details() *Table {
	details := func(measure string) bool { return slices.Contains(furtherMeasures, measure) }
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return details(measureOf(c)) }) {
		return nil
	}
	d := t.only("Calibration, errors of the noise rates, and finding the wrong labels", details)
	d.Notes = nil
	return d
}

// measureOf is the measure of a column of figures or of differences.
func measureOf(c Column) string { return strings.TrimPrefix(c.Name, "Δ ") }

// only keeps the columns that are no measures, and of these the wanted ones.
func (t *Table) only(title string, wanted func(measure string) bool) *Table {
	keep := make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		measure := measureOf(c)
		isMeasure := measure == thresholdColumn || measure == auditColumn ||
			slices.ContainsFunc(measureTable(true), func(m metric) bool { return m.name == measure })
		keep[i] = !isMeasure || wanted(measure)
	}
	out := &Table{Title: title, Columns: kept(t.Columns, keep), Notes: t.Notes, Stacked: t.Stacked}
	for _, row := range t.Rows {
		row.Cells = kept(row.Cells, keep)
		out.Rows = append(out.Rows, row)
	}
	return out
}

func kept[T any](list []T, keep []bool) []T {
	var out []T
	for i, v := range list {
		if keep[i] {
			out = append(out, v)
		}
	}
	return out
}

// markBest makes the largest (or smallest) value of a column bold among the rows between two rules, without those that
// stand aside; those that are printed as the same share it, unless all are.
func (t *Table) markBest(column int, smallest bool) {
	for first, end := 0, 1; first < len(t.Rows); first, end = end, end+1 {
		for end < len(t.Rows) && !t.Rows[end].Rule {
			end++
		}
		t.markBestOf(t.Rows[first:end], column, smallest)
	}
}

func (t *Table) markBestOf(rows []Row, column int, smallest bool) {
	best, differ := eval.Undefined(), false
	for _, row := range rows {
		v := row.Cells[column].printed(t.Columns[column])
		if !v.Defined() || row.aside {
			continue
		}
		differ = differ || best.Defined() && v != best
		if !best.Defined() || (v > best) != smallest && v != best {
			best = v
		}
	}
	for i := range rows {
		if c := &rows[i].Cells[column]; differ && !rows[i].aside && c.printed(t.Columns[column]) == best {
			c.Bold = true
		}
	}
}
