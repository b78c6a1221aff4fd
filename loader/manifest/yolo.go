package manifest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	slashed "path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"

	"nmn/loader"
)

// Names of the files that list the classes of YOLO, one a line.
var classFiles = []string{"classes.txt", "obj.names", "classes.names"}

// isYOLO reports whether a folder looks like one with labels of YOLO: text files in a folder labels, or what names the
// classes.
func (r *folderReader) isYOLO() bool {
	if len(r.yoloNames()) > 0 {
		return true
	}
	return slices.ContainsFunc(r.labels.withExtension(".txt"), func(file string) bool {
		return strings.Contains("/"+strings.ToLower(slashed.Dir(file))+"/", "/labels/")
	})
}

// yoloNames are the files that name the classes, the surest first.
func (r *folderReader) yoloNames() []string {
	files := only(r.labels.withExtension(".yaml", ".yml"), func(file string) bool { return !strings.Contains(file, "/") })
	for _, name := range classFiles {
		files = append(files, only(r.labels.others, func(file string) bool {
			return strings.EqualFold(slashed.Base(file), name)
		})...)
	}
	return files
}

// yolo reads label files of YOLO: a text file for each picture, with a line for each object that begins with the number
// of its class. Pictures without one show nothing of the classes.
func (r *folderReader) yolo(ctx context.Context) error {
	classes, err := r.yoloClasses()
	if err != nil {
		return err
	}
	texts := map[string]string{} // by their paths in one normal form
	for _, file := range r.labels.withExtension(".txt") {
		if !slices.Contains(classFiles, strings.ToLower(slashed.Base(file))) {
			texts[norm.NFC.String(file)] = file
		}
	}
	found := 0
	for _, picture := range r.pictures.pictures {
		if err := ctx.Err(); err != nil {
			return err
		}
		names := []string{}
		for _, name := range []string{stem(swapped(picture, "images", "labels")) + ".txt", stem(picture) + ".txt",
			slashed.Join("labels", stem(picture)+".txt")} {
			name = norm.NFC.String(name)
			file := texts[name]
			if file == "" {
				continue
			}
			err := r.labels.read(file, func(text io.Reader) (err error) {
				names, err = parseYOLO(text, classes)
				return err
			})
			if err != nil {
				return err
			}
			found++
			delete(texts, name)
			r.source(file)
			break
		}
		if err := r.add(picture, splitOf(picture), names); err != nil {
			return err
		}
	}
	if found == 0 {
		return errors.New("none of its pictures has a label file; want labels/1.txt for images/1.jpg, or 1.txt next to it")
	}
	r.yoloNotes(texts, classes, found)
	return nil
}

func (r *folderReader) yoloNotes(texts map[string]string, classes []string, found int) {
	if n := len(r.pictures.pictures) - found; n > 0 {
		r.b.manifest.Columns.Used = append(r.b.manifest.Columns.Used, fmt.Sprintf("%d pictures without one", n))
	}
	if classes == nil {
		r.notes = append(r.notes, "names of the classes, which no data.yaml or classes.txt gives")
	}
	r.noteForeign()
	r.note(only(slices.Sorted(maps.Values(texts)), func(file string) bool {
		return strings.Contains("/"+strings.ToLower(file), "/labels/")
	}), "label file without a picture", "label files without a picture")
}

// yoloClasses returns the names of the classes, nil if no file has them.
func (r *folderReader) yoloClasses() ([]string, error) {
	for _, file := range r.yoloNames() {
		var names []string
		err := r.labels.read(file, func(text io.Reader) (err error) {
			if strings.EqualFold(slashed.Ext(file), ".yaml") || strings.EqualFold(slashed.Ext(file), ".yml") {
				names, err = parseYAMLNames(text)
			} else {
				names, err = parseNameLines(text)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if names != nil {
			r.source(file)
			return names, nil
		}
	}
	return r.o.Words, nil
}

// parseNameLines reads names, one a line.
func parseNameLines(text io.Reader) ([]string, error) {
	var names []string
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		name := loader.TrimID(lines.Text())
		if name == "" {
			continue
		}
		if err := CheckLabel(name); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		names = append(names, name)
	}
	return names, lines.Err()
}

// parseYAMLNames reads the names of a data.yaml: a list, or a map from numbers. Nil if it has none.
func parseYAMLNames(text io.Reader) ([]string, error) {
	var file struct {
		Names yaml.Node `yaml:"names"`
	}
	if err := yaml.NewDecoder(text).Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var names []string
	switch file.Names.Kind {
	case 0:
		return nil, nil
	case yaml.SequenceNode:
		if err := file.Names.Decode(&names); err != nil {
			return nil, err
		}
	default:
		byNumber := map[int]string{}
		if err := file.Names.Decode(&byNumber); err != nil {
			return nil, err
		}
		names = make([]string, len(byNumber))
		for k, name := range byNumber {
			if k < 0 || k >= len(names) {
				return nil, fmt.Errorf("line %d: names has the number %d among %d; want 0 to %d", file.Names.Line, k,
					len(names), len(names)-1)
			}
			names[k] = name
		}
	}
	for k, name := range names {
		if err := CheckLabel(name); err != nil {
			return nil, fmt.Errorf("line %d: name %d: %w", file.Names.Line, k, err)
		}
	}
	return names, nil
}

// parseYOLO reads a label file. Without names, classes are called by their numbers.
func parseYOLO(text io.Reader, classes []string) ([]string, error) {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine) // outlines are long
	seen, names := map[int]bool{}, []string{}
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		k, err := strconv.Atoi(fields[0])
		switch {
		case err != nil || k < 0:
			return nil, fmt.Errorf("line %d: it begins with %q, want the number of a class, then its box", n,
				loader.Excerpt(fields[0]))
		case classes != nil && k >= len(classes):
			return nil, fmt.Errorf("line %d: there is no class %d among %d, which count from 0; correct it, or add the "+
				"name to data.yaml or classes.txt", n, k, len(classes))
		case seen[k]:
			continue
		}
		seen[k] = true
		if classes == nil {
			names = append(names, strconv.Itoa(k))
		} else {
			names = append(names, classes[k])
		}
	}
	return names, lines.Err()
}
