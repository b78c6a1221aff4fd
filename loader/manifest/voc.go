package manifest

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	slashed "path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/loader"
)

// voc reads annotations of Pascal VOC: an XML file for each picture, in a folder Annotations next to JPEGImages, or
// next to the picture. The split comes from the lists in ImageSets/Main, or else from the folders of the path.
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
	r.note(unlisted, "annotation in no list", "annotations in no list")
	if len(lists.of) == 0 {
		r.note(only(r.pictures.pictures, func(p string) bool {
			return !used[p] && !strings.Contains(strings.ToLower(p), "segmentation")
		}), "picture without an annotation", "pictures without an annotation")
	}
	r.notes = append(r.notes, notes...)
	r.noteForeign()
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
				return nil, fmt.Errorf("line %d: it is <%s>, want <annotation> of Pascal VOC", line, loader.Excerpt(path[0]))
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

// imageSets are the lists in ImageSets/Main, by the folder above ImageSets.
type imageSets struct {
	of    map[string]map[string]*listed // by folder and name of a picture
	lists []*imageList                  // by their names
}

type imageList struct {
	file, split string
	all         []*listed
	seen        int // names that have an annotation
}

type listed struct {
	list *imageList
	name string
	line int
	seen bool // there is an annotation
}

// imageSets reads the lists: train.txt, or trainval.txt without it, val.txt and test.txt.
func (r *folderReader) imageSets(ctx context.Context) (*imageSets, error) {
	s := &imageSets{of: map[string]map[string]*listed{}}
	lists := map[string]string{}
	for _, file := range r.labels.withExtension(".txt") {
		if strings.HasSuffix(strings.ToLower(slashed.Dir("/"+file)), "/imagesets/main") {
			lists[strings.ToLower(file)] = file
		}
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		file := lists[key]
		split, ok := loader.SplitNamed(slashed.Base(stem(key)))
		if slashed.Base(key) == "trainval.txt" && lists[slashed.Join(slashed.Dir(key), "train.txt")] == "" {
			split, ok = loader.TrainSplit, true
		}
		if !ok {
			continue // trainval in addition to train, and a list for each label
		}
		list := &imageList{file: file, split: split}
		s.lists = append(s.lists, list)
		err := r.labels.read(file, func(text io.Reader) error { return s.add(list, text) })
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		r.source(file)
	}
	return s, nil
}

// add adds a list of names, one per line.
func (s *imageSets) add(list *imageList, text io.Reader) error {
	folder := slashed.Dir(slashed.Dir(slashed.Dir(list.file)))
	if s.of[folder] == nil {
		s.of[folder] = map[string]*listed{}
	}
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		name := norm.NFC.String(fields[0])
		if before, ok := s.of[folder][name]; ok {
			return fmt.Errorf("line %d: %q is in line %d of %s too; a picture belongs to one split", n,
				loader.Excerpt(name), before.line, before.list.file)
		}
		l := &listed{list: list, name: name, line: n}
		s.of[folder][name], list.all = l, append(list.all, l)
	}
	return lines.Err()
}

// split returns the split of an annotation, and whether to read it: it is skipped if there are lists, and
// none contains it.
func (s *imageSets) split(file string) (string, bool) {
	if len(s.of) == 0 {
		return splitOf(file), true
	}
	for dir := slashed.Dir(file); ; dir = slashed.Dir(dir) {
		if of, ok := s.of[dir]; ok {
			l, ok := of[norm.NFC.String(slashed.Base(stem(file)))]
			if !ok {
				return "", false
			}
			if !l.seen {
				l.seen = true
				l.list.seen++
			}
			return l.list.split, true
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

// complete refuses names in lists that have no annotation. A list without any annotation, such as the list of
// a test set whose labels are not public, is ignored, and notes say so.
func (s *imageSets) complete() (notes []string, err error) {
	for _, list := range s.lists {
		missing := len(list.all) - list.seen
		switch {
		case missing > 0 && list.seen == 0:
			notes = append(notes, fmt.Sprintf("%s: no annotation for its %d pictures", list.file, missing))
		case missing > 0:
			l := list.all[slices.IndexFunc(list.all, func(l *listed) bool { return !l.seen })]
			return nil, fmt.Errorf("%q, line %d: there is no annotation of %q (nor of %d others); add it, or take it out",
				list.file, l.line, loader.Excerpt(l.name), missing-1)
		}
	}
	return notes, nil
}
