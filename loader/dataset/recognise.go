package dataset

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/manifest"
	"nmn/loader/picture"
)

// Recognised is what DATA on a command line was taken for.
type Recognised struct {
	Kind Kind
	Text string // description as text
}

// Recognise finds out what kind of data a path holds, by its content; or it is the name of an embedded set. form is how
// the user says that labels are written, or empty.
func Recognise(ctx context.Context, path string, form manifest.Form) (Recognised, error) {
	info, err := os.Stat(path)
	embedded := Kind(path) == Scenes || Kind(path) == MovingScenes
	switch {
	case embedded && err == nil:
		return Recognised{}, setting.Errorf("", "%s is the name of an embedded data set, and of a path that is here: write "+
			"./%s for the path, or set data.set=%s for the set", path, path, path)
	case embedded:
		return Recognised{Kind: Kind(path), Text: "the embedded set " + path}, nil
	case err != nil:
		return Recognised{}, fmt.Errorf("%w: want a folder of pictures or clips, a table, a caption file, a feature "+
			"file, or %s or %s", whereItStarted(err, path), Scenes, MovingScenes)
	case info.IsDir():
		return recogniseFolder(ctx, path, form)
	}
	return recogniseFile(ctx, path)
}

// captionTexts describes the captions of a folder.
const captionTexts = "captions in a text file next to each picture"

func recogniseFolder(ctx context.Context, path string, form manifest.Form) (Recognised, error) {
	found := form == "" || form == manifest.FormAuto
	switch {
	case form == manifest.FormCaptions:
		return Recognised{Captions, captionTexts}, nil
	case durable.Exists(filepath.Join(path, loader.LabelsName)):
		return Recognised{Clips, "clips with labels in " + loader.LabelsName}, nil
	case HasFrames(path):
		return Recognised{Manifest, "frames of clips, whose folders are their labels"}, nil
	case !annotation.HasTexts(ctx, path), !found && !form.OfText():
	case !found, annotation.ListLabels(ctx, path):
		return Recognised{Manifest, "labels in a text file next to each picture"}, nil
	default:
		return Recognised{Captions, captionTexts}, nil
	}
	return Recognised{Manifest, "a folder of pictures with labels"}, nil
}

// TextEnding is the ending of a file's name in lower case, without that of its compression (.gz).
func TextEnding(path string) string {
	return strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
}

func recogniseFile(ctx context.Context, path string) (Recognised, error) {
	var recognise func(io.Reader) (Recognised, error)
	ending := TextEnding(path)
	switch ending {
	case ".npy", ".npz", ".safetensors", ".parquet", ".arff":
		return Recognised{Features, "features"}, nil
	case ".tar", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar":
		return Recognised{}, packed(path)
	case ".zip":
		if holdsPictures(path) {
			return Recognised{}, packed(path)
		}
		return Recognised{MSRVTT, "annotations of MSR-VTT"}, nil
	case ".yaml", ".yml":
		return Recognised{Manifest, "a list of pictures with labels"}, nil
	case ".csv", ".tsv", ".txt", ".token":
		recognise = recogniseTable
	case ".json":
		recognise = recogniseJSON
	case ".jsonl":
		recognise = recogniseLines
	default:
		return Recognised{}, setting.Errorf("", "%s: the extension names no known kind of data: want .csv, "+
			".tsv, .txt, .jsonl, .json, .yaml, .npy, .npz, .safetensors, .parquet, .arff or .zip", path)
	}
	f, err := loader.OpenText(ctx, path)
	if err != nil {
		return Recognised{}, err
	}
	defer f.Close()
	found, err := recognise(f)
	if err == nil && found.Kind == Features && ending != ".csv" && ending != ".tsv" {
		err = setting.Errorf("", "no table of pictures with labels and none of captions: want a header "+
			"such as path,labels or image,caption, or lines such as a.jpg 3; features come as .csv")
	}
	if err != nil {
		return Recognised{}, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// packed is the error of an archive.
func packed(path string) error {
	return setting.Errorf("", "%s is an archive: unpack it, and name the folder", path)
}

// holdsPictures reports whether a zip archive has pictures or videos.
func holdsPictures(path string) bool {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return false // what is wrong appears when it is read
	}
	defer archive.Close()
	return slices.ContainsFunc(archive.File, func(f *zip.File) bool { return namesFile(f.Name) })
}

// recogniseTable takes a table for captions by its header. It takes it for a list of pictures if its header or its
// first row names some, else for features.
func recogniseTable(f io.Reader) (Recognised, error) {
	lines := bufio.NewReader(io.LimitReader(f, longestLine))
	header, err := lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return Recognised{}, err
	}
	first, _ := lines.ReadString('\n') // a table may have no row
	cells := strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune(",;|\t\r\n", r) })
	switch {
	case strings.HasPrefix(strings.TrimSpace(header), "{"):
		return Recognised{Manifest, "a list of pictures, a line of JSON for each"}, nil
	case manifest.Numbered(header):
		return Recognised{Manifest, "a list of pictures with numbers of classes"}, nil
	case !slices.ContainsFunc(cells, manifest.NamesLabels) && annotation.IsTable(header+first):
		return Recognised{Captions, "a table of captions"}, nil
	}
	for _, comma := range []rune{',', ';', '\t'} {
		if column := ofPictures(fields(header, comma), fields(first, comma)); column != "" {
			return Recognised{Manifest, fmt.Sprintf("a list of pictures (column %s)", column)}, nil
		}
	}
	return Recognised{Features, "features, for no column names pictures"}, nil
}

