package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"nmn/internal/origin"
	"nmn/internal/setting"
)

const (
	DataFile   = "data.tsv"    // the file of a run folder that says which files the run learns from
	ResultFile = "result.json" // the file of a run folder that is written last
)

// SameData refuses a folder whose run began with other files than those that there are now, and names the first one
// that differs. It returns the list to keep in the folder.
func SameData(ctx context.Context, dir string, now origin.List) (origin.List, error) {
	path := filepath.Join(dir, DataFile)
	then, err := origin.Load(path)
	if err != nil {
		return nil, err
	}
	if then == nil || !Begun(dir) {
		return now, nil
	}
	kept, d, err := now.Since(ctx, then)
	if err != nil || d == nil {
		return kept, err
	}
	others := ""
	if d.More > 0 {
		others = fmt.Sprintf(", and %d other files differ too", d.More)
	}
	if d.Unknown {
		return nil, setting.Errorf("run_dir", "%s%s: its content was not noted then (`run.verify_data` does that in a new "+
			"run), so it cannot be shown to be unchanged: give another `run_dir`, put the time back, or, if you are sure, "+
			"remove %s to go on with the data as they are now", d.Text, others, path)
	}
	cure := "put the file back"
	if d.Added {
		cure = "take it away"
	}
	return nil, setting.Errorf("run_dir", "%s%s: %s, or begin anew: with another `run_dir`, or, with nmn train and nmn "+
		"caption train, by `restart`, which removes what this run has learned", d.Text, others, cure)
}

// KeepData writes the list of files of a run to its folder, if there are any and the folder can be written.
func KeepData(dir string, files origin.List) error {
	if len(files) == 0 {
		return nil
	}
	err := files.Save(filepath.Join(dir, DataFile))
	if errors.Is(err, fs.ErrPermission) {
		return nil // of a complete run, which is read even so; others say it at their next file
	}
	return err
}
