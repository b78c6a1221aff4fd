package report

import (
	"html/template"
	"io"
)

var sheetTemplate = htmlTemplate("sheet")

// Sheet shows augmentations of some bags: a row for each bag, with a column for the original and for each epoch.
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
func (c SheetCell) Picture() template.URL { return jpegURL(c.JPEG) }

// WriteHTML writes the sheet as one HTML file that loads nothing from anywhere.
func (s *Sheet) WriteHTML(w io.Writer) error {
	return sheetTemplate.Execute(w, struct {
		Style template.CSS
		*Sheet
	}{template.CSS(pageStyle + htmlFile("bags.css") + htmlFile("sheet.css")), s})
}
