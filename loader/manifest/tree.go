package manifest

import (
	"fmt"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/picture"
)

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
	if len(loose) > 0 {
		r.notes = append(r.notes, skipped(loose, "picture in no folder of a label", "pictures in no folder of a label"))
	}
	if empty := r.empty(splits, filled); len(empty) > 0 {
		r.notes = append(r.notes, emptyFolders(empty))
	}
	r.notes = append(r.notes, r.pictures.foreign()...)
	if others := slices.DeleteFunc(slices.Clone(r.pictures.others), picture.IsForeignName); len(others) > 0 {
		r.notes = append(r.notes, skipped(others, "file that is no picture", "files that are no pictures"))
	}
	return nil
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
		if strings.Contains(rest, "/") {
			deep[top] = true
		} else if _, seen := deep[top]; !seen {
			deep[top] = false
		}
	}
	switch {
	case named == "" || other != "" && !deep[named]:
		return false, nil // a label may have such a name
	case other != "":
		return false, fmt.Errorf("the folder %q holds folders of pictures like a split, but %q next to it is no split; "+
			"move one of them", loader.Excerpt(named), loader.Excerpt(other))
	}
	for _, nested := range deep {
		if nested {
			return true, nil
		}
	}
	return false, nil // labels with such names
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
