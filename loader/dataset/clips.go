package dataset

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/text"
)

// HoldAll holds the labels of any number of clips in memory, for commands that look at all of them at once.
const HoldAll = math.MaxInt

// ClipConfig names folders of frames and the labels next to them, one for each split.
type ClipConfig struct {
	Clips         string `yaml:"clips,omitempty" help:"<folder> of frames and labels of training clips, written by nmn frames"`
	ValClips      string `yaml:"val_clips,omitempty" help:"<folder> of validation clips"`
	TestClips     string `yaml:"test_clips,omitempty" help:"<folder> of test clips"`
	ClipLabels    string `yaml:"clip_labels,omitempty" help:"<file> of labels for the training clips, used instead of the file in their folder"`
	ShuffleBlock  int    `yaml:"shuffle_block,omitempty" help:"clips: keep this many neighbouring <clips> together when shuffling; 0 shuffles all" range:"[0,]"`
	ShuffleWindow int    `yaml:"shuffle_window,omitempty" help:"clips: shuffle this many <blocks> of neighbours with each other" range:"[0,]"`
}

// LabelFile is the file with the labels of the clips in data.clips.
func (c *ClipConfig) LabelFile() string {
	return cmp.Or(c.ClipLabels, filepath.Join(c.Clips, loader.LabelsName))
}

// openClips reads folders of frames and the labels next to them. Validation and test clips are held in
// memory. Training clips are held if they fit into the configured memory; otherwise each is read from its
// file when it comes up. Without other folders, shares of the training clips are held out.
func (d *Splits) openClips(ctx context.Context, c *Config) error {
	train, err := d.openFolder("data.clips", c.Clips, c.ClipLabels)
	if err != nil {
		return err
	}
	vocabulary, err := train.vocabulary(ctx, c)
	if err != nil {
		return err
	}
	whole, err := train.set(vocabulary)
	if err != nil {
		return err
	}
	mebibytes := (whole.HeldBytes() + 1<<20 - 1) >> 20
	if mebibytes <= int64(d.options.LabelMemory) {
		whole, err = loader.Hold(ctx, whole)
	} else {
		d.options.Log.Info("labels are read from their file", "clips", whole.Len(), "they_would_take_mib", mebibytes,
			"label_memory_mib", d.options.LabelMemory)
	}
	if err != nil {
		return err
	}
	d.Train, d.taken = whole, train.clips.Settings()
	for _, split := range []struct {
		key, folder string
		to          **loader.Set
	}{{"data.val_clips", c.ValClips, &d.Validation}, {"data.test_clips", c.TestClips, &d.Test}} {
		if split.folder == "" {
			continue
		}
		if *split.to, err = d.heldClips(ctx, split.key, split.folder, vocabulary); err != nil {
			return err
		}
	}
	switch {
	case whole.Rows != nil && d.Validation == nil:
		return setting.Errorf("run.label_memory",
			"%s: labels of %d clips take %d MiB and are not held in memory: give validation clips (`data.val_clips` DIR), or "+
				"raise `run.label_memory`",
			c.Clips, whole.Len(), mebibytes)
	case d.Validation == nil && d.Test == nil:
		d.Train = nil
		return d.holdOut(ctx, c, whole)
	}
	return nil
}

// heldClips is the set of a folder with its labels in memory.
func (d *Splits) heldClips(ctx context.Context, key, folder string, v *text.Vocabulary) (*loader.Set, error) {
	f, err := d.openFolder(key, folder, "")
	if err != nil {
		return nil, err
	}
	set, err := f.set(v)
	if err != nil {
		return nil, err
	}
	held, err := loader.Hold(ctx, set)
	if err == nil {
		held.CaptionsInUse = held.Captions
	}
	return held, err
}

// openFrames opens the folder of frames that a setting names.
func (d *Splits) openFrames(key, dir string) (*loader.Clips, error) {
	clips, err := loader.OpenClips(dir)
	if err != nil {
		return nil, whereItStarted(err, dir)
	}
	d.opened = append(d.opened, clips)
	d.readFrames(key, dir)
	return clips, nil
}

// clipData is a folder of frames with labels.
type clipData struct {
	dir    string
	clips  *loader.Clips
	labels *loader.ClipLabels
}

// openFolder opens the folder of a setting, with the labels next to its frames unless another file has them.
func (d *Splits) openFolder(key, dir, file string) (*clipData, error) {
	if file == "" {
		file = filepath.Join(dir, loader.LabelsName)
		d.readFile(key+"."+loader.LabelsName, file)
	}
	clips, err := d.openFrames(key, dir)
	if err != nil {
		return nil, err
	}
	labels, err := loader.OpenClipLabels(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: clips need a line of labels each, in the order of their index: %s; or give a table of the "+
			"clips instead (`data.manifest` TABLE.csv `data.images` %s; docs/guide/video.md)",
			err, loader.ClipLabelsExample, dir)
	}
	if err != nil {
		return nil, err
	}
	d.opened = append(d.opened, labels)
	return &clipData{dir, clips, labels}, nil
}

func (f *clipData) set(v *text.Vocabulary) (*loader.Set, error) {
	return loader.StreamClips("clips-"+filepath.Base(f.dir), f.clips, f.labels, v)
}

// vocabulary reads the configured file, or takes the most frequent words of the captions, or of the labels if
// there are no captions.
func (f *clipData) vocabulary(ctx context.Context, c *Config) (*text.Vocabulary, error) {
	if c.Vocabulary == "" && !f.labels.Captioned() {
		return f.labelVocabulary(ctx, c)
	}
	var failed error
	v, err := openVocabulary(c, f.labels.Texts(ctx, &failed))
	return v, cmp.Or(failed, err)
}

// labelVocabulary makes classes of the labels: the labels of at least the configured number of clips, the
// most frequent first and ties by name.
func (f *clipData) labelVocabulary(ctx context.Context, c *Config) (*text.Vocabulary, error) {
	var failed error
	clips := map[string]int{}
	for word := range f.labels.Words(ctx, &failed) {
		clips[word]++
	}
	if failed != nil {
		return nil, failed
	}
	v, err := manifest.MostFrequent(clips, min(c.VocabularySize, MaxClasses), c.MinCount)
	if v == nil && err == nil {
		err = setting.Errorf("data.vocabulary", "%s: no clip has a label (of %d clips or more): label some, lower "+
			"`data.min_count`, or name the words (`data.vocabulary` FILE)", f.dir, max(c.MinCount, 1))
	}
	return v, err
}

// ClipTable lists the rows of each clip in a file of features, as the records of a CSV table. The zero value has no
// clips.
type ClipTable [][]string

// Add appends a clip: its identifier, its first row from 0 and the number of its rows.
func (t *ClipTable) Add(clip string, first, rows int) {
	*t = append(*t, []string{clip, strconv.Itoa(first), strconv.Itoa(rows)})
}

// WriteFile writes the table.
func (t *ClipTable) WriteFile(path string) error {
	return durable.CSV(path, 0o644, func(w *csv.Writer) error {
		return w.WriteAll(append([][]string{{"clip", "first", "rows"}}, *t...))
	})
}
