package report

import (
	"fmt"
	"html/template"

	"nmn/report/chart"
)

// pageChart is a chart as a page shows it, with its numbers.
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
