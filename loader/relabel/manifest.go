package relabel

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/features"
	"nmn/loader/manifest"
)

// HasLines reports whether a manifest has a line of text for each row, whose labels Manifest can change.
func HasLines(m *manifest.Manifest) bool {
	switch m.Form {
	case manifest.FormFolders, manifest.FormCOCO, manifest.FormVOC, manifest.FormYOLO, manifest.FormPairs:
		return false
	}
	return m.Sources == nil && !m.WholeJSON && !m.Headless
}

// Manifest writes a manifest of lines with corrected labels, and returns the number of rows that it has
// changed. Other rows keep every byte.
func Manifest(ctx context.Context, m *manifest.Manifest, l Labels, path string) (rows int, err error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	if !HasLines(m) {
		return 0, fmt.Errorf("%s: labels of the form %s are not lines: %w", m.File, m.Form, ErrForm)
	}
	in, mark, err := loader.OpenMarkedText(ctx, m.File)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	e := editor{m: m, labels: &l, at: map[int]*manifest.Row{}}
	for i := range m.Rows {
		e.at[m.Rows[i].Line] = &m.Rows[i]
	}
	for _, repeated := range m.Lines {
		e.at[repeated.Number] = e.at[repeated.Row]
	}
	err = loader.WriteText(path, func(out io.Writer) error {
		if _, err := io.WriteString(out, mark); err != nil {
			return err
		}
		if m.JSONLines {
			rows, err = e.lines(in, out)
		} else {
			rows, err = e.table(in, out)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("corrected labels of %q: %w", m.File, err)
	}
	return rows, nil
}

// editor copies the text of a manifest with corrected labels.
type editor struct {
	m      *manifest.Manifest
	labels *Labels
	at     map[int]*manifest.Row // by their lines
}

// names are the corrected labels of a line; changed is false if they are those that it has.
func (e *editor) names(line int) (names []string, changed bool) {
	row := e.at[line]
	if row == nil { // a row that was left out
		return nil, false
	}
	return e.labels.Names(row.ID, namesOf(e.m, row))
}

func namesOf(m *manifest.Manifest, row *manifest.Row) []string {
	names := make([]string, len(row.Labels))
	for at, label := range row.Labels {
		names[at] = m.Labels[label]
	}
	return names
}

// table copies a CSV table. The reader is that of the manifest, so both read the same records.
func (e *editor) table(in io.Reader, out io.Writer) (changed int, err error) {
	text := bufio.NewReaderSize(in, 1<<16)
	var taken bytes.Buffer // what the reader has taken, and what is not copied yet
	r := csv.NewReader(io.TeeReader(text, &taken))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = features.Separator(text), -1, true
	var columns []string
	for copied := int64(0); ; copied = r.InputOffset() {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			_, err := out.Write(taken.Bytes())
			return changed, err
		}
		if err != nil {
			return changed, err
		}
		raw := taken.Next(int(r.InputOffset() - copied))
		line, _ := r.FieldPos(0)
		names, other := e.names(line)
		switch {
		case columns == nil:
			for _, name := range record {
				columns = append(columns, strings.TrimSpace(name))
			}
		case other:
			if err := e.correct(record, columns, names); err != nil {
				return changed, fmt.Errorf("line %d: %w", line, err)
			}
			changed++
			w := csv.NewWriter(out)
			w.Comma, w.UseCRLF = r.Comma, bytes.HasSuffix(raw, []byte("\r\n"))
			_ = w.Write(record) // Error returns what went wrong
			w.Flush()
			if err := w.Error(); err != nil {
				return changed, err
			}
			continue
		}
		if _, err := out.Write(raw); err != nil {
			return changed, err
		}
	}
}

// correct puts labels into the cells of a record.
func (e *editor) correct(record, columns, names []string) (err error) {
	if e.m.Form != manifest.FormColumns {
		at := slices.Index(columns, e.m.LabelsColumn)
		if at < 0 || at >= len(record) { // the file has changed since it was read
			return fmt.Errorf("there is no cell in column %q: %w", e.m.LabelsColumn, ErrForm)
		}
		record[at], err = e.cell(record[at], names)
		return err
	}
	wanted, stated := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		wanted[norm.NFC.String(name)] = true
	}
	var of []int // columns of labels
	for i, column := range columns {
		if i < len(record) && slices.Contains(e.m.Columns.Labels, column) {
			of = append(of, i)
			if on, _, _ := manifest.Flag(strings.TrimSpace(record[i])); on {
				stated[e.word(column)] = true
			}
		}
	}
	for _, i := range of {
		on, pair, _ := manifest.Flag(strings.TrimSpace(record[i]))
		if e.m.Mark != "" {
			pair = [2]string{"", e.m.Mark}
		}
		switch word := e.word(columns[i]); {
		case on && !wanted[word]:
			record[i] = pair[0]
		case wanted[word] && !stated[word]:
			record[i], stated[word] = pair[1], true
		}
	}
	for word := range wanted {
		if !stated[word] {
			return fmt.Errorf("there is no column %q: %w", word, ErrForm)
		}
	}
	return nil
}

