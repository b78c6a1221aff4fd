package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/experiment"
	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/report"
	"nmn/run/captioner"
)

// ownClips are those of the folders of a user, with the captions of one file.
func (t *table4) ownClips() (*table4Clips, error) {
	clips := &table4Clips{captions: map[string]*caption.Captions{}}
	msrvtt, err := annotation.IsMSRVTT(t.captions)
	if err != nil {
		return nil, err
	}
	judged, splits := splitValidation, map[string]string{splitTrain: "", splitValidation: "", splitTest: ""}
	if msrvtt {
		splits = map[string]string{splitTrain: loader.TrainSplit, splitValidation: loader.ValidationSplit, splitTest: loader.TestSplit}
	}
	for split, of := range splits {
		if split == splitTest && !durable.Exists(filepath.Join(t.features[0].folder, splitTest+".npy")) {
			continue
		}
		if split == splitTest {
			judged = splitTest
		}
		if clips.captions[split], err = captioning.ReadCaptions(t.captions, of); err != nil {
			return nil, err
		}
	}
	t.captioner.Data.Partial = t.captioner.Data.Partial || !msrvtt // one file has the captions of all splits
	clips.what = fmt.Sprintf("%s clips of %s", judged, filepath.Base(t.captions))
	for _, f := range t.features {
		clips.rows = append(clips.rows, table4Row{name: f.name, title: f.name, folder: func(uint64) string { return f.folder }})
	}
	return clips, nil
}

// judged is the split that the table is of.
func (c *table4Clips) judged() string {
	if c.captions[splitTest] != nil {
		return splitTest
	}
	return splitValidation
}

// captionAll trains a captioner for each row and seed, and shows the table.
func (t *table4) captionAll(ctx context.Context, clips *table4Clips) (err error) {
	words, err := t.words(clips)
	if err != nil {
		return err
	}
	resources := t.captioner.Resources()
	if t.backend, err = t.program.openDevice(&resources); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, t.backend.Close()) }()
	rows := make([]report.CaptionRow, len(clips.rows))
	var frequent report.CaptionRow
	for i, row := range clips.rows {
		rows[i] = report.CaptionRow{Name: row.title, Aside: row.aside}
		for _, seed := range t.seeds {
			scores, always, err := t.captioned(ctx, clips, row, seed, words)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", row.title, seed, err)
			}
			rows[i].Scores, frequent = append(rows[i].Scores, *scores), always
		}
	}
	return t.show(clips, append(rows, frequent))
}

// words makes the vocabulary that all captioners share, of the training clips that have features.
func (t *table4) words(clips *table4Clips) (_ *captioning.Words, err error) {
	features, err := openTable4(clips.rows[0].folder(t.seeds[0]), splitTrain)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, features.Close()) }()
	words, _, err := captioning.BuildWords(captioning.Texts(features, clips.captions[splitTrain], nil), t.captioner.Words)
	if err != nil {
		return nil, fmt.Errorf("training clips in %s: %w", clips.rows[0].folder(t.seeds[0]), err)
	}
	return words, nil
}

// openTable4 opens the features of a split in a folder.
func openTable4(folder, split string) (*captioning.FrameFile, error) {
	return captioning.OpenFrames(captioning.FrameFiles{Features: filepath.Join(folder, split+".npy"), Clips: filepath.Join(folder, split+".csv")})
}

// captioned trains a captioner on the features of a row and scores it, and what says the most frequent
// caption of the training clips of all clips.
func (t *table4) captioned(ctx context.Context, clips *table4Clips, row table4Row, seed uint64, words *captioning.Words) (scores *caption.Scores, always report.CaptionRow, err error) {
	dir := filepath.Join(t.runDir, "captioners", fmt.Sprintf("seed-%d", seed), row.name)
	var files []*captioning.FrameFile
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	sets, err := t.open(&files, words, clips, row.folder(seed))
	if err != nil {
		return nil, always, err
	}
	s := &captioner.Session{Config: t.captioner, Backend: t.backend, Log: t.program.log, Observe: t.program.captionObserver(),
		Title: fmt.Sprintf("captioner on %s, seed %d", row.title, seed),
		Data:  &captioner.Data{Words: words, Train: sets[splitTrain], Validation: sets[splitValidation]}}
	s.Config.Train.Seed = seed
	o, reused, err := s.Run(ctx, dir)
	if err != nil {
		return nil, always, err
	}
	if reused {
		t.program.note("%s is complete: not run again", dir)
	}
	judged := sets[clips.judged()]
	said := judged.Constant(s.Data.Train.MostFrequent())
	result, err := captioning.Score(ctx, judged, said, t.meteor)
	if err != nil {
		return nil, always, err
	}
	always = report.CaptionRow{Name: fmt.Sprintf("always %q", said[0].Caption), Scores: []caption.Scores{result.All}, Aside: true}
	scores, err = t.judge(ctx, dir, judged, o.Checkpoint)
	return scores, always, err
}

// open joins features and captions of each split that there is.
func (t *table4) open(files *[]*captioning.FrameFile, words *captioning.Words, clips *table4Clips, folder string) (map[string]*captioning.Set, error) {
	sets := map[string]*captioning.Set{}
	for split, captions := range clips.captions {
		features, err := openTable4(folder, split)
		if err != nil {
			return nil, err
		}
		*files = append(*files, features)
		o := captioning.JoinOptions{Partial: t.captioner.Data.Partial}
		if split == splitTrain {
			o.MaxWords = t.captioner.Data.MaxWords
		}
		if sets[split], err = captioning.Join(features, captions, words, o); err != nil {
			return nil, fmt.Errorf("%s clips in %s: %w", split, folder, err)
		}
	}
	return sets, nil
}

// judge scores the best checkpoint of a captioner and keeps what it said beside it.
func (t *table4) judge(ctx context.Context, dir string, judged *captioning.Set, checkpoint string) (_ *caption.Scores, err error) {
	net, about, err := captioning.OpenNet(filepath.Join(dir, checkpoint), t.backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	j := captioning.Judge{Words: about.Words, Data: judged, Generation: t.captioner.Validation.Generation(), Meteor: t.meteor}
	result, said, err := j.Score(ctx, net)
	if err != nil {
		return nil, err
	}
	return &result.All, captioning.WriteResults(filepath.Join(dir, "generated.json"), said)
}

// show writes the tables to the folder and to standard output. Figures of moving scenes, or of features of
// one's own, and those of the paper are tables of their own.
func (t *table4) show(clips *table4Clips, rows []report.CaptionRow) error {
	table := report.Table4("Captions of "+clips.what, rows)
	table.Notes = append(table.Notes, fmt.Sprintf("CIDEr-D, BLEU-4, ROUGE-L and METEOR (1.5, modules %s) times 100; mean ± standard deviation over seeds.", t.meteor.Modules()))
	tables := []*report.Table{table, report.PublishedTable4()}
	if len(t.features) == 0 {
		tables[1].Notes = []string{"Other clips, captions and words than the moving scenes above: not to be compared with them."}
	}
	if err := experiment.WriteTables(t.runDir, tables); err != nil {
		return err
	}
	if t.format == report.CSV {
		tables = tables[:1]
	}
	return report.Write(t.program.out, t.format, tables...)
}
