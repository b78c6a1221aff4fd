package relabel

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/loader/manifest"
)

// pairPlan holds the new content of the lines of a manifest that has a line for each picture and label: the
// names that each line gives then, an empty one for no label. A line with several names is followed by copies
// of itself, a line with none is removed, and a line that is not in the plan stays as it is.
type pairPlan map[int][]string

// pairs plans the new labels of the lines of m. changed counts the rows in which a line changes.
func pairs(m *manifest.Manifest, l *Labels) (plan pairPlan, changed int) {
	lines := map[int][]manifest.Line{}
	for _, line := range m.Lines {
		lines[line.Row] = append(lines[line.Row], line)
	}
	plan = pairPlan{}
	for i := range m.Rows {
		row := &m.Rows[i]
		before := namesOf(m, row)
		names, other := l.Names(row.ID, before)
		if !other {
			continue
		}
		changed++
		added := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(before, name) })
		var kept, free []int // numbers of lines
		for _, line := range lines[row.Line] {
			if line.Label >= 0 && !slices.Contains(names, m.Labels[line.Label]) {
				plan[line.Number] = nil
				free = append(free, line.Number)
			} else {
				kept = append(kept, line.Number)
			}
		}
		for len(added) > 0 && len(free) > 0 {
			plan[free[0]] = added[:1]
			added, kept, free = added[1:], append(kept, free[0]), free[1:]
		}
		switch {
		case len(kept) == 0:
			plan[free[0]] = []string{""} // the picture stays, without a label
		case len(added) > 0:
			last := slices.Max(kept)
			plan[last] = append(slices.Clone(plan[last]), added...)
			if len(plan[last]) == len(added) { // the line states what it did, too
				plan[last] = append([]string{same}, added...)
			}
		}
	}
	return plan, changed
}

// same marks, in a plan, that a line keeps its name.
const same = "\x00"

// rewritePairs writes a manifest of pictures and labels, a line for each, with the labels as they should be.
func rewritePairs(ctx context.Context, m *manifest.Manifest, l *Labels, stated map[string]string,
	path string) (rows int, err error) {
	plan, rows := pairs(m, l)
	_, err = rewrite(ctx, m.File, path, func(in io.Reader, out io.Writer) (int, error) {
		if m.JSONLines {
			return editLines(in, out, func(line []byte, number int) ([]byte, bool, error) {
				edited, err := plan.json(line, number, m, stated)
				return edited, true, err
			})
		}
		return 0, plan.sheet(in, out, m, stated)
	})
	return rows, err
}

// json is a line of JSON and its copies.
func (plan pairPlan) json(line []byte, number int, m *manifest.Manifest, stated map[string]string) ([]byte, error) {
	names, ok := plan[number]
	if !ok {
		return line, nil
	}
	body, end := lineEnd(line)
	var copies [][]byte
	for _, name := range names {
		if name == same {
			copies = append(copies, body)
			continue
		}
		value := `""` // which is a list of nothing, too
		if name != "" {
			value = stated[name]
		}
		edited, err := withValue(body, m.LabelsColumn, value)
		if err == nil && m.Confidence != "" && name != "" {
			if _, _, none := valueOf(edited, m.Confidence); none == nil {
				edited, err = withValue(edited, m.Confidence, "1")
			}
		}
		if err != nil {
			return nil, err
		}
		copies = append(copies, edited)
	}
	if len(copies) == 0 {
		return nil, nil
	}
	return append(bytes.Join(copies, []byte(cmp.Or(end, "\n"))), end...), nil
}

// withValue is an object of JSON with another value of a key.
func withValue(line []byte, key, value string) ([]byte, error) {
	start, end, err := valueOf(line, key)
	if err != nil {
		return nil, err
	}
	return bytes.Join([][]byte{line[:start], []byte(value), line[end:]}, nil), nil
}

// sheet copies a table with what becomes of its lines.
func (plan pairPlan) sheet(in io.Reader, out io.Writer, m *manifest.Manifest, stated map[string]string) error {
	text := bufio.NewReaderSize(in, 1<<16)
	r := newRecords(text, out, features.Separator(text))
	s := sheet{list: m.LabelsColumn}
	columns, err := s.header(r)
	if err != nil {
		return err
	}
	labels, confidence := slices.Index(columns, m.LabelsColumn), slices.Index(columns, m.Confidence)
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			return r.end()
		}
		if err != nil {
			return err
		}
		names, ok := plan[r.line]
		if !ok {
			if err := r.copy(nil); err != nil {
				return err
			}
			continue
		}
		body, end := lineEnd(bytes.Clone(r.take()))
		for i, name := range names {
			cells := map[int]string{}
			if name != same {
				cells[labels] = stated[name]
				if confidence >= 0 && name != "" {
					cells[confidence] = "1"
				}
			}
			if i > 0 {
				body = append([]byte(cmp.Or(end, "\n")), bytes.TrimLeft(body, "\r\n")...)
			}
			if err := r.write(body, cells); err != nil {
				return err
			}
		}
		if len(names) > 0 {
			if err := r.write([]byte(end), nil); err != nil {
				return err
			}
		}
	}
}

// lineEnd parts a line from what ends it.
func lineEnd(line []byte) (body []byte, end string) {
	body = bytes.TrimRight(line, "\r\n")
	return body, string(line[len(body):])
}

// pairStatements returns the text of each name: the content of lines with it, a cell or a value of JSON.
func pairStatements(ctx context.Context, m *manifest.Manifest) (map[string]string, error) {
	label := make(map[int]string, len(m.Lines))
	for _, line := range m.Lines {
		if line.Label >= 0 {
			label[line.Number] = m.Labels[line.Label]
		}
	}
	return statementsOf(ctx, m, func(line int) string { return label[line] })
}

// checkPairs refuses names that no line states.
func checkPairs(m *manifest.Manifest, l *Labels, stated map[string]string) error {
	for i := range m.Rows {
		names, changed := l.Names(m.Rows[i].ID, namesOf(m, &m.Rows[i]))
		for _, name := range names {
			if changed && stated[name] == "" {
				return fmt.Errorf("%s: no row states %q: %w", m.File, loader.Excerpt(name), ErrForm)
			}
		}
	}
	return nil
}
