package manifest

import (
	"context"
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/loader/annotation"
)

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
	if len(without) > 0 {
		r.notes = append(r.notes, skipped(without, "picture without a text file", "pictures without a text file"))
	}
	r.notes = append(r.notes, r.pictures.foreign()...)
	return nil
}
