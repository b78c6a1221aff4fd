package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/run/internal/folder"
)

// LeftOutFile is the file of a run folder that lists the training bags that could not be used when the run began, and
// that it has left out.
const LeftOutFile = "left-out.json"

// leftOut is a line of that file.
type leftOut struct {
	Bag int    `json:"bag"` // its place among the training bags
	ID  string `json:"id"`
	Why string `json:"why"`
}

// noted is the reason of a bag that was left out, as the list has it: it names loader.ErrCorrupt already.
type noted string

func (n noted) Error() string { return string(n) }
func (n noted) Unwrap() error { return loader.ErrCorrupt }

// unusable finds the training bags of a new run that cannot be used; of one that has begun, those that it has left out
// since. One that breaks later is left out of batches, as each other picture is.
func (s *Session) unusable(dir string) func(context.Context, *loader.Set) ([]loader.BadSample, error) {
	return func(ctx context.Context, set *loader.Set) ([]loader.BadSample, error) {
		if dir == "" || !folder.Begun(dir) {
			if s.Config.Data.MaxBadSamples == 0 {
				return nil, nil // the first epoch says it
			}
			return s.Config.readAll(ctx, set)
		}
		path := filepath.Join(dir, LeftOutFile)
		known, err := durable.LoadJSON[[]leftOut](path, "remove the folder to begin again")
		if err != nil || known == nil {
			return nil, err
		}
		var bad []loader.BadSample
		for _, l := range *known {
			if l.Bag < 0 || l.Bag >= set.Len() || set.IDs != nil && set.IDs[l.Bag] != l.ID {
				return nil, setting.Errorf("run_dir", "%s says that training bag %d is %.60q, and it is not any more: give another "+
					"`run_dir`, or put the data back", path, l.Bag, l.ID)
			}
			bad = append(bad, loader.BadSample{Bag: l.Bag, ID: l.ID, Err: noted(l.Why)})
		}
		return bad, nil
	}
}

// keepLeftOut writes the list of what is left out to the folder of a run, if there is anything.
func keepLeftOut(dir string, d *dataset.Splits) error {
	path := filepath.Join(dir, LeftOutFile)
	if len(d.LeftOut) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	var list []leftOut
	for _, b := range d.LeftOut {
		list = append(list, leftOut{b.Bag, b.ID, b.Err.Error()})
	}
	return durable.SaveJSON(path, list)
}

// readAll reads all pictures of a set once, and returns the bags that cannot be used. More than the configuration allows
// are an error.
func (c *Config) readAll(ctx context.Context, set *loader.Set) ([]loader.BadSample, error) {
	if set.Source == nil || c.Data.Set == dataset.Scenes || c.Data.Set == dataset.MovingScenes { // which are painted
		return nil, nil
	}
	config := c.Loader()
	config.Size = cmp.Or(c.Net.InputSize, 224)
	if c.Net.Arch != NetMLP { // which learns what a backbone makes of pictures
		config.Size = c.Net.Model(1, 0, "").Size
	}
	config.BatchBags, config.Shuffle, config.Flip, config.DropLast = 16, false, false, false
	l, err := loader.New(set, config)
	if err != nil {
		return nil, err
	}
	epoch, err := l.Epoch(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	defer epoch.Close()
	for {
		batch, err := epoch.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		batch.Release()
	}
	bad := l.Bad(0)
	slices.SortFunc(bad, func(a, b loader.BadSample) int { return a.Bag - b.Bag })
	return bad, nil
}
