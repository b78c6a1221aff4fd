package report

import (
	"html/template"
	"io"

	"nmn/internal/visible"
)

var sheetTemplate = htmlTemplate("sheet", htmlFile("sheet.html"))

// Sheet shows augmentations of some bags: a row for each bag, with a column for the original and for each
// epoch.
type Sheet struct {
	Name    string   // of the data
	Applied string   // the augmentations, for people
	Notes   []string // sentences
	Columns []string // such as "epoch 1"
	Rows    []SheetRow
}

// SheetRow is a bag.
type SheetRow struct {
	ID    string
	Cells []SheetCell // one for each column
}

// SheetCell is a bag in an epoch.
type SheetCell struct {
	JPEG    []byte // nil for a picture that cannot be used; Lines has the reason
	Lines   []string
	Labels  []SheetLabel
	Further int // labels that are not shown
}

// SheetLabel is a label to learn. Share is empty if it counts fully.
type SheetLabel struct{ Word, Share string }

// Picture is the picture as an address; empty for none.
func (c SheetCell) Picture() template.URL {
	if len(c.JPEG) == 0 {
		return ""
	}
	return template.URL(jpegURL(c.JPEG))
}

// WriteHTML writes the sheet as one HTML file that loads nothing from anywhere.
func (s *Sheet) WriteHTML(w io.Writer) error {
	shown := *s
	shown.Rows = make([]SheetRow, len(s.Rows))
	for i, row := range s.Rows {
		shown.Rows[i] = row.visible()
	}
	return sheetTemplate.Execute(w, struct {
		Style template.CSS
		Sheet
	}{template.CSS(pageStyle + htmlFile("bags.css") + htmlFile("sheet.css")), shown})
}

// visible returns the row with printable names.
func (r SheetRow) visible() SheetRow {
	out := SheetRow{ID: visible.Line(r.ID), Cells: make([]SheetCell, len(r.Cells))}
	for i, c := range r.Cells {
		out.Cells[i] = SheetCell{JPEG: c.JPEG, Further: c.Further}
		for _, line := range c.Lines {
			out.Cells[i].Lines = append(out.Cells[i].Lines, visible.Line(line))
		}
		for _, l := range c.Labels {
			out.Cells[i].Labels = append(out.Cells[i].Labels, SheetLabel{visible.Line(l.Word), l.Share})
		}
	}
	return out
}
