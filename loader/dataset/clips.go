package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/manifest"
	"nmn/text"
)

// HoldAll holds the labels of any number of clips in memory, for commands that look at all of them at once.
const HoldAll = math.MaxInt

// openClips reads folders of frames and the labels next to them. Validation and test clips are held in
// memory. Training clips are held if they fit into the configured memory; otherwise each is read from its
// file when it comes up. Without other folders, shares of the training clips are held out.
func (d *Splits) openClips(ctx context.Context, c *Config) error {
	train, err := d.openFolder(c.Clips, c.LabelFile())
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
		folder string
		to     **loader.Set
	}{{c.ValClips, &d.Validation}, {c.TestClips, &d.Test}} {
		if split.folder == "" {
			continue
		}
		if *split.to, err = d.heldClips(ctx, split.folder, vocabulary); err != nil {
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
func (d *Splits) heldClips(ctx context.Context, folder string, v *text.Vocabulary) (*loader.Set, error) {
	f, err := d.openFolder(folder, filepath.Join(folder, loader.LabelsName))
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

// clipData is a folder of frames with labels.
type clipData struct {
	dir    string
	clips  *loader.Clips
	labels *loader.ClipLabels
}

// LabelFile is the file with the labels of the clips in data.clips.
func (d *Config) LabelFile() string {
	return cmp.Or(d.ClipLabels, filepath.Join(d.Clips, loader.LabelsName))
}

func (d *Splits) openFolder(dir, file string) (*clipData, error) {
	clips, err := loader.OpenClips(dir)
	if err != nil {
		return nil, whereItStarted(err, dir)
	}
	d.alsoClose(clips)
	labels, err := loader.OpenClipLabels(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: clips need a line of labels each, in the order of their index: %s; or give a table of the "+
			"clips instead (`data.manifest` TABLE.csv `data.images` %s; docs/guide/video.md)",
			err, loader.ClipLabelsExample, dir)
	}
	if err != nil {
		return nil, err
	}
	d.alsoClose(labels)
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
