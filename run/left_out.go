package run

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
)

// LeftOutFile is the file of a run folder that lists the training bags that could not be used when the run began, and
// that it has left out.
const LeftOutFile = "left-out.json"

// leftOut is a line of that file.
type leftOut struct {
	Bag int    `json:"sample"` // its place among the training bags
	ID  string `json:"id"`
	Why string `json:"why"`
}

// noted is the reason of a bag that was left out, as the list has it: it names loader.ErrCorrupt already.
type noted string

func (n noted) Error() string { return string(n) }
func (n noted) Unwrap() error { return loader.ErrCorrupt }

// leftOutSince lists the training bags that a run in a folder has left out since it began. One that breaks later is
// left out of batches alone.
func leftOutSince(dir string) func(context.Context, *loader.Set) ([]loader.BadSample, error) {
	return func(_ context.Context, set *loader.Set) ([]loader.BadSample, error) {
		path := filepath.Join(dir, LeftOutFile)
		known, err := durable.LoadJSON[[]leftOut](path, "remove the folder to begin again")
		if err != nil || known == nil {
			return nil, err
		}
		var bad []loader.BadSample
		for _, l := range *known {
			if l.Bag < 0 || l.Bag >= set.Len() || set.IDs != nil && set.IDs[l.Bag] != l.ID {
				return nil, setting.Errorf("run_dir", "%s says that training sample %d is %.60q, and it is not any more: give "+
					"another `run_dir`, or put the data back", path, l.Bag, l.ID)
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

// readAll reads all pictures of a set once, and returns the bags that cannot be used. More than the configuration
// allows are an error. If it allows none, the first epoch finds them.
func (c *Config) readAll(ctx context.Context, set *loader.Set) ([]loader.BadSample, error) {
	if c.Data.MaxBadSamples == 0 || set.Source == nil || c.Data.Embedded() {
		return nil, nil
	}
	config := c.Loader()
	config.Size = cmp.Or(c.Net.InputSize, 224)
	if c.Net.Arch != NetMLP { // which learns what a backbone makes of pictures
		config.Size = c.Net.Model(1, 0, "").Size
	}
	config.BatchSize, config.Shuffle, config.Flip = 16, false, false
	l, err := loader.New(set, config)
	if err != nil {
		return nil, err
	}
	if err := l.Pass(ctx, 0, func(*loader.Batch) {}); err != nil {
		return nil, err
	}
	bad := l.Bad(0)
	slices.SortFunc(bad, func(a, b loader.BadSample) int { return a.Bag - b.Bag })
	return bad, nil
}
