package run

import (
	"context"
	"errors"
	"slices"

	"nmn/internal/origin"
	"nmn/loader/dataset"
	"nmn/run/folder"
)

// files are those that a run of the configuration learns from: its data, and the rates and weights that it starts from.
func (c *Config) files(ctx context.Context, d *dataset.Splits) (origin.List, error) {
	data, err := d.Files(ctx, c.Run.VerifyData)
	if err != nil {
		return nil, err
	}
	var more []origin.Place
	for _, p := range []struct{ key, file string }{
		{"net.weights", c.Net.Weights}, {"net.backbone", c.Net.Backbone}, {"stage1", c.Stage1},
		{"noise_rates", c.Settings().RatesFile()},
	} {
		if p.file != "" {
			more = append(more, origin.Place{Name: p.key, Path: p.file})
		}
	}
	start, err := d.Beside(ctx, more)
	return append(data[:len(data):len(data)], start...), err
}

// runFolder is the folder of a run, and what the run in it learns from.
type runFolder struct {
	dir    string
	kind   folder.Kind
	config *Config
	data   *dataset.Splits
	ranks  *Ranks
}

// sameData refuses a folder whose run began with other files than there are now, and returns the list to keep there.
func (f *runFolder) sameData(ctx context.Context) (origin.List, error) {
	if !f.ranks.leads() { // the ranks have been compared
		return nil, nil
	}
	now, err := f.config.files(ctx, f.data)
	if err != nil {
		return nil, err
	}
	kept, err := folder.SameData(ctx, f.dir, now)
	if err != nil || kept.Unread() == 0 {
		return kept, err
	}
	read := f.data.FileEnds
	if kept.Unread() <= notedBytes {
		read = func(ctx context.Context) (origin.List, error) { return f.data.Files(ctx, true) }
	}
	noted, err := read(ctx)
	return kept.With(noted), err
}

// notedBytes are the most bytes of pictures and frames whose whole content is noted when a run begins. Reading them
// takes some seconds, and the first epoch finds them in memory. The ends of the files are noted if there is more. With
// either, a run goes on even if the times of files have changed, as by a copy.
const notedBytes = 2 << 30

// prepare makes the folder, or takes an existing one. It refuses with a *ConfigError a folder that holds another run, a
// run that began with other files, or files of the user under names that the run writes.
func (f *runFolder) prepare(ctx context.Context) error {
	err := checkFolder(f.dir, f.kind, f.config)
	var files origin.List
	if err == nil {
		files, err = f.sameData(ctx)
	}
	if err := f.ranks.agree(err); err != nil {
		return err
	}
	return f.ranks.Save(ctx, func() error {
		if err := folder.Claim(f.dir, isRunFile); err != nil {
			return err
		}
		// The configuration comes first: without it the other files would count as the user's.
		if err := f.config.save(f.dir, ThisBuild()); err != nil {
			return err
		}
		return errors.Join(folder.KeepData(f.dir, files), keepLeftOut(f.dir, f.data))
	})
}

func (s *Session) folder(dir string, kind folder.Kind) *runFolder {
	return &runFolder{dir: dir, kind: kind, config: &s.Config, data: s.Data, ranks: s.Ranks}
}

// SameData refuses a folder whose run began with other files than the session has.
func (s *Session) SameData(ctx context.Context, dir string) error {
	_, err := s.folder(dir, ofRun).sameData(ctx)
	return err
}

// PrepareFolder makes a folder for runs of the session's data, or takes an existing one. It refuses with a
// *ConfigError a folder that holds another run, a run that began with other files, or files of the user under
// the names of written.
func (s *Session) PrepareFolder(ctx context.Context, dir string, written ...string) error {
	writes := func(name string) bool {
		return name == ConfigFile || name == DataFile || name == LeftOutFile || slices.Contains(written, name)
	}
	return s.folder(dir, folder.Kind{Config: ConfigFile, Writes: writes}).prepare(ctx)
}
