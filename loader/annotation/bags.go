package annotation

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"nmn/loader"
)

// Form is how a file of captions is written.
type Form string

// The forms.
const (
	FormCOCO   Form = "coco"
	FormMSRVTT Form = "msrvtt"
	FormCSV    Form = "csv"
	FormLines  Form = "jsonl"
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

// ReadBags reads the captions of COCO and of MSR-VTT as Read does, of all splits. It also reads tables: CSV
// if the name of the file ends in .csv, JSON lines if it ends in .jsonl, either also followed by .gz; see
// ParseBags. Errors about the content wrap loader.ErrAnnotations.
func ReadBags(ctx context.Context, path string) (*Bags, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return ParseBags(path, tableForm(path), r)
}

// tableForm returns the form of a table by the name of its file. It is empty for the JSON of COCO and
// MSR-VTT, which differ by content.
func tableForm(path string) Form {
	if strings.EqualFold(filepath.Ext(path), ".gz") {
		path = path[:len(path)-len(".gz")]
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return FormCSV
	case ".jsonl", ".ndjson":
		return FormLines
	}
	return ""
}

// ParseBags is ReadBags for a stream of plain text; name stands in messages. form is FormCSV or FormLines; with any
// other it is JSON of COCO or MSR-VTT, whichever the content is.
//
// A table has a line for each caption: the columns bag and caption, and perhaps id, of the caption, and file, the
// picture of the bag, in any order and among others. The names that COCO and MSR-VTT use do too: image_id and video_id,
// annotation_id and sen_id, file_name. Lines of a bag need not be together; bags and captions keep the order of the
// file. A missing bag, an id twice, a picture that another line of the bag contradicts and text that is not UTF-8 are
// errors that name the line.
func ParseBags(name string, form Form, r io.Reader) (*Bags, error) {
	text := &utf8Reader{r: r, line: 1}
	switch form {
	case FormCSV, FormLines:
		t := newTableReader(name, form)
		read := t.readCSV
		if form == FormLines {
			read = t.readLines
		}
		if err := read(text); err != nil {
			return nil, fmt.Errorf("%w: %w", err, loader.ErrAnnotations)
		}
		return t.bags, nil
	}
	file, err := parseFile(name, text)
	if err != nil {
		return nil, err
	}
	if file.COCO != nil {
		return file.COCO.Bags(), nil
	}
	return file.MSRVTT.Bags(), nil
}

// Bags are all images with all their captions.
func (c *COCO) Bags() *Bags {
	b := &Bags{Name: c.Name, Form: FormCOCO}
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
	b := &Bags{Name: m.Name, Form: FormMSRVTT}
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
