package annotation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
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
	FormArray  Form = "json" // one array of objects, each as a line of FormLines
)

// Bags are the captions of a file of any form, bag by bag. Bags may have any number of captions, also none.
type Bags struct {
	Name string // the file, for messages
	Form Form
	IDs  []string // identifiers of the bags, unique
	// Files are the pictures of the bags, relative to a folder and within it, or absolute in tables; empty if the file
	// names none.
	Files    []string
	Splits   []string // of the clips of MSR-VTT; nil for other forms
	Captions [][]BagCaption
	Warnings string // what is unusual, for a log; empty for nothing
}

// BagCaption is a caption with its identifier, unique in the file: the annotation id of COCO, the sen_id of MSR-VTT, or
// the column of a table. If a table has no such column, it is the number of the line of data, from 1.
type BagCaption struct{ ID, Text string }

// Split returns the bags of a split of MSR-VTT.
func (b *Bags) Split(split string) *Bags {
	of := &Bags{Name: b.Name, Form: b.Form, Warnings: b.Warnings}
	for i, s := range b.Splits {
		if s == split {
			of.IDs, of.Files, of.Splits = append(of.IDs, b.IDs[i]), append(of.Files, b.Files[i]), append(of.Splits, s)
			of.Captions = append(of.Captions, b.Captions[i])
		}
	}
	return of
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

// first returns the first n captions, all of them when n is 0 or too large.
func first(captions []BagCaption, n int) []BagCaption {
	if n <= 0 || n > len(captions) {
		return captions
	}
	return captions[:n]
}

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

// ReadBags reads all captions of a file, whose name and content decide the form: tables are CSV if the name ends in
// .csv, .tsv, .txt or .token, and JSON lines if it ends in .jsonl or .ndjson, all also followed by .gz. Other files are
// JSON of COCO or MSR-VTT, or an array of objects. A folder has pictures, each with its captions in the lines of a text
// file of the same name. Errors about the content wrap loader.ErrAnnotations.
func ReadBags(ctx context.Context, path string) (*Bags, error) {
	form := tableForm(path)
	if loader.IsFolder(path) {
		form = FormLines
	}
	return ReadForm(ctx, path, form)
}

// ReadForm reads a file in one form; see ParseBags. It may be compressed (.gz), or in the zip archive of MSR-VTT.
func ReadForm(ctx context.Context, path string, form Form) (*Bags, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return ParseBags(path, form, r)
}

// tableForm returns the form of a table by the name of its file. It is empty for JSON, whose forms differ by content.
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

// ParseBags reads captions from a stream of plain text; name stands in messages. An empty form is JSON of COCO or
// MSR-VTT, or an array of objects, whichever the content is.
//
// Memory grows with the bags and captions, not with the text around them. In JSON of COCO and MSR-VTT, missing and
// repeated ids, wrong types, captions of unknown bags, unknown splits, file names that lead out of the folder and a
// file without bags are errors. They name file, array, index and the byte (after decompression) before the element.
//
// A table has a line for each caption: the columns sample and caption, and perhaps id, of the caption, and file, the
// picture of the bag, in any order and among others. The names that COCO and MSR-VTT use do too: image_id and video_id,
// annotation_id and sen_id, file_name. Without a bag, the picture is the bag, also by the names of Flickr8k and
// Flickr30k: image and caption, or image_name and comment. Cells of CSV have commas, bars, tabs or semicolons between
// them. Lines such as a.jpg#0, a tab and a caption need no header. In JSON, caption may be a list; an id then names no
// caption. Lines of a bag need not be together; bags and captions keep the order of the file. A missing bag, an id
// twice, a picture that another line of the bag contradicts and text that is not UTF-8 are errors that name the line.
func ParseBags(name string, form Form, r io.Reader) (*Bags, error) {
	text := bufio.NewReader(newUTF8Reader(r))
	if form == "" && beginsArray(text) {
		form = FormArray
	}
	t := &tableReader{bags: &Bags{Name: name, Form: form}, position: map[string]int{}, ids: map[string]int{}}
	if read := map[Form]func(io.Reader) error{FormCSV: t.readCSV, FormLines: t.readLines,
		FormArray: t.readArray}[form]; read != nil {
		if err := read(text); err != nil {
			return nil, loader.Unusable(err)
		}
		return t.bags, nil
	}
	coco, msrvtt := newJSONCaptions[int64](&cocoNames), newJSONCaptions[string](&msrvttNames)
	formats := []fileFormat{cocoFormat(coco), msrvttFormat(msrvtt)}
	wanted := formats
	switch form {
	case FormCOCO:
		wanted = formats[:1]
	case FormMSRVTT:
		wanted = formats[1:]
	}
	found, err := readFile(captionFile, name, text, wanted...)
	if err != nil {
		return nil, err
	}
	var b *Bags
	if found == &formats[0] {
		b, err = coco.join(name, FormCOCO)
	} else {
		b, err = msrvtt.join(name, FormMSRVTT)
	}
	if err != nil {
		return nil, loader.Unusable(err)
	}
	return b, nil
}

// beginsArray reports whether the first character of a text, after blanks, begins an array of JSON.
func beginsArray(text *bufio.Reader) bool {
	start, _ := text.Peek(1 << 10) // an error comes back when it is read
	return bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("["))
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

// IsMSRVTT reports whether a file of captions has the form of MSR-VTT: an object with the key "videos" or "sentences".
// It returns false for files that are not JSON.
func IsMSRVTT(ctx context.Context, path string) (bool, error) {
	r, err := openFile(ctx, path)
	if err != nil {
		return false, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return HoldsMSRVTT(r), nil
}

// HoldsMSRVTT is IsMSRVTT for a stream of plain JSON. It reads no more than it needs.
func HoldsMSRVTT(r io.Reader) bool {
	d := json.NewDecoder(r)
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		switch key {
		case msrvttNames.bags, msrvttNames.captions:
			return true
		case cocoNames.bags, cocoNames.captions:
			return false
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}
