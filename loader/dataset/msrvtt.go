package dataset

import (
	"context"
	"errors"
	"fmt"

	"nmn/loader"
	"nmn/loader/annotation"
)

// MSRVTTConfig names the annotations of the clips, and a folder of their frames.
type MSRVTTConfig struct {
	MSRVTT    string `yaml:"msrvtt,omitempty" help:"MSR-VTT: annotation <file>, or the zip archive that contains it"`
	FramesDir string `yaml:"frames_dir,omitempty" help:"MSR-VTT: <folder> of frames, written by nmn frames"`
}

// openMSRVTT joins the annotations of clips with their frames. Training clips come from the split train,
// validation clips from validate or from lists of identifiers, and test clips from test, if the file has any.
func (d *Splits) openMSRVTT(ctx context.Context, c *Config) error {
	annotations, err := annotation.ReadForm(ctx, c.MSRVTT, annotation.FormMSRVTT)
	if err != nil {
		return whereItStarted(err, c.MSRVTT)
	}
	logCaptions(d.options.Log, annotations)
	vocabulary, err := openVocabulary(c, annotations.Split(loader.TrainSplit).Texts(c.CaptionsPerSample))
	if err != nil {
		return err
	}
	clips, err := d.openFrames("data.frames_dir", c.FramesDir)
	if err != nil {
		return err
	}
	frames, err := clips.Table()
	if err != nil {
		return err
	}
	missing := 0 // clips without captions or frames, which are left out up to a limit for all splits together
	o := annotation.ClipOptions{CaptionsPerSample: c.CaptionsPerSample, Has: frames.Has}
	if c.MaxBadSamples > 0 {
		o.LeftOut = func(clip string, err error) {
			missing++
			d.options.Log.Warn("clip is left out", "clip", clip, "reason", err)
		}
	}
	for _, part := range d.parts() {
		o.Split = part.split
		set, err := annotations.ClipSet(vocabulary, o)
		if errors.Is(err, annotation.ErrNoClips) && part.split != loader.TrainSplit {
			continue
		}
		if err != nil {
			return err
		}
		if missing > c.MaxBadSamples {
			return fmt.Errorf("%s: %d clips have no captions or no frames in %s; `data.max_bad_samples` allows %d",
				c.MSRVTT, missing, c.FramesDir, c.MaxBadSamples)
		}
		if set.Source, err = frames.Source(set.IDs); err != nil {
			return err
		}
		*part.to = set
	}
	if d.Validation != nil && c.lists() {
		whole := d.Validation
		d.Validation = nil
		_, err = d.listed(ctx, c, whole)
	}
	return err
}
