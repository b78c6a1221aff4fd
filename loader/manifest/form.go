package manifest

import (
	"fmt"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/text"
)

// Form is how a source states which labels its pictures have.
type Form string

// The forms. The last five are forms of folders, or of a file that describes all pictures at once. Sources of the
// others are text files with rows. Forms of a cell may also be the form of a text file next to each picture of a
// folder.
const (
	FormAuto     Form = "auto"     // found by looking at the source; no manifest that was read has it
	FormList     Form = "list"     // names in one cell, separated by ; or |
	FormCommas   Form = "commas"   // names in one cell, separated by commas
	FormBlanks   Form = "blanks"   // names in one cell, separated by blanks
	FormJSON     Form = "json"     // an array of names: in one cell as text, or as JSON lines have it
	FormSingle   Form = "single"   // one name in one cell, whatever characters it has
	FormPairs    Form = "pairs"    // one name or number in one cell, and as many rows for a picture as it has labels
	FormIntegers Form = "integers" // the number of a class in one cell, from 0
	FormColumns  Form = "columns"  // a column of 0 and 1 for each label
	FormFolders  Form = "folders"  // a folder of pictures for each label (ImageFolder)
	FormCOCO     Form = "coco"     // the instances of COCO: categories of objects
	FormVOC      Form = "voc"      // the annotations of Pascal VOC: an XML file for each picture
	FormYOLO     Form = "yolo"     // the label files of YOLO: a text file for each picture
	FormCaptions Form = "captions" // no labels: text files next to the pictures hold captions
)

// Values lists all forms, that which is found first.
func (Form) Values() []string {
	return setting.Texts([]Form{FormAuto, FormFolders, FormCOCO, FormVOC, FormYOLO, FormList, FormCommas, FormBlanks,
		FormJSON, FormSingle, FormPairs, FormColumns, FormIntegers, FormCaptions})
}

// OfText reports whether a text file next to a picture may give labels in the form.
func (f Form) OfText() bool {
	return slices.Contains([]Form{FormList, FormCommas, FormBlanks, FormJSON, FormSingle}, f)
}

// forms has of each form the separator of names in a cell, how labels are given, before the column or key that has them
// if it ends in a blank, and what its folders hold.
var forms = map[Form]struct{ separator, given, folder string }{
	FormFolders:  {"", "a folder of pictures for each", "folders of pictures"},
	FormCOCO:     {"", "the categories of COCO's instances", "instances of COCO"},
	FormVOC:      {"", "the objects in annotations of Pascal VOC", "annotations of Pascal VOC"},
	FormYOLO:     {"", "the objects in label files of YOLO", "label files of YOLO"},
	FormColumns:  {"", "a column of 0 and 1 for each", ""},
	FormSingle:   {"", "one name for each row ", ""},
	FormPairs:    {"", "a row for each picture and label, ", ""},
	FormIntegers: {"", "the number of one for each row ", ""},
	FormList:     {";", "separated by ; ", ""},
	FormCommas:   {",", "separated by commas ", ""},
	FormBlanks:   {" ", "separated by blanks ", ""},
	FormJSON:     {"", "in arrays ", ""},
}

// Describe returns the number of labels and the form in which they were found, as text.
func (m *Manifest) Describe() string {
	line := fmt.Sprintf("labels: %s, %s", text.Count(len(m.Labels), "classes"), m.stated())
	for _, note := range []struct {
		rows      int
		one, many string
	}{{m.Repeated, "1 row repeats another row, and counts once",
		"%d rows repeat other rows, and count once"},
		{m.Denied, "1 row of confidence 0 gives no label", "%d rows of confidence 0 give no label"}} {
		switch {
		case note.rows == 1:
			line += "; " + note.one
		case note.rows > 1:
			line += "; " + fmt.Sprintf(note.many, note.rows)
		}
	}
	return line
}

// inTexts is where text files give labels.
const inTexts = "in a text file next to each picture"

// stated returns how labels are given, as text.
func (m *Manifest) stated() string {
	in := "in the column " + visible.Line(m.LabelsColumn)
	switch {
	case m.Form.OfText() && m.LabelsColumn == "":
		in = inTexts
	case m.JSONLines || m.WholeJSON:
		in = "in the key " + visible.Line(m.LabelsColumn)
	}
	switch {
	case m.Headless && m.Form == FormColumns:
		return "a 0 or 1 for each after the name of the picture"
	case m.Headless && m.Form == FormPairs:
		return "a line for each picture and number"
	case m.Headless:
		return "numbers after the name of the picture"
	}
	given := forms[m.Form].given
	if m.Separator == "|" {
		given = "separated by | "
	}
	if strings.HasSuffix(given, " ") {
		given += in
	}
	return given
}
