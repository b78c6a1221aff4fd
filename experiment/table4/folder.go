package table4

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"nmn/experiment"
	"nmn/group"
	"nmn/run"
)

func (e *Experiment) ranks() group.Group { return group.Of(e.Group) }

// leads reports whether this rank has the folder.
func (e *Experiment) leads() bool { return e.ranks().Rank() == 0 }

// agree makes what is wrong on one rank an error of all.
func (e *Experiment) agree(err error) error { return run.AgreeOn(e.Group, err) }

// takeFolder makes the folder of everything, or takes it, until release is called; alone keeps other processes out. The
// ranks that do not lead have a temporary one for their copies of what is small in it: the nets without their weights,
// and the features.
func (e *Experiment) takeFolder(ctx context.Context, alone bool) (release func() error, err error) {
	unlock := func() error { return nil }
	if e.leads() {
		unlock, err = e.lockFolder(ctx, alone)
	}
	if agreed := e.agree(err); agreed != nil {
		if err == nil {
			agreed = errors.Join(agreed, unlock())
		}
		return nil, agreed
	}
	concepts, leave, err := run.FollowRun(e.Group, filepath.Join(e.Dir, conceptsFolder))
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	if e.dir = e.Dir; !e.leads() {
		e.dir = filepath.Dir(concepts)
	}
	return func() error { return cmp.Or(leave(), unlock()) }, nil
}

// lockFolder is takeFolder for who sees the folder.
func (e *Experiment) lockFolder(ctx context.Context, alone bool) (release func() error, err error) {
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

// makeFolder refuses a folder of somebody else's files, and makes one.
func (e *Experiment) makeFolder() error {
	if err := run.RefuseForeign(e.Dir, captionersFolder, append(experiment.TableFiles(), featuresFolder,
		conceptsFolder)...); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(e.Dir, captionersFolder), 0o777)
}
