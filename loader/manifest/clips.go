package manifest

import (
	"fmt"

	"nmn/loader"
)

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
