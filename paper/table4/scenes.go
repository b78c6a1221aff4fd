package table4

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/loader/scenes"
	"nmn/model"
	"nmn/run"
	"nmn/train"
)

// scenes trains the nets on moving scenes and writes their concept probabilities and the true concepts.
func (e *Experiment) scenes(ctx context.Context) (*clips, error) {
	c := &clips{title: fmt.Sprintf("%d moving scenes", e.Nets.Data.TestSize), captions: map[string]*metrics.Captions{}}
	given := filepath.Join(e.Dir, featuresFolder, truth)
	if err := e.writeTruth(ctx, c, given); err != nil {
		return nil, err
	}
	if err := e.trainNets(ctx); err != nil {
		return nil, err
	}
	for _, a := range Arms() {
		c.rows = append(c.rows, row{name: string(a), title: a.Title(true),
			folder: func(seed uint64) string { return e.features(seed, string(a)) }})
	}
	c.rows = append(c.rows, row{name: truth, title: "true concepts", folder: func(uint64) string { return given },
		aside: true})
	return c, nil
}

// writeTruth makes the captions of the clips, and writes their true concepts.
func (e *Experiment) writeTruth(ctx context.Context, c *clips, folder string) error {
	for split, config := range e.sceneSplits() {
		captions, err := captioner.SceneCaptions(config, e.PerClip)
		if err != nil {
			return &setting.Error{Key: "data", Reason: err}
		}
		c.captions[split] = captions
		err = run.SaveFiles(ctx, e.Log, func() error {
			return captioner.WriteSceneTruth(filepath.Join(folder, split), config, captions.IDs)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sceneSplits are the clips of each split, those that the nets learn from and are judged by.
func (e *Experiment) sceneSplits() map[string]scenes.MovingConfig {
	d := &e.Nets.Data
	of := func(name string, n int) scenes.MovingConfig {
		return scenes.MovingConfig{Seed: d.Seed, Split: name, N: n, Frames: d.Frames}
	}
	return map[string]scenes.MovingConfig{splitTrain: of("train", d.TrainSize),
		splitValidation: of("val", d.ValidationSize), splitTest: of("test", d.TestSize)}
}

// trainNets trains the nets for each seed, and writes their features.
func (e *Experiment) trainNets(ctx context.Context) (err error) {
	grid := e.grid(filepath.Join(e.Dir, conceptsFolder))
	if err := grid.ResolveNoise(); err != nil {
		return err
	}
	s, err := run.Open(ctx, grid.Config, run.Options{Log: e.Log, Observer: e.Observe})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	runs, err := grid.Train(ctx, s)
	if err != nil {
		return err
	}
	for _, r := range runs {
		folder := e.features(r.Seed, r.Arm)
		if err := s.Ranks.Save(ctx, func() error { return os.MkdirAll(folder, 0o777) }); err != nil {
			return err
		}
		for _, of := range []struct {
			split string
			set   *loader.Set
		}{{splitTrain, s.Data.Train}, {splitValidation, s.Data.Validation}, {splitTest, s.Data.Test}} {
			if err := e.extractSplit(ctx, s, r.Name, of.set, filepath.Join(folder, of.split)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeProbabilities writes the probabilities of the words, a row for each bag of a set.
func (e *Experiment) writeProbabilities(ctx context.Context, net *model.Net, set *loader.Set, l loader.Config,
	path string) (err error) {
	width, err := net.Config().LayerWidth(model.Probabilities)
	if err != nil {
		return err
	}
	w, err := features.Create(path, width)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	w.Patient(ctx, e.Log)
	done := 0
	bad, err := train.Extract(ctx, net, set, l, []model.Layer{model.Probabilities},
		func(_ int, rows [][]float32) error {
			if done++; e.Extracted != nil {
				e.Extracted(done, set.Len())
			}
			return w.Write(rows[0])
		})
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("frame %s cannot be read: %w", bad[0].ID, bad[0].Err)
	}
	return w.Commit()
}

// extractSplit writes the concept probabilities of all frames of a set of clips, by the net of a run, to files of a
// name, with the rows of each clip.
func (e *Experiment) extractSplit(ctx context.Context, s *run.Session, dir string, set *loader.Set,
	name string) (err error) {
	net, checkpoint, err := train.OpenNet(filepath.Join(dir, train.LastName), s.Backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	frames, index, err := loader.Frames(ctx, set)
	if err == nil {
		err = net.ChunkFrames(0) // the size of the batch is the limit
	}
	if err != nil {
		return err
	}
	config := s.Config
	config.Net.MIL = checkpoint.Model.MIL // which says how pictures fit
	l := config.Loader()
	l.BatchSize = run.DefaultReading().Batch
	if err := e.writeProbabilities(ctx, net, frames, l, name+".npy"); err != nil {
		return err
	}
	var table dataset.ClipTable
	offsets := index.Offsets()
	var r loader.Row
	for i := range index.Videos() {
		if err := set.Row(ctx, i, &r); err != nil {
			return err
		}
		table.Add(r.ID, offsets[i], offsets[i+1]-offsets[i])
	}
	return s.Ranks.Save(ctx, func() error { return table.WriteFile(name + ".csv") })
}