// recogniseLines takes JSON lines for captions if the first object has some and no labels.
func recogniseLines(f io.Reader) (Recognised, error) {
	var first json.RawMessage
	_ = json.NewDecoder(io.LimitReader(f, longestLine)).Decode(&first) // what is wrong appears when it is read
	if isCaption(first) {
		return Recognised{Captions, "captions, a line of JSON for each"}, nil
	}
	return Recognised{Manifest, "a list of pictures with labels"}, nil
}

// isCaption reports whether an object of JSON has captions of a picture and no labels.
func isCaption(object json.RawMessage) bool {
	var keys map[string]json.RawMessage
	return json.Unmarshal(object, &keys) == nil && annotation.HoldsCaption(object) &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(keys)), manifest.NamesLabels)
}

// longestLine bounds the first lines of a text.
const longestLine = 1 << 20

// ofPictures is the column of a header that names pictures, by its own name or by the first row; empty for none.
func ofPictures(columns, cells []string) string {
	for i, column := range columns {
		if manifest.NamesPictures(column) ||
			len(cells) == len(columns) && namesFile(cells[i]) && noNumbers(cells) {
			return column
		}
	}
	id, labels := slices.IndexFunc(columns, manifest.NamesImageIDs), slices.IndexFunc(columns, manifest.NamesLabels)
	if id < 0 || labels < 0 || len(cells) != len(columns) {
		return ""
	}
	cells[id], cells[labels] = "", ""
	if !noNumbers(cells) { // they are features
		return ""
	}
	return columns[id]
}

// namesFile reports whether a cell is the name of a picture or a video.
func namesFile(cell string) bool {
	name := strings.TrimSpace(cell)
	return picture.IsName(name) || picture.IsVideoName(name)
}

// noNumbers reports whether a row has no numbers but 0 and 1, as labels of pictures have them. Rows of features may
// have the names of pictures as identifiers.
func noNumbers(cells []string) bool {
	for _, cell := range cells {
		if x, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err == nil && x != 0 && x != 1 {
			return false
		}
	}
	return true
}

// fields returns the cells of a line; none if it does not belong to a table.
func fields(line string, comma rune) []string {
	c := csv.NewReader(strings.NewReader(line))
	c.Comma, c.LazyQuotes = comma, true
	cells, _ := c.Read() // an error leaves none
	return cells
}

// recogniseJSON looks at the names of a file of JSON as far as it has to.
func recogniseJSON(f io.Reader) (Recognised, error) {
	d := json.NewDecoder(f)
	start, err := d.Token()
	if err != nil {
		return Recognised{}, err
	}
	if start != json.Delim('{') {
		return recogniseList(start, d)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return Recognised{}, err
		}
		if key, _ := name.(string); namesFile(key) {
			return Recognised{Manifest, "labels by the names of pictures"}, nil
		}
		switch name {
		case "sentences", "videos":
			return Recognised{MSRVTT, "annotations of MSR-VTT"}, nil
		case "categories":
			return Recognised{Manifest, "COCO instances"}, nil
		case "annotations":
			return recogniseAnnotations(d)
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return Recognised{}, err
		}
	}
	return Recognised{}, setting.Errorf("", "neither captions nor instances of COCO, nor annotations of MSR-VTT: it "+
		"has no annotations and no sentences; rows of pictures come as .jsonl, one object a line, such as "+
		`{"path": "a.jpg", "labels": ["dog"]}`)
}

// recogniseList distinguishes captions from rows of pictures by the first object.
func recogniseList(start json.Token, d *json.Decoder) (Recognised, error) {
	var object json.RawMessage
	var row map[string]json.RawMessage
	read := start == json.Delim('[') && d.More() && d.Decode(&object) == nil && json.Unmarshal(object, &row) == nil
	switch {
	case read && isCaption(object):
		return Recognised{Captions, "captions, an object for each"}, nil
	case read && slices.ContainsFunc(slices.Collect(maps.Keys(row)), manifest.NamesPictures):
		return Recognised{Manifest, "a list of pictures, an object for each"}, nil
	}
	return Recognised{}, setting.Errorf("", "a list: want an object with annotations, as of COCO or MSR-VTT, or "+
		`rows of pictures, such as [{"path": "a.jpg", "labels": ["dog"]}] or [{"image": "a.jpg", "caption": "a dog"}]`)
}

// recogniseAnnotations distinguishes captions from instances by the first annotation.
func recogniseAnnotations(d *json.Decoder) (Recognised, error) {
	var first map[string]json.RawMessage
	if t, err := d.Token(); err != nil || t != json.Delim('[') || d.More() && d.Decode(&first) != nil {
		return Recognised{}, setting.Errorf("", "annotations are not a list of objects")
	}
	if _, captions := first["caption"]; captions {
		return Recognised{Captions, "COCO captions"}, nil
	}
	return Recognised{Manifest, "COCO instances"}, nil
}
