package manifest

import "nmn/internal/setting"

// Form is how a source states which labels its pictures have.
type Form string

// The forms. The last four are forms of folders, or of a file that describes all pictures at once; sources of the
// others are text files with rows.
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
)

// Forms lists all forms, that which is found first.
func Forms() []Form {
	return []Form{FormAuto, FormFolders, FormCOCO, FormVOC, FormYOLO, FormList, FormCommas, FormBlanks, FormJSON,
		FormSingle, FormPairs, FormColumns, FormIntegers}
}

// Values lists all forms.
func (Form) Values() []string { return setting.Texts(Forms()) }

// separator returns the separator of names in a cell, empty for forms without one.
func (f Form) separator() string {
	switch f {
	case FormList:
		return ";"
	case FormCommas:
		return ","
	case FormBlanks:
		return " "
	}
	return ""
}
