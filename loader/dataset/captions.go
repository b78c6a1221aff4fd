package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/text"
)

// CaptionConfig names the files of COCO. Without validation captions, shares of the training pictures are held out.
type CaptionConfig struct {
	Captions    string `yaml:"captions" help:"caption <file> of the training pictures"`
	ValCaptions string `yaml:"val_captions" help:"caption <file> of validation and test pictures"`
	ValImages   string `yaml:"val_images" help:"<folder> of validation and test pictures; empty for data.images"`
}

// openCaptions reads files of captions. Words that are not in the vocabulary of the training captions are
// no labels anywhere. Validation captions are split by lists of identifiers, else in two halves.
func (d *Splits) openCaptions(ctx context.Context, c *Config) error {
	whole, err := d.captionSet(ctx, c, c.Captions, "data.", cmp.Or(c.Images, folderOf(c.Captions)), nil)
	if err != nil {
		return whereItStarted(err, c.Captions)
	}
	if folderOf(c.Captions) != "" {
		d.Labels = fmt.Sprintf("labels: %d words of %s", whole.Vocabulary.Len(), captionTexts)
	}
	if c.ValCaptions == "" {
		return d.holdOut(ctx, c, whole)
	}
	d.Train = whole
	whole, err = d.captionSet(ctx, c, c.ValCaptions, "data.val_",
		cmp.Or(c.ValImages, folderOf(c.ValCaptions), c.Images), whole.Vocabulary)
	switch {
	case err != nil:
	case c.lists():
		_, err = d.listed(ctx, c, whole)
	default:
		d.Validation, d.Test, err = loader.SplitHalves(whole, c.Seed)
	}
	return err
}

// folderOf returns the folder of pictures with text files that captions are, else nothing.
func folderOf(captions string) string {
	if loader.IsFolder(captions) {
		return captions
	}
	return ""
}

// captionSet joins a file of captions with the pictures of a folder, which are settings that begin with a prefix.
// Pictures whose file is missing are left out up to the limit on bad samples. Without a vocabulary it takes the
// configured one, or one of the captions.
func (d *Splits) captionSet(ctx context.Context, c *Config, file, prefix, folder string,
	v *text.Vocabulary) (*loader.Set, error) {
	captions, err := annotation.ReadBags(ctx, file)
	if err != nil {
		return nil, err
	}
	logCaptions(d.options.Log, captions)
	if captions.Form == annotation.FormMSRVTT {
		return nil, setting.Errorf("data.captions", "%s: annotations of MSR-VTT, whose bags are clips: name them with "+
			"`data.msrvtt` and the frames with `data.frames_dir`", file)
	}
	if v == nil {
		if v, err = openVocabulary(c, captions.Texts(c.CaptionsPerSample)); err != nil {
			return nil, fmt.Errorf("captions %q: %w", captions.Name, err)
		}
	}
	missing := 0
	o := annotation.SetOptions{CaptionsPerSample: c.CaptionsPerSample, Images: folder}
	if c.MaxBadSamples > 0 {
		o.Missing = func(file string) {
			missing++
			d.options.Log.Warn("picture is missing", "file", file)
		}
	}
	set, files, err := captions.Set(v, o)
	if err != nil {
		return nil, err
	}
	if missing > c.MaxBadSamples {
		return nil, fmt.Errorf("%s: %d pictures have no file in %s; `data.max_bad_samples` allows %d", captions.Name,
			missing, folder, c.MaxBadSamples)
	}
	if set.Source, err = loader.NewFileSource(folder, files); err != nil {
		return nil, err
	}
	d.readFolder(prefix+"images", folder, files)
	texts := loader.IsFolder(file)
	for i, id := range set.IDs {
		d.captionPictures[id] = PictureFile{Folder: folder, Name: files[i]}
		if texts {
			d.readFolder(prefix+"captions", file, []string{annotation.TextFile(id)})
		}
	}
	return set, nil
}

// PictureFile is where the picture of a bag lies.
type PictureFile struct{ Folder, Name string }

// PictureFile returns the picture of a bag with captions; ok is false for other data.
func (d *Splits) PictureFile(id string) (file PictureFile, ok bool) {
	file, ok = d.captionPictures[id]
	return file, ok
}

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
