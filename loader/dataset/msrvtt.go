package dataset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/text"
)

// openMSRVTT joins the annotations of clips with their frames. Training clips come from the split train,
// validation clips from validate or from lists of identifiers, and test clips from test, if the file has any.
func (d *Splits) openMSRVTT(ctx context.Context, c *Config) error {
	annotations, err := annotation.ReadForm(ctx, c.MSRVTT, annotation.FormMSRVTT)
	if err != nil {
		return whereItStarted(err, c.MSRVTT)
	}
	logCaptions(d.options.Log, annotations)
	if err := ctx.Err(); err != nil {
		return err
	}
	vocabulary, err := openVocabulary(c, annotations.Split(loader.TrainSplit).Texts(c.CaptionsPerSample))
	if err != nil {
		return err
	}
	clips, err := loader.OpenClips(c.FramesDir)
	if err != nil {
		return whereItStarted(err, c.FramesDir)
	}
	d.alsoClose(clips)
	d.taken = clips.Settings()
	frames, err := clips.Table()
	if err != nil {
		return err
	}
	join := clipJoin{log: d.options.Log, config: c, annotations: annotations, frames: frames, vocabulary: vocabulary}
	if d.Train, err = join.set(loader.TrainSplit); err != nil {
		return err
	}
	if err := labelled(d.Train, c); err != nil {
		return err
	}
	if d.Test, err = join.optional(loader.TestSplit); err != nil {
		return err
	}
	d.Validation, err = join.optional(loader.ValidationSplit)
	if err == nil && d.Validation != nil && (c.ValidationIDs != "" || c.TestIDs != "") {
		whole := d.Validation
		d.Validation = nil
		_, err = d.listed(ctx, c, whole)
	}
	return err
}

// clipJoin makes sets of annotations and frames.
type clipJoin struct {
	log         *slog.Logger
	config      *Config
	annotations *annotation.Bags
	frames      *loader.ClipTable
	vocabulary  *text.Vocabulary
	missing     int // clips left out of all splits
}

// optional is set, nil for a split without clips.
func (j *clipJoin) optional(split string) (*loader.Set, error) {
	set, err := j.set(split)
	if errors.Is(err, annotation.ErrNoClips) {
		return nil, nil
	}
	return set, err
}

// set makes the set of a split. Clips without captions or frames are left out up to the limit on bad
// samples, which holds for all splits together.
func (j *clipJoin) set(split string) (*loader.Set, error) {
	c := j.config
	o := annotation.ClipOptions{Split: split, CaptionsPerSample: c.CaptionsPerSample, Has: j.frames.Has}
	if c.MaxBadSamples > 0 {
		o.LeftOut = func(clip string, err error) {
			j.missing++
			j.log.Warn("clip is left out", "clip", clip, "reason", err)
		}
	}
	set, err := j.annotations.ClipSet(j.vocabulary, o)
	if err != nil {
		return nil, err
	}
	if j.missing > c.MaxBadSamples {
		return nil, fmt.Errorf("%s: %d clips have no captions or no frames in %s; `data.max_bad_samples` allows %d",
			c.MSRVTT, j.missing, c.FramesDir, c.MaxBadSamples)
	}
	source, err := j.frames.Source(set.IDs)
	if err != nil {
		return nil, err
	}
	set.Source = source
	return set, nil
}
