package features

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Names of columns that need no option.
const (
	standardID    = "id"
	standardList  = "labels"
	standardSplit = "split"
)

// layout holds the meaning of a table's columns; -1 for none.
type layout struct {
	id, list, split  int
	weight           int // -1 if the file has no such column
	labels, features []int
	words            []string // names of the label columns
	inferred         bool     // list was taken as the labels because of its name
	suspects         []int    // features that are called as labels are
}

// indexColumn is the column of a table that pandas wrote as its index, which names the rows; -1 for none.
func indexColumn(r records) int {
	if opened, ok := r.(*openedRecords); ok {
		r = opened.records
	}
	columns := r.columns()
	if table, ok := r.(*parquetRecords); ok {
		return slices.Index(columns, cmp.Or(table.Index(), "__index_level_0__"))
	}
	if len(columns) > 1 && strings.HasPrefix(columns[0], UnnamedColumn) {
		return 0
	}
	return -1
}

// layout sorts the columns of a table. named are the names of label columns if a list of them is given, as in
// an .xml. index is the column that names the rows if no other does; -1 for none.
func (o *Options) layout(columns, named []string, index int) (layout, error) {
	l := layout{id: -1, list: -1, split: -1, weight: -1}
	if err := distinct(columns); err != nil {
		return l, err
	}
	labels, err := o.labelColumns(columns, named)
	if err != nil {
		return l, err
	}
	ignored, err := o.matching(columns, o.Ignore, "ignored")
	if err != nil {
		return l, err
	}
	for _, special := range []struct {
		asked, standard, what string
		to                    *int
	}{{o.IDColumn, standardID, "identifiers", &l.id}, {o.ListColumn, standardList, "lists of labels", &l.list},
		{o.SplitColumn, standardSplit, "splits", &l.split}} {
		if *special.to, err = o.column(columns, special.asked, special.standard, special.what); err != nil {
			return l, err
		}
		if special.to == &l.id && l.id < 0 {
			l.id = index
			// The column that was asked for may be in the other file alone.
			if at := slices.Index(columns, standardID); o.lenient && at >= 0 && !labels[at] && !ignored[at] {
				l.id = at
			}
		}
		if *special.to >= 0 && special.asked == "" && ignored[*special.to] {
			*special.to = -1
		}
		if *special.to >= 0 && labels[*special.to] {
			if special.asked != "" {
				return l, formatf("column %q is set as a label and as %s", special.asked, special.what)
			}
			*special.to = -1
		}
	}
	if o.WeightColumn != "" {
		l.weight = slices.Index(columns, o.WeightColumn)
	}
	for c := range columns {
		switch {
		case c == l.weight:
			if labels[c] || c == l.id || c == l.list || c == l.split || ignored[c] {
				return l, formatf("column %q is set as the weights of rows and as something else", o.WeightColumn)
			}
		case labels[c]:
			l.labels = append(l.labels, c)
		case c != l.id && c != l.list && c != l.split && !ignored[c]:
			l.features = append(l.features, c)
		}
	}
	if named != nil { // classes in the order of the list
		at := positions(named)
		slices.SortFunc(l.labels, func(a, b int) int { return at[columns[a]] - at[columns[b]] })
	}
	for _, c := range l.labels {
		l.words = append(l.words, columns[c])
	}
	if l.list >= 0 && len(l.labels) > 0 {
		if o.ListColumn != "" {
			return l, formatf("labels are asked for both in columns of their own and as lists in column %q: choose one",
				columns[l.list])
		}
		l.list = -1 // a column called labels, which is neither feature nor label then
	}
	return l, nil
}

// labelColumns marks the columns that are labels.
func (o *Options) labelColumns(columns, named []string) ([]bool, error) {
	if named == nil {
		return o.matching(columns, o.LabelColumns, "labels")
	}
	marked, places := make([]bool, len(columns)), positions(columns)
	for _, name := range named {
		at, is := places[name]
		if !is && o.lenient {
			continue
		}
		if !is {
			return nil, formatf("there is no column for the label %q; columns are %s", clip(name), some(columns))
		}
		marked[at] = true
	}
	return marked, nil
}

// positions returns the index of each name in a list of distinct names.
func positions(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

// matching marks columns that match the patterns. Each pattern must match a column.
func (o *Options) matching(columns, patterns []string, what string) ([]bool, error) {
	marked := make([]bool, len(columns))
	for _, pattern := range patterns {
		matched := false
		for c, name := range columns {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return nil, formatf("pattern %q: %v", pattern, err)
			}
			if ok || pattern == name {
				marked[c], matched = true, true
			}
		}
		if !matched && !o.lenient {
			return nil, formatf("no column matches %q (%s); columns are %s", clip(pattern), what, some(columns))
		}
	}
	return marked, nil
}

// column finds a column that was asked for, else one with the usual name; -1 for none.
func (o *Options) column(columns []string, asked, standard, what string) (int, error) {
	if asked == "" {
		return slices.Index(columns, standard), nil
	}
	at := slices.Index(columns, asked)
	if at < 0 && !o.lenient {
		return -1, formatf("there is no column %q for %s; columns are %s", clip(asked), what, some(columns))
	}
	return at, nil
}

// distinct names the first column that is given twice.
func distinct(columns []string) error {
	first := make(map[string]int, len(columns))
	for c, name := range columns {
		if before, ok := first[name]; ok {
			return formatf("column %d is named %q as column %d is", c+1, clip(name), before+1)
		}
		first[name] = c
	}
	return nil
}

// some lists the first and the last of many names.
func some(names []string) string {
	const shown = 4
	quoted := func(list []string) string {
		out := make([]string, len(list))
		for i, name := range list {
			out[i] = fmt.Sprintf("%q", clip(name))
		}
		return strings.Join(out, ", ")
	}
	if len(names) <= 2*shown {
		return quoted(names)
	}
	return fmt.Sprintf("%s, ..., %s (%d)", quoted(names[:shown]), quoted(names[len(names)-shown:]), len(names))
}
