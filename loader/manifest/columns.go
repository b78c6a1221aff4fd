package manifest

import (
	"fmt"
	"nmn/loader"
	"strconv"
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

// holding are the labels of columns that hold 1; cure is what else to do about another cell than 0 and 1.
func (c *csvRows) holding(columns []labelColumn, cure string) ([]string, error) {
	names := []string{}
	for _, column := range columns {
		switch cell := c.sheet.Text(column.at); cell {
		case "1", "1.0", "True", "true":
			names = append(names, column.label)
		case "0", "0.0", "False", "false":
		default:
			return nil, columnError(column.name, fmt.Errorf("%q is neither 0 nor 1; repair it, or %s",
				loader.Excerpt(cell), cure))
		}
	}
	return names, nil
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
