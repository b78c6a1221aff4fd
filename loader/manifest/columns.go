package manifest

import (
	"fmt"
	"nmn/loader"
	"strconv"
	"strings"
)

// Prefixes of CSV columns of single true labels and of single counts.
const (
	truthPrefix  = "truth:"
	countsPrefix = "counts:"
)

// labelColumn is a column of one label.
type labelColumn struct {
	at          int
	name, label string
}

// single takes the cells that hold one label each. True labels and counts are known of all labels of a row,
// or of none.
func (c *csvRows) single(r *record) (err error) {
	if len(c.labels) > 0 {
		if r.labels, err = c.holding(c.labels, "if the column holds names, set it "+
			"(`data.features.list_column`), or leave it out (`data.features.ignore_columns`)"); err != nil {
			return err
		}
	}
	known, err := c.known(c.truth)
	if err == nil && known {
		r.truth, err = c.holding(c.truth, "leave all true labels of a row empty if they are unknown")
	}
	if err != nil {
		return err
	}
	if known, err = c.known(c.counts); err == nil && known {
		r.counts, err = c.counted()
	}
	return err
}

// known reports whether the cells of columns say anything; all of a row do, or none.
func (c *csvRows) known(columns []labelColumn) (bool, error) {
	unknown := func(column labelColumn) bool {
		cell := c.sheet.Text(column.at)
		return cell == "" || cell == unknownCell
	}
	for _, column := range columns {
		if unknown(column) != unknown(columns[0]) {
			return false, columnError(column.name,
				fmt.Errorf("it and column %q are not both filled in or both empty; a row has all of them, or none",
					loader.Excerpt(columns[0].name)))
		}
	}
	return len(columns) > 0 && !unknown(columns[0]), nil
}

// flags are the spellings of 0 and 1 that tables have.
var flags = [][2]string{{"0", "1"}, {"0.0", "1.0"}, {"False", "True"}, {"false", "true"}, {"FALSE", "TRUE"},
	{"no", "yes"}, {"No", "Yes"}, {"NO", "YES"}, {"n", "y"}, {"N", "Y"}, {"", "x"}, {"", "X"}}

// namedFlags is the first of flags whose spellings may be names of classes.
const namedFlags = 5

// Flag reports whether a cell of a column of 0 and 1 holds 1. pair is how the cell's column spells 0 and 1. ok is false
// if the cell is neither.
func Flag(cell string) (on bool, pair [2]string, ok bool) {
	for _, pair := range flags {
		if cell == pair[0] || cell == pair[1] {
			return cell == pair[1], pair, true
		}
	}
	return false, pair, false
}

// holding are the labels of columns that hold 1; cure is what else to do about another cell than 0 and 1. An empty cell
// is 0 in a table of x alone, which blanks checks after the last row.
func (c *csvRows) holding(columns []labelColumn, cure string) ([]string, error) {
	names := []string{}
	for _, column := range columns {
		cell := c.sheet.Text(column.at)
		on, pair, ok := Flag(cell)
		if !ok || cell == "" && c.blank == nil {
			err := columnError(column.name, fmt.Errorf("%q is neither 0 nor 1; repair it, or %s", loader.Excerpt(cell), cure))
			if !ok {
				return nil, err
			}
			c.blank = fmt.Errorf("line %d, %w", c.sheet.Line(), err)
		}
		if on {
			names = append(names, column.label)
		}
		if pair[0] != "" {
			c.spelled = true
		} else if on {
			c.mark = strings.Clone(cell)
		}
	}
	return names, nil
}

// blanks is the error about the first empty cell, unless all other cells are x.
func (c *csvRows) blanks() error {
	if c.spelled || c.mark == "" {
		return c.blank
	}
	return nil
}

func (c *csvRows) counted() ([]namedCount, error) {
	list := make([]namedCount, 0, len(c.counts))
	for _, column := range c.counts {
		cell := c.sheet.Text(column.at)
		n, err := strconv.Atoi(cell)
		if err != nil {
			return nil, columnError(column.name,
				fmt.Errorf(
					"%q is no count; want a whole number, or all counts of the row empty if they are unknown",
					loader.Excerpt(cell)))
		}
		if n != 0 {
			list = append(list, namedCount{column.label, n})
		}
	}
	return list, nil
}
