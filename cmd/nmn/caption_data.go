package main

import (
	"errors"
	"fmt"
	"iter"

	"nmn/captioning"
)

// openData reads words and captions and opens features; closeData closes these, after an error too.
func (r *captionRun) openData() error {
	d := &r.config.Data
	captions, err := readClipCaptions(d.Train.Captions, d.Train.Split)
	if err != nil {
		return err
	}
	features, err := r.openFeatures(d.Train)
	if err != nil {
		return err
	}
	held := map[string]bool{}
	if d.Validation.Features == "" {
		held = heldOut(captions.IDs, d.ValidationShare, d.Seed)
	}
	if err := r.makeWords(captioning.Texts(features, captions, held)); err != nil {
		return err
	}
	whole, err := joinTold(r.program, "training clips", features, captions, r.words, captioning.JoinOptions{Partial: d.Partial, MaxWords: d.MaxWords})
	if err != nil {
		return err
	}
	if r.train, r.validation = divide(whole, held); r.train == nil {
		return errors.New("no clip is left to train on: lower --validation-share")
	}
	if d.Validation.Features != "" {
		if err := r.openValidation(); err != nil {
			return err
		}
	}
	r.program.note("clips   %d with %d captions, %d frames of %d features; %d words",
		r.train.Clips(), r.train.Pairs(), r.train.Frames(), r.train.Width(), r.words.AtLeast(0))
	return nil
}

// openFeatures opens a file that closeData closes.
func (r *captionRun) openFeatures(c clipFiles) (*captioning.FrameFile, error) {
	f, err := c.open()
	if err == nil {
		r.features = append(r.features, f)
	}
	return f, err
}

func (r *captionRun) closeData() error {
	var err error
	for _, f := range r.features {
		err = errors.Join(err, f.Close())
	}
	return err
}

// openValidation opens the clips to judge by, whose frames must be like those of training.
func (r *captionRun) openValidation() error {
	v := r.config.Data.Validation
	v.Array = r.config.Data.Train.Array
	if v.Captions == "" {
		v.Captions = r.config.Data.Train.Captions
	}
	features, err := r.openFeatures(v)
	if err != nil {
		return err
	}
	captions, err := readClipCaptions(v.Captions, v.Split)
	if err != nil {
		return err
	}
	if err := captioning.Fit(features, r.train.Frames(), r.train.Width(), true); err != nil {
		return fmt.Errorf("validation clips: %w", err)
	}
	r.validation, err = joinTold(r.program, "validation clips", features, captions, r.words, captioning.JoinOptions{Partial: r.config.Data.Partial})
	return err
}

// divide takes the clips that are held out; a part without clips is nil.
func divide(whole *captioning.Set, held map[string]bool) (rest, out *captioning.Set) {
	var parts [2][]int
	for clip := range whole.Clips() {
		part := 0
		if held[whole.ID(clip)] {
			part = 1
		}
		parts[part] = append(parts[part], clip)
	}
	if len(parts[0]) > 0 {
		rest = whole.Subset(parts[0])
	}
	if len(parts[1]) > 0 {
		out = whole.Subset(parts[1])
	}
	return rest, out
}

// makeWords reads the vocabulary that is named, or makes one of the captions that are learned.
func (r *captionRun) makeWords(learned iter.Seq[string]) (err error) {
	if file := r.config.Data.Vocabulary; file != "" {
		r.words, err = captioning.ReadWords(file)
		return err
	}
	var counted captioning.Counted
	r.words, counted, err = captioning.BuildWords(learned, r.config.Words)
	switch {
	case counted.Captions == 0:
		return errors.New("no clip with features has captions to learn: do --features and --captions name clips alike, and belong to one split?")
	case err != nil:
		return err
	}
	if counted.TooLong > 0 && !r.program.quiet {
		fmt.Fprintf(r.program.status, "words   %v\n", counted)
	} else {
		r.program.note("words   %d of %v", r.words.AtLeast(0), counted)
	}
	return nil
}
