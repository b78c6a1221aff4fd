package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	slashed "path"
	"path/filepath"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/picture"
)

// Tree describes, for messages, a folder of pictures whose labels are its folders.
const Tree = "a folder for each label with its pictures in it, such as cat/1.jpg and dog/2.jpg, maybe below train, " +
	"val and test"

// IsTree reports whether a folder has pictures in folders of it. It looks no further than to the first.
func IsTree(folder string) bool {
	found := false
	err := loader.WalkFolder(context.Background(), folder, func(file string, entry fs.DirEntry) error {
		if found = strings.Contains(file, "/") && !entry.IsDir() && picture.IsName(file); found {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && found
}

type folderReader struct {
	labels, pictures *listing // the same one where both are in one folder
	o                *Options
	b                *builder
	notes            []string // notes on ignored files
}

func readFolder(ctx context.Context, folder string, o Options) (*Manifest, error) {
	for _, name := range []string{"labels", "annotations"} { // a folder with such a name: pictures are next to it
		if o.Images == "" && strings.EqualFold(filepath.Base(filepath.Clean(folder)), name) {
			if l, err := list(ctx, folder); err == nil && len(l.pictures) == 0 {
				folder = filepath.Dir(filepath.Clean(folder))
			}
		}
	}
	r := &folderReader{o: &o}
	var err error
	if r.labels, err = list(ctx, folder); err != nil {
		return nil, fmt.Errorf("folder %q: %w", folder, err)
	}
	r.pictures = r.labels
	if o.Images != "" && filepath.Clean(o.Images) != filepath.Clean(folder) {
		if r.pictures, err = list(ctx, o.Images); err != nil {
			return nil, fmt.Errorf("folder %q: the folder of its pictures: %w", folder, err)
		}
	}
	r.b = newBuilder(folder, r.pictures.folder)
	if err := r.read(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, loader.Unusable(fmt.Errorf("folder %q: %w", folder, err))
	}
	return r.b.manifest, nil
}

func (r *folderReader) read(ctx context.Context) error {
	form, err := r.form(ctx)
	if err != nil {
		return err
	}
	m := r.b.manifest
	m.Form = form
	switch {
	case form.OfText():
		err = r.texts(ctx)
	case form == FormVOC:
		err = r.voc(ctx)
	case form == FormYOLO:
		err = r.yolo(ctx)
	case form == FormCOCO:
		err = r.coco(ctx)
	case form == FormFolders:
		err = r.tree()
	default:
		err = fmt.Errorf("it is a folder, whose labels cannot be stated as `data.label_form` %s; name a file of "+
			"labels, or leave it out", form)
	}
	switch {
	case err != nil:
		return err
	case len(m.Rows) == 0:
		return errors.New("there are no pictures with labels in it")
	}
	m.Columns.Format, m.Columns.Ignored = cmp.Or(forms[form].folder, "text files"), r.notes
	// The pictures belong to the folder itself and are not named by a file.
	m.found = (form == FormFolders || form == FormYOLO || form.OfText()) && !r.pictures.odd &&
		!slices.ContainsFunc(m.Rows, func(row Row) bool { return row.fault != nil })
	return nil
}

// form finds the form of a folder by the files in it. If the folder is named as the folder of pictures, text files do
// not count.
func (r *folderReader) form(ctx context.Context) (Form, error) {
	switch {
	case r.o.Form != "" && r.o.Form != FormAuto:
		return r.o.Form, nil
	case r.o.Images == "" && annotation.HasTexts(ctx, r.labels.folder) && annotation.ListLabels(ctx, r.labels.folder):
		return FormCommas, nil
	}
	var found []Form
	if len(r.labels.withExtension(".xml")) > 0 {
		found = append(found, FormVOC)
	}
	if r.isYOLO() {
		found = append(found, FormYOLO)
	}
	if len(r.instances()) > 0 {
		found = append(found, FormCOCO)
	}
	switch {
	case len(found) > 1:
		return "", fmt.Errorf("it has labels in the forms of %s and %s; set which (`data.label_form` %s or %s)",
			forms[found[0]].folder, forms[found[1]].folder, found[0], found[1])
	case len(found) == 1:
		return found[0], nil
	case slices.ContainsFunc(r.pictures.pictures, func(p string) bool { return strings.Contains(p, "/") }):
		return FormFolders, nil
	case len(r.pictures.pictures) > 0:
		return "", unlabelled(len(r.pictures.pictures), r.pictures.withExtension(tables...))
	}
	return "", unlabelled(0, nil)
}

// tables are the endings of files that may state labels of pictures.
var tables = []string{".csv", ".tsv", ".jsonl", ".json"}

// unlabelled returns what is missing in a folder of pictures without labels. lists are tables in it.
func unlabelled(pictures int, lists []string) error {
	switch {
	case pictures == 0:
		return fmt.Errorf("there are no pictures in it; want %s", Tree)
	case len(lists) > 0:
		return fmt.Errorf("there are %d pictures in it and no labels; if %s states them, name that file", pictures,
			loader.Excerpt(lists[0]))
	}
	return fmt.Errorf("there are %d pictures in it and no labels; make %s; or give a file of labels or captions as the "+
		"data, with this folder as `data.images`", pictures, Tree)
}

// CheckLabelled returns what is missing in a folder with pictures or videos, but without folders of pictures; nil for
// other folders.
func CheckLabelled(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil || IsTree(folder) {
		return nil // whatever is wrong is something else
	}
	l := listing{folder: folder}
	n, videos := 0, 0
	for _, entry := range entries {
		switch {
		case picture.IsName(entry.Name()):
			n++
		case picture.IsVideoName(entry.Name()):
			videos++
		default:
			l.others = append(l.others, entry.Name())
		}
	}
	switch {
	case n > 0:
		return unlabelled(n, l.withExtension(tables...))
	case videos > 0:
		return fmt.Errorf("there are %d videos in it and no labels; take their frames by nmn frames, and give a table "+
			"with a row for each clip as the data, with the folder of the frames as `data.images`", videos)
	}
	return nil
}

// add keeps a picture with its labels. known are labels that it has; a file that was found needs no further look.
func (r *folderReader) add(file, split string, labels []string) error {
	if err := r.b.add(&record{path: file, hasPath: true, split: split, labels: labels}); err != nil {
		return fmt.Errorf("%q: %w", loader.Excerpt(file), err)
	}
	return nil
}

// source notes that a file of the folder was read.
func (r *folderReader) source(file string) {
	r.b.manifest.Sources = append(r.b.manifest.Sources, file)
}

// note reports ignored files, with a noun for one or many, and names the first.
func (r *folderReader) note(files []string, one, many string) {
	switch n := len(files); {
	case n == 1:
		r.notes = append(r.notes, fmt.Sprintf("1 %s: %s", one, loader.Excerpt(files[0])))
	case n > 1:
		r.notes = append(r.notes, fmt.Sprintf("%d %s, first %s", n, many, loader.Excerpt(files[0])))
	}
}

// noteForeign reports pictures in unsupported formats.
func (r *folderReader) noteForeign() {
	foreign := only(r.pictures.others, picture.IsForeignName)
	r.note(foreign, "picture in a format that is not read", "pictures in formats that are not read")
	if len(foreign) > 0 {
		r.notes[len(r.notes)-1] += " (" + picture.ForeignCure() + ")"
	}
}

// tree takes the folder of a picture as its label: the first below the folder, or below the split if all
// folders have the names of splits.
func (r *folderReader) tree() error {
	splits, err := splitFolders(r.pictures.pictures)
	if err != nil {
		return err
	}
	var loose []string
	filled := map[string]bool{} // folders at the top and of labels that hold pictures
	for _, file := range r.pictures.pictures {
		split, rest := "", file
		if splits {
			var top string
			top, rest, _ = strings.Cut(file, "/")
			split, _ = loader.SplitNamed(top)
		}
		label, _, in := strings.Cut(rest, "/")
		if !in {
			loose = append(loose, file)
			continue
		}
		top := strings.TrimSuffix(file, "/"+rest)
		filled[top], filled[strings.TrimSuffix(file, rest)+label] = true, true
		if err := r.add(file, split, []string{label}); err != nil {
			return err
		}
	}
	if len(r.pictures.pictures) == 0 {
		return fmt.Errorf("there are no pictures in it; want %s", Tree)
	}
	if len(r.b.manifest.Rows) == 0 {
		return fmt.Errorf("its pictures are in no folder of a label, first %q; want %s",
			loader.Excerpt(r.pictures.pictures[0]), Tree)
	}
	if err := r.onlyFolder(splits); err != nil {
		return err
	}
	r.note(loose, "picture in no folder of a label", "pictures in no folder of a label")
	if empty := r.empty(splits, filled); len(empty) > 0 {
		r.notes = append(r.notes, emptyFolders(empty))
	}
	r.noteForeign()
	r.note(only(r.pictures.others, func(file string) bool { return !picture.IsForeignName(file) }),
		"file that is no picture", "files that are no pictures")
	return nil
}

// onlyFolder refuses a folder whose only folder is no known label and has several with all the pictures: those are
// the labels.
func (r *folderReader) onlyFolder(splits bool) error {
	m, inside := r.b.manifest, map[string]bool{}
	if splits || len(m.Labels) != 1 || slices.Contains(r.o.Words, m.Labels[0]) {
		return nil
	}
	for _, row := range m.Rows {
		parts := strings.Split(row.Files[0], "/")
		if len(parts) < 3 {
			return nil
		}
		inside[parts[1]] = true
	}
	if len(inside) < 2 {
		return nil
	}
	return fmt.Errorf("%q would be the only label, and has %d folders with pictures; if these are the labels, name %q",
		loader.Excerpt(m.Labels[0]), len(inside), loader.Excerpt(slashed.Join(filepath.ToSlash(m.File), m.Labels[0])))
}

// empty are the folders of labels that hold no picture: at the top, or below a split.
func (r *folderReader) empty(splits bool, filled map[string]bool) []string {
	var empty []string
	for _, folder := range r.pictures.folders {
		top, label, below := strings.Cut(folder, "/")
		switch {
		case filled[folder], strings.Contains(label, "/"): // a folder in the folder of a label
		case !below, splits && filled[top]:
			empty = append(empty, folder)
		}
	}
	return empty
}

// emptyFolders names folders of labels that hold no picture.
func emptyFolders(empty []string) string {
	noun := "folders of labels"
	if len(empty) == 1 {
		noun = "folder of a label"
	}
	return fmt.Sprintf("%d %s without a picture that can be read: %s", len(empty), noun,
		FirstOf(each(empty, loader.Excerpt), 8))
}

// splitFolders reports whether the top folders are splits that contain folders of labels: all of them have a
// split's name, and at least one contains a folder.
func splitFolders(pictures []string) (bool, error) {
	named, other, deep := "", "", map[string]bool{}
	for _, file := range pictures {
		top, rest, in := strings.Cut(file, "/")
		if !in {
			continue
		}
		if _, ok := loader.SplitNamed(top); ok {
			named = top
		} else {
			other = top
		}
		deep[top] = deep[top] || strings.Contains(rest, "/")
	}
	switch {
	case named == "" || other != "" && !deep[named]:
		return false, nil // a label may have such a name
	case other != "":
		return false, fmt.Errorf("the folder %q holds folders of pictures like a split, but %q next to it is no split; "+
			"move one of them", loader.Excerpt(named), loader.Excerpt(other))
	}
	return slices.Contains(slices.Collect(maps.Values(deep)), true), nil // else they are labels with such names
}

// ReadClips takes the labels of clips from their names, which have slashes: the first folder is the label, as in a
// folder of pictures (Tree), maybe below train, val and test. The folder holds their frames.
func ReadClips(folder string, names []string) (*Manifest, error) {
	r := &folderReader{pictures: &listing{folder: folder, pictures: names}, o: &Options{}, b: newBuilder(folder, folder)}
	r.labels = r.pictures
	if err := r.tree(); err != nil {
		return nil, loader.Unusable(fmt.Errorf("clips of %q: %w", folder, err))
	}
	m := r.b.manifest
	m.Form, m.found = FormFolders, true
	m.Columns.Format, m.Columns.Ignored = "folders of clips", r.notes
	return m, nil
}

// texts reads labels from the text file next to each picture, whose lines are like cells of a table. Pictures without
// a text file are left out, and an empty text file gives no label.
func (r *folderReader) texts(ctx context.Context) error {
	of := statement{form: r.b.manifest.Form}
	var without []string
	for _, picture := range r.pictures.pictures {
		file := annotation.TextFile(picture)
		lines, err := annotation.TextLines(ctx, loader.PathIn(r.labels.folder, file))
		switch {
		case err != nil:
			return err
		case lines == nil:
			without = append(without, picture)
			continue
		}
		labels := []string{}
		for _, line := range lines {
			names, err := of.names(line)
			if err != nil {
				return fmt.Errorf("%q: %w", file, err)
			}
			labels = append(labels, names...)
		}
		labels = slices.DeleteFunc(labels, func(name string) bool { return name == "" }) // after the last comma
		if err := r.add(picture, splitOf(picture), labels); err != nil {
			return err
		}
		r.source(file)
	}
	if len(r.b.manifest.Rows) == 0 {
		return fmt.Errorf("none of its pictures has a text file with labels as `data.label_form` %s; write 1.txt next to "+
			"1.jpg, or name a file of labels", of.form)
	}
	r.note(without, "picture without a text file", "pictures without a text file")
	r.noteForeign()
	return nil
}
