package annotation

import (
	"context"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
)

// Form is how a file of captions is written.
type Form string

// The forms.
const (
	FormCOCO   Form = "coco"
	FormMSRVTT Form = "msrvtt"
	FormCSV    Form = "csv"
	FormLines  Form = "jsonl"
	FormArray  Form = "json" // one array of objects, each as a line of FormLines
)

// Bags are the captions of a file of any form, bag by bag. Bags may have any number of captions, also none.
type Bags struct {
	Name string // the file, for messages
	Form Form
	IDs  []string // identifiers of the bags, unique
	// Files are the pictures of the bags, relative to a folder and never leading out of it; empty if the file
	// names none.
	Files    []string
	Captions [][]BagCaption
	Warnings string // what is unusual, for a log; empty for nothing
}

// Texts goes through the first perBag captions of every bag (0: all), for text.BuildVocabulary.
func (b *Bags) Texts(perBag int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, captions := range b.Captions {
			for _, c := range first(captions, perBag) {
				if !yield(c.Text) {
					return
				}
			}
		}
	}
}

// BagCaption is a caption with its identifier, unique in the file: the annotation id of COCO, the sen_id of
// MSR-VTT, or the column of a table. If a table has no such column, it is the number of the line of data,
// from 1.
type BagCaption struct{ ID, Text string }

// Len is the number of captions of all bags.
func (b *Bags) Len() int {
	n := 0
	for _, captions := range b.Captions {
		n += len(captions)
	}
	return n
}

// NumberedCaptions and NumberedBags say that identifiers are whole numbers in the form of the file.
func (b *Bags) NumberedCaptions() bool { return b.Form == FormCOCO || b.Form == FormMSRVTT }

// NumberedBags is NumberedCaptions for the identifiers of bags.
func (b *Bags) NumberedBags() bool { return b.Form == FormCOCO }

// ReadBags reads all captions of a file, as Read does.
func ReadBags(ctx context.Context, path string) (*Bags, error) {
	file, err := Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return file.Bags(), nil
}

// tableForm returns the form of a table by the name of its file. It is empty for the JSON of COCO and
// MSR-VTT, which differ by content.
func tableForm(path string) Form {
	if strings.EqualFold(filepath.Ext(path), ".gz") {
		path = path[:len(path)-len(".gz")]
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".txt", ".token":
		return FormCSV
	case ".jsonl", ".ndjson":
		return FormLines
	}
	return ""
}

// ParseBags is ReadBags for a stream of plain text; name stands in messages. form is FormCSV or FormLines; with any
// other it is JSON of COCO or MSR-VTT, or an array of objects, whichever the content is.
//
// A table has a line for each caption: the columns sample and caption, and perhaps id, of the caption, and file, the
// picture of the bag, in any order and among others. The names that COCO and MSR-VTT use do too: image_id and video_id,
// annotation_id and sen_id, file_name. Without a bag, the picture is the bag, also by the names of Flickr8k and
// Flickr30k: image and caption, or image_name and comment. Cells of CSV have commas, bars, tabs or semicolons between
// them. Lines such as a.jpg#0, a tab and a caption need no header. In JSON, caption may be
// a list; an id then names no caption. Lines of a bag need not be together; bags and
// captions keep the order of the file. A missing bag, an id twice, a picture that another line of the bag contradicts
// and text that is not UTF-8 are errors that name the line.
func ParseBags(name string, form Form, r io.Reader) (*Bags, error) {
	file, err := parseFile(name, form, &utf8Reader{r: r, line: 1})
	if err != nil {
		return nil, err
	}
	return file.Bags(), nil
}

// IsTable reports whether the first two lines of a file begin a table of captions.
func IsTable(lines string) bool {
	rows, err := newRows(strings.NewReader(lines))
	if err != nil {
		return false
	}
	first, err := rows.next()
	return err == nil && first.values[captionField] != "0" && first.values[captionField] != "1" // a label has this name
}

// Bags are all images with all their captions.
func (c *COCO) Bags() *Bags {
	b := &Bags{Name: c.Name, Form: FormCOCO, Warnings: c.Warnings.String()}
	for i := range c.Images {
		image := &c.Images[i]
		b.IDs = append(b.IDs, strconv.FormatInt(image.ID, 10))
		b.Files = append(b.Files, image.FileName)
		b.Captions = append(b.Captions, bagCaptions(image.Captions))
	}
	return b
}

// Bags are the clips of all splits with all their sentences.
func (m *MSRVTT) Bags() *Bags {
	b := &Bags{Name: m.Name, Form: FormMSRVTT, Warnings: m.Warnings.String()}
	for i := range m.Clips {
		clip := &m.Clips[i]
		b.IDs, b.Files = append(b.IDs, clip.ID), append(b.Files, "")
		b.Captions = append(b.Captions, bagCaptions(clip.Sentences))
	}
	return b
}

func bagCaptions(captions []Caption) []BagCaption {
	out := make([]BagCaption, len(captions))
	for i, c := range captions {
		out[i] = BagCaption{ID: strconv.FormatInt(c.ID, 10), Text: c.Text}
	}
	return out
}
