package dataset

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
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
	whole, err := d.clipSet(ctx, c, "data.clips", c.Clips, c.ClipLabels, nil)
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
	d.Train = whole
	for _, split := range []struct {
		key, folder string
		to          **loader.Set
	}{{"data.val_clips", c.ValClips, &d.Validation}, {"data.test_clips", c.TestClips, &d.Test}} {
		if split.folder == "" {
			continue
		}
		set, err := d.clipSet(ctx, c, split.key, split.folder, "", whole.Vocabulary)
		if err != nil {
			return err
		}
		if set, err = loader.Hold(ctx, set); err != nil {
			return err
		}
		set.CaptionsInUse, *split.to = set.Captions, set
	}
	switch {
	case whole.Rows != nil && d.Validation == nil:
		return setting.Errorf("run.label_memory", "%s: labels of %d clips take %d MiB and are not held in memory: give "+
			"validation clips (`data.val_clips` DIR), or raise `run.label_memory`", c.Clips, whole.Len(), mebibytes)
	case d.Validation == nil && d.Test == nil:
		d.Train = nil
		return d.holdOut(ctx, c, whole)
	}
	return nil
}

// openFrames opens the folder of frames that a setting names. The folder of the training clips comes first.
func (d *Splits) openFrames(key, dir string) (*loader.Clips, error) {
	clips, err := loader.OpenClips(dir)
	if err != nil {
		return nil, whereItStarted(err, dir)
	}
	if d.Train == nil {
		d.Taking = new(Taking)
		_ = json.Unmarshal(clips.Settings(), d.Taking) // Open fills in what they do not say
	}
	d.opened = append(d.opened, clips)
	d.readFrames(key, dir)
	return clips, nil
}

// clipSet opens the folder of a setting, with the labels next to its frames unless another file has them. Without a
// vocabulary it takes the configured one, or one of the captions, or of the labels if there are no captions.
func (d *Splits) clipSet(ctx context.Context, c *Config, key, dir, file string, v *text.Vocabulary) (*loader.Set,
	error) {
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
	var failed error
	switch {
	case v != nil:
	case c.Vocabulary == "" && !labels.Captioned():
		v, err = labelVocabulary(c, dir, labels.Words(ctx, &failed))
	default:
		v, err = openVocabulary(c, labels.Texts(ctx, &failed))
	}
	if err := cmp.Or(failed, err); err != nil {
		return nil, err
	}
	return loader.StreamClips("clips-"+filepath.Base(dir), clips, labels, v)
}

// labelVocabulary makes classes of the labels: the labels of at least the configured number of clips, the
// most frequent first and ties by name.
func labelVocabulary(c *Config, dir string, words iter.Seq[string]) (*text.Vocabulary, error) {
	clips := map[string]int{}
	for word := range words {
		clips[word]++
	}
	v, err := manifest.MostFrequent(clips, min(c.VocabularySize, MaxClasses), c.MinCount)
	if v == nil && err == nil {
		err = setting.Errorf("data.vocabulary", "%s: no clip has a label (of %d clips or more): label some, lower "+
			"`data.min_count`, or name the words (`data.vocabulary` FILE)", dir, max(c.MinCount, 1))
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
