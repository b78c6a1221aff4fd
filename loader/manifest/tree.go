package manifest

import (
	"fmt"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/picture"
)

// tree takes the folder that a picture is in for its label: the first below the folder, or below the split where all
// folders are named after splits.
func (r *folderReader) tree() error {
	splits, err := splitFolders(r.pictures.pictures)
	if err != nil {
		return err
	}
	var loose []string
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
		if err := r.add(file, split, []string{label}); err != nil {
			return err
		}
	}
	if len(r.pictures.pictures) == 0 {
		return fmt.Errorf("there are no pictures in it; want %s", Tree)
	}
	if len(r.b.manifest.Rows) == 0 {
		return fmt.Errorf("its pictures lie in no folder of a label, first %q; want %s",
			loader.Excerpt(r.pictures.pictures[0]), Tree)
	}
	if len(loose) > 0 {
		r.notes = append(r.notes, skipped(loose, "picture in no folder of a label", "pictures in no folder of a label"))
	}
	r.notes = append(r.notes, r.pictures.foreign()...)
	if others := slices.DeleteFunc(slices.Clone(r.pictures.others), picture.IsForeignName); len(others) > 0 {
		r.notes = append(r.notes, skipped(others, "file that is no picture", "files that are no pictures"))
	}
	return nil
}

// splitFolders reports whether the folders at the top are those of splits, with folders of labels in them: where all of
// them are named so, and any has such a folder.
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
		return false, fmt.Errorf("the folder %q holds folders of pictures as a split does, and beside it %q is no split; "+
			"move the one or the other", loader.Excerpt(named), loader.Excerpt(other))
	}
	for _, nested := range deep {
		if nested {
			return true, nil
		}
	}
	return false, nil // labels with such names
}
