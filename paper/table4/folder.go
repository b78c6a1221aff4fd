package table4

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"nmn/experiment"
	"nmn/run"
)

// takeFolder makes the folder of everything, or takes it, until release is called; alone keeps other processes out.
func (e *Experiment) takeFolder(ctx context.Context, alone bool) (release func() error, err error) {
	release = func() error { return nil }
	if alone {
		if release, err = run.LockFolder(ctx, e.Dir, e.Log); err != nil {
			return nil, err
		}
	}
	if err := run.SaveFiles(ctx, e.Log, e.makeFolder); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// makeFolder makes the folder, and refuses one with other files.
func (e *Experiment) makeFolder() error {
	if err := run.RefuseForeign(e.Dir, captionersFolder, append(experiment.TableFiles(), featuresFolder,
		conceptsFolder)...); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(e.Dir, captionersFolder), 0o777)
}
