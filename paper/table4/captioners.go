package table4

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/kernels"
	"nmn/report"
	"nmn/run"
)

// captionAll trains a captioner for each row and seed, and returns the rows of the table.
func (e *Experiment) captionAll(ctx context.Context, c *clips) (rows []report.CaptionRow, err error) {
	words, err := e.words(ctx, c)
	if err != nil {
		return nil, err
	}
	resources := e.Captioner.Resources()
	backend, note, err := run.OpenDevice(&resources, 0, false, e.Log)
	if err != nil {
		return nil, err
	}
	e.Captioning.Notify(run.DeviceMessage(backend, note))
	defer func() { err = cmp.Or(err, backend.Close()) }()
	var frequent report.CaptionRow
	for _, r := range c.rows {
		scored := report.CaptionRow{Name: r.title, Aside: r.aside}
		for _, seed := range e.Seeds {
			scores, always, err := e.captioned(ctx, c, r, seed, words, backend)
			if err != nil {
				return nil, fmt.Errorf("%s, seed %d: %w", r.title, seed, err)
			}
			scored.Scores, frequent = append(scored.Scores, *scores), always
		}
		rows = append(rows, scored)
	}
	return append(rows, frequent), nil
}

// words makes the vocabulary that all captioners share, of the training clips that have features.
func (e *Experiment) words(ctx context.Context, c *clips) (_ *captioner.Words, err error) {
	folder := c.rows[0].folder(e.Seeds[0])
	features, err := openFeatures(ctx, folder, splitTrain)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, features.Close()) }()
	words, _, err := captioner.BuildWords(captioner.Texts(features, c.captions[splitTrain], c.held), e.Captioner.Words)
	if err != nil {
		return nil, fmt.Errorf("training clips in %s: %w", folder, err)
	}
	return words, nil
}

// openFeatures opens the features of a split in a folder.
func openFeatures(ctx context.Context, folder, split string) (*captioner.FrameFile, error) {
	return captioner.OpenFrames(ctx, captioner.FrameFiles{Features: filepath.Join(folder, split+".npy"),
		Clips: filepath.Join(folder, split+".csv")})
}

// captioned trains a captioner on the features of a row and scores it. It also scores a captioner that always
// generates the most frequent training caption.
func (e *Experiment) captioned(ctx context.Context, c *clips, r row, seed uint64, words *captioner.Words,
	backend kernels.Backend) (scores *metrics.Scores, always report.CaptionRow, err error) {
	sets, files, err := e.join(ctx, c, r.folder(seed), words)
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	if err != nil {
		return nil, always, err
	}
	s := session.Session{Config: e.Captioner, Backend: backend, Log: e.Log, Observe: e.Captioning,
		Title: fmt.Sprintf("captioner on %s, seed %d", r.title, seed),
		// Concepts of nets follow from their configuration, or are known by their fingerprint: they have no places.
		Data: &session.Data{Words: words, Train: sets[splitTrain], Validation: sets[splitValidation]}}
	s.Config.Train.Seed = seed
	dir := e.captioner(seed, r.name)
	o, reused, err := s.Run(ctx, dir)
	if err != nil {
		return nil, always, err
	}
	if reused {
		s.Observe.Notify(run.Message{Text: dir + " is complete: not run again", Always: true})
	}
	judged := sets[splitTest]
	constant := judged.Constant(s.Data.Train.MostFrequent())
	result, err := captioner.Score(ctx, judged, constant, e.Meteor)
	if err != nil {
		return nil, always, err
	}
	always = report.CaptionRow{Name: fmt.Sprintf("always %q", constant[0].Caption),
		Scores: []metrics.Scores{result.All}, Aside: true}
	scores, err = e.judge(ctx, judged, dir, o.Checkpoint, backend)
	return scores, always, err
}

// join joins features and captions of each split that there is. The files are to be closed, after an error too.
func (e *Experiment) join(ctx context.Context, c *clips, folder string,
	words *captioner.Words) (sets map[string]*captioner.Set, files []*captioner.FrameFile, err error) {
	sets = map[string]*captioner.Set{}
	for split, captions := range c.captions {
		features, err := openFeatures(ctx, folder, split)
		if err != nil {
			return nil, files, err
		}
		files = append(files, features)
		o := captioner.JoinOptions{Partial: e.Captioner.Data.Partial}
		if split == splitTrain {
			o.MaxWords = e.Captioner.Data.MaxWords
		}
		if sets[split], err = captioner.Join(features, captions, words, o); err != nil {
			return nil, files, fmt.Errorf("%s clips in %s: %w", split, folder, err)
		}
	}
	if c.held != nil {
		sets[splitTrain], sets[splitValidation] = sets[splitTrain].HoldOut(c.held)
		if sets[splitTrain] == nil || sets[splitValidation] == nil {
			return nil, files, fmt.Errorf("%s: of %d clips to learn from, some are to end the training of a captioner: there "+
				"are too few", folder, len(c.captions[splitTrain].IDs))
		}
	}
	return sets, files, nil
}

// judge scores the best checkpoint of a captioner and writes its captions next to it.
func (e *Experiment) judge(ctx context.Context, judged *captioner.Set, dir, checkpoint string,
	backend kernels.Backend) (_ *metrics.Scores, err error) {
	net, about, err := captioner.OpenNet(filepath.Join(dir, checkpoint), backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	j := captioner.Judge{Words: about.Words, Data: judged, Generation: e.Captioner.Validation.Generation(),
		Meteor: e.Meteor}
	result, generated, err := j.Score(ctx, net)
	if err != nil {
		return nil, err
	}
	return &result.All, run.SaveFiles(ctx, e.Log, func() error {
		return captioner.WriteResults(filepath.Join(dir, "generated.json"), generated)
	})
}
