package manifest

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	slashed "path"
	"slices"
	"strings"

	"nmn/loader"
)

// voc reads annotations of Pascal VOC: an XML file for each picture, in a folder Annotations next to
// JPEGImages, or next to the picture. The split comes from the lists in ImageSets/Main, or else from the
// folders of the path.
func (r *folderReader) voc(ctx context.Context) error {
	files := r.labels.withExtension(".xml")
	if len(files) == 0 {
		return errors.New("there are no annotations (.xml) in it")
	}
	lists, err := r.imageSets(ctx)
	if err != nil {
		return err
	}
	beside := stems(r.pictures)
	used, unlisted := map[string]bool{}, []string{}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		split, listed := lists.split(file)
		if !listed {
			unlisted = append(unlisted, file)
			continue
		}
		var a *vocAnnotation
		err := r.labels.read(file, func(text io.Reader) (err error) {
			a, err = parseVOC(text)
			return err
		})
		if err != nil {
			return err
		}
		r.source(file)
		picture, err := r.vocPicture(file, a, beside)
		if err != nil {
			return fmt.Errorf("%q: %w", file, err)
		}
		used[picture] = true
		if err := r.add(picture, split, a.labels(r.o.LessDifficult)); err != nil {
			return fmt.Errorf("%q: %w", file, err)
		}
	}
	return r.vocNotes(lists, unlisted, used)
}

func (r *folderReader) vocNotes(lists *imageSets, unlisted []string, used map[string]bool) error {
	notes, err := lists.complete()
	if err != nil {
		return err
	}
	var bare []string
	for _, p := range r.pictures.pictures {
		if !used[p] && !strings.Contains(strings.ToLower(p), "segmentation") {
			bare = append(bare, p)
		}
	}
	if len(unlisted) > 0 {
		r.notes = append(r.notes, skipped(unlisted, "annotation in no list", "annotations in no list"))
	}
	if len(bare) > 0 && len(lists.of) == 0 {
		r.notes = append(r.notes, skipped(bare, "picture without an annotation", "pictures without an annotation"))
	}
	r.notes = slices.Concat(r.notes, notes, r.pictures.foreign())
	return nil
}

// stems maps the keys of paths without their endings to the pictures.
func stems(l *listing) map[string]string {
	of := make(map[string]string, len(l.pictures))
	for _, p := range l.pictures {
		if key := loader.AlikeFileKey(stem(p)); of[key] == "" {
			of[key] = p
		}
	}
	return of
}

// vocPicture finds the picture of an annotation: by the name that it gives, else by its own. If there is
// none, it returns the expected path.
func (r *folderReader) vocPicture(file string, a *vocAnnotation, beside map[string]string) (string, error) {
	dir := slashed.Dir(file)
	name := a.filename
	if name == "" {
		name = slashed.Base(stem(file)) + ".jpg"
	}
	if err := insidePath(name); err != nil {
		return "", fmt.Errorf("line %d: <filename>: %w", a.line, err)
	}
	dirs := []string{swapped(dir, "annotations", "JPEGImages"), swapped(dir, "annotations", "images"), dir, "."}
	for _, of := range []string{stem(name), slashed.Base(stem(file))} {
		for _, d := range dirs {
			if at := slashed.Join(d, name); of == stem(name) && r.pictures.picture(at) {
				return at, nil
			}
			if found := beside[loader.AlikeFileKey(slashed.Join(d, of))]; found != "" {
				return found, nil
			}
		}
	}
	return slashed.Join(dirs[0], name), nil
}

// vocAnnotation is an annotation's description of its picture.
type vocAnnotation struct {
	filename string
	line     int // line of filename
	objects  []vocObject
}

type vocObject struct {
	name      string
	difficult bool
}

// labels are the names of the objects; with less, those that are difficult are left out.
func (a *vocAnnotation) labels(less bool) []string {
	names := []string{}
	for _, o := range a.objects {
		if !less || !o.difficult {
			names = append(names, o.name)
		}
	}
	return names
}

// maxVOCDepth bounds the nesting of elements: VOC nests 5 deep.
const maxVOCDepth = 64

// parseVOC reads an annotation as a stream. It expands only the entities of XML itself.
func parseVOC(text io.Reader) (*vocAnnotation, error) {
	d := xml.NewDecoder(text)
	a, whole := &vocAnnotation{}, false
	var path []string
	var content strings.Builder
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		if errors.Is(err, io.EOF) && whole {
			return a, nil
		}
		if err != nil {
			return nil, vocFault(line, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if path = append(path, e.Name.Local); len(path) > maxVOCDepth {
				return nil, fmt.Errorf("line %d: elements are nested more than %d deep", line, maxVOCDepth)
			}
			if path[0] != "annotation" {
				return nil, fmt.Errorf("line %d: it is <%s>, want <annotation> of Pascal VOC", line,
					loader.Excerpt(path[0]))
			}
			if len(path) == 2 && path[1] == "object" {
				a.objects = append(a.objects, vocObject{})
			}
			content.Reset()
		case xml.CharData:
			if len(path) > 0 {
				content.Write(e)
			}
		case xml.EndElement:
			if err := a.take(path, strings.TrimSpace(content.String()), line); err != nil {
				return nil, err
			}
			path, whole = path[:len(path)-1], len(path) == 1
			content.Reset()
		}
	}
}

// take takes the text of an element that ends.
func (a *vocAnnotation) take(path []string, content string, line int) error {
	switch at := strings.Join(path, "/"); at {
	case "annotation/filename":
		a.filename, a.line = content, line
	case "annotation/object/name":
		if err := CheckLabel(content); err != nil {
			return fmt.Errorf("line %d: <name>: %w", line, err)
		}
		a.objects[len(a.objects)-1].name = content
	case "annotation/object/difficult":
		a.objects[len(a.objects)-1].difficult = content != "" && content != "0"
	case "annotation/object":
		if a.objects[len(a.objects)-1].name == "" {
			return fmt.Errorf("line %d: an <object> has no <name>", line)
		}
	}
	return nil
}

func vocFault(line int, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("line %d: the file is empty or ends early; copy or write it again", line)
	case strings.Contains(err.Error(), "invalid character entity"):
		return fmt.Errorf("line %d: %w: entities of its own are not read; write the text itself", line, err)
	}
	return fmt.Errorf("line %d: %w", line, err)
}
