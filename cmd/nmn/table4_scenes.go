package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"nmn/eval/caption"
	"nmn/experiment"
	"nmn/loader/scenes"
	"nmn/model"
	"nmn/run"
)

// table4Clips are the clips of the experiment: captions, and folders of features.
type table4Clips struct {
	what string // for the heading of the table
	// captions of each split; of the test split nil where there is none, and validation clips are judged.
	captions map[string]*caption.Captions
	rows     []table4Row
}

// table4Row is a captioner of the table: what it is called, and where its features are for a seed.
type table4Row struct {
	name, title string
	folder      func(seed uint64) string
	aside       bool
}

// The splits of the experiment, as files of features are called after them.
const (
	splitTrain      = "train"
	splitValidation = "validation"
	splitTest       = "test"
)

// scenes trains the nets on moving scenes and writes their concept probabilities and the true concepts.
func (t *table4) scenes(ctx context.Context) (*table4Clips, error) {
	clips := &table4Clips{what: fmt.Sprintf("%d moving scenes", t.concepts.Data.TestSize), captions: map[string]*caption.Captions{}}
	truth := filepath.Join(t.runDir, "features", "truth")
	for split, config := range t.sceneSplits() {
		if err := t.sceneSplit(clips, split, config, truth); err != nil {
			return nil, err
		}
	}
	if err := t.trainConcepts(ctx); err != nil {
		return nil, err
	}
	for _, a := range table4Arms() {
		clips.rows = append(clips.rows, table4Row{name: string(a), title: a.Title(true), folder: func(seed uint64) string {
			return filepath.Join(t.runDir, "features", fmt.Sprintf("seed-%d", seed), string(a))
		}})
	}
	clips.rows = append(clips.rows, table4Row{name: "truth", title: "true concepts", folder: func(uint64) string { return truth }, aside: true})
	return clips, nil
}

// sceneSplits are the clips of each split, those of nmn train.
func (t *table4) sceneSplits() map[string]scenes.MovingConfig {
	d := &t.concepts.Data
	of := func(name string, n int) scenes.MovingConfig {
		return scenes.MovingConfig{Seed: d.Seed, Split: name, N: n, Frames: d.Frames}
	}
	return map[string]scenes.MovingConfig{splitTrain: of("train", d.TrainSize), splitValidation: of("val", d.ValidationSize), splitTest: of("test", d.TestSize)}
}

// sceneSplit writes captions of a split into clips and its true concepts into a folder.
func (t *table4) sceneSplit(clips *table4Clips, split string, config scenes.MovingConfig, folder string) error {
	ids, captions, err := scenes.MovingCaptions(config, t.perClip)
	if err != nil {
		return usageError{err}
	}
	clips.captions[split] = captionsOfClips(ids, captions)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if err := writeFrameTruth(config, filepath.Join(folder, split+".npy")); err != nil {
		return err
	}
	return writeClipRows(filepath.Join(folder, split+".csv"), ids, config.Frames)
}

// trainConcepts trains the nets for each seed, and writes their features.
func (t *table4) trainConcepts(ctx context.Context) (err error) {
	e := experiment.New(t.concepts, filepath.Join(t.runDir, "concepts"))
	e.Arms, e.MIL, e.Seeds = table4Arms(), experiment.WithMIL, t.seeds
	if err := e.ResolveNoise(); err != nil {
		return err
	}
	s, err := openWatched(ctx, t.program, e.Config, "")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	runs, err := e.Train(ctx, s.Session)
	if err != nil {
		return err
	}
	for i := range runs {
		folder := filepath.Join(t.runDir, "features", fmt.Sprintf("seed-%d", runs[i].Seed), runs[i].Arm)
		if err := t.writeConcepts(ctx, s.Session, runs[i].Name, folder); err != nil {
			return err
		}
	}
	return nil
}

// writeConcepts writes the concept probabilities of every frame by the net of a run.
func (t *table4) writeConcepts(ctx context.Context, s *run.Session, path, folder string) (err error) {
	m, err := s.OpenModel(path, run.Last)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, split := range []string{splitTrain, splitValidation, splitTest} {
		o := run.DefaultExtractOptions()
		o.Layers, o.Batch, o.Split, o.PerFrame = []model.Layer{model.Probabilities}, 64, split, true
		o.Outputs, o.Clips = []string{filepath.Join(folder, split+".npy")}, filepath.Join(folder, split+".csv")
		o.Progress, o.LeftOut = t.program.extracted(), t.program.tellLeftOut
		_, err := m.Extract(ctx, nil, o)
		t.program.status.clear()
		if err != nil {
			return err
		}
	}
	return nil
}
