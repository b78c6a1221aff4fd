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
	settings := c.Settings()
	var more []origin.Place
	for _, p := range []struct{ key, file string }{
		{"net.weights", c.Net.Weights}, {"net.backbone", c.Net.Backbone}, {"stage1", c.Stage1},
		{"noise_rates", settings.RatesFile()},
	} {
		if p.file != "" {
			more = append(more, origin.Place{Name: p.key, Path: p.file})
		}
	}
	start, err := d.Beside(ctx, more)
	return append(data[:len(data):len(data)], start...), err
}

// SameData refuses a folder whose run began with other files than the session has.
func (s *Session) SameData(ctx context.Context, dir string) error {
	_, err := s.sameData(ctx, dir, &s.Config, s.Data)
	return err
}

// sameData refuses a folder whose run began with other files than there are now, and returns the list to keep there.
func (s *Session) sameData(ctx context.Context, dir string, c *Config, d *dataset.Splits) (origin.List, error) {
	if !s.leads() { // the ranks have been compared
		return nil, nil
	}
	now, err := c.files(ctx, d)
	if err != nil {
		return nil, err
	}
	kept, err := folder.SameData(ctx, dir, now)
	if err != nil || kept.Unread() == 0 || kept.Unread() > notedBytes {
		return kept, err
	}
	read, err := d.Files(ctx, true)
	return kept.With(read), err
}

// notedBytes are the most bytes of pictures and frames whose content is noted when a run begins. Reading them takes
// some seconds, and the first epoch finds them in memory. Then a run goes on even if their times have changed, as by a
// copy.
const notedBytes = 2 << 30

// PrepareFolder makes a folder for runs of the session's data, or takes an existing one. It refuses with a
// *ConfigError a folder that holds another run, a run that began with other files, or files of the user under
// the names of written.
func (s *Session) PrepareFolder(ctx context.Context, dir string, written ...string) error {
	writes := func(name string) bool {
		return name == ConfigFile || name == DataFile || name == LeftOutFile || slices.Contains(written, name)
	}
	return s.prepareFolder(ctx, dir, folder.Kind{Config: ConfigFile, Writes: writes}, &s.Config, s.Data)
}

func (s *Session) prepareFolder(ctx context.Context, dir string, kind folder.Kind, c *Config,
	d *dataset.Splits) error {
	err := checkFolder(dir, kind, c)
	var files origin.List
	if err == nil {
		files, err = s.sameData(ctx, dir, c, d)
	}
	if err := s.agree(err); err != nil {
		return err
	}
	return s.Save(ctx, func() error {
		if err := folder.Claim(dir, isRunFile); err != nil {
			return err
		}
		// The configuration comes first: without it the other files would count as the user's.
		if err := c.writeConfig(dir); err != nil {
			return err
		}
		return errors.Join(folder.KeepData(dir, files), keepLeftOut(dir, d))
	})
}