// word is the label that a column gives.
func (e *editor) word(column string) string {
	name := norm.NFC.String(column)
	return cmp.Or(e.m.Joined[name], name)
}

// cell states labels as the form does, in the place of another cell.
func (e *editor) cell(old string, names []string) (string, error) {
	one := e.m.Form == manifest.FormSingle || e.m.Form == manifest.FormIntegers
	switch {
	case e.m.Form == manifest.FormJSON || strings.HasPrefix(strings.TrimSpace(old), "["):
		return string(jsonOf(slices.Concat([]string{}, names))), nil
	case one && len(names) > 1:
		return "", fmt.Errorf("the row would have %d labels, and its form states one: %w", len(names), ErrForm)
	}
	separator := cmp.Or(e.m.Separator, ";")
	for _, name := range names {
		_, notNumber := strconv.Atoi(name)
		if e.m.Form == manifest.FormIntegers && notNumber != nil || !one && strings.Contains(name, separator) {
			return "", fmt.Errorf("%q cannot stand in a cell: %w", loader.Excerpt(name), ErrForm)
		}
	}
	return strings.Join(names, separator), nil
}

// jsonOf is a text or a list of texts as JSON, with < and & as they are.
func jsonOf[T string | []string](value T) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // a text has a form
	return bytes.TrimSpace(b.Bytes())
}

// lines copies JSON lines, with other values of the labels.
func (e *editor) lines(in io.Reader, out io.Writer) (changed int, err error) {
	lines, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	for number := 1; ; number++ {
		line, end := lines.ReadBytes('\n')
		if end != nil && !errors.Is(end, io.EOF) {
			return changed, end
		}
		if names, other := e.names(number); other {
			if line, err = e.line(line, names); err != nil {
				return changed, fmt.Errorf("line %d: %w", number, err)
			}
			changed++
		}
		_, _ = w.Write(line) // Flush returns the error
		if end != nil {
			return changed, w.Flush()
		}
	}
}

func (e *editor) line(line []byte, names []string) ([]byte, error) {
	from, to, err := annotation.ValueOf(line, e.m.LabelsColumn)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrForm)
	}
	value := jsonOf(slices.Concat([]string{}, names))
	if line[from] != '[' {
		cell, err := e.cell("", names)
		if err != nil {
			return nil, err
		}
		if value = []byte(cell); line[from] == '"' || cell == "" {
			value = jsonOf(cell)
		}
	}
	return slices.Concat(line[:from], value, line[to:]), nil
}

// Row is a row of a new manifest.
type Row struct {
	ID     string
	Files  []string // relative to the folder of the pictures, with slashes; several are frames of a clip
	Labels []string
	Split  string // train, validation or test
}

// NewManifest writes a manifest as CSV, for data whose form cannot be written again: a column of paths, or of frames,
// then labels and split.
func NewManifest(rows []Row, path string) error {
	header, ids := []string{"path", "labels", "split"}, false
	for _, row := range rows {
		if len(row.Files) > 1 {
			header[0] = "frames"
		}
		ids = ids || row.ID != "" && (len(row.Files) != 1 || row.ID != row.Files[0])
	}
	if ids {
		header = append(header, "id")
	}
	table := [][]string{header}
	for _, row := range rows {
		for _, name := range slices.Concat(row.Labels, row.Files) {
			if strings.ContainsAny(name, ";|") {
				return fmt.Errorf("%q has a ; or |, which part names in a list: rename it: %w", name, ErrForm)
			}
		}
		record := []string{strings.Join(row.Files, ";"), strings.Join(row.Labels, ";"), row.Split, row.ID}
		table = append(table, record[:len(header)])
	}
	return durable.CSV(path, 0o644, func(w *csv.Writer) error { return w.WriteAll(table) })
}

// RowsOf returns the rows of a manifest of any form, with corrected labels. splits are the splits of rows by their
// identifiers.
func RowsOf(m *manifest.Manifest, l Labels, splits map[string]string) []Row {
	rows := make([]Row, len(m.Rows))
	for i := range m.Rows {
		from := &m.Rows[i]
		names, _ := l.Names(from.ID, namesOf(m, from))
		rows[i] = Row{ID: from.ID, Files: from.Files, Labels: names, Split: cmp.Or(splits[from.ID], from.Split)}
	}
	return rows
}
