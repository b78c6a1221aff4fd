package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/telemetry/tensorboard"
	"nmn/text"
	"nmn/train"
)

// Board writes a run for TensorBoard: loss, learning rate, gradient norm and speed of steps, the measures
// of validations with precision-recall curves over all words and for each part of speech, and the pictures
// of the validation set about which the net is most surely wrong.
type Board struct {
	writer     *tensorboard.Writer
	validation *loader.Set
	err        error // error of pictures
}

// OpenBoard starts an event file in a folder; step is as for OpenLog. validation may be nil.
func OpenBoard(dir string, step int, validation *loader.Set) (*Board, error) {
	w, err := tensorboard.Create(dir, step)
	if err != nil {
		return nil, err
	}
	return &Board{writer: w, validation: validation}, nil
}

// Flush writes the events that could not be written before, if any, and returns why it cannot.
func (b *Board) Flush() error { return b.writer.Flush() }

// Close closes the file. Training does not stop at an event that cannot be written; Close returns that error.
func (b *Board) Close() error { return cmp.Or(b.writer.Close(), b.err) }

// Observer writes every step that falls on the log interval, epochs and validations.
func (b *Board) Observer() train.Observer {
	return train.Observer{
		Step: func(e train.StepDone) {
			if !e.Log {
				return
			}
			b.writer.Scalar("train/loss", e.Step, e.Loss)
			b.writer.Scalar("train/learning_rate", e.Step, e.LearningRate)
			b.writer.Scalar("train/gradient_norm", e.Step, e.GradNorm)
			b.writer.Scalar("speed/images_per_s", e.Step, e.ImagesPerSecond())
			b.writer.Scalar("speed/data_wait_s", e.Step, e.DataWait.Seconds())
		},
		Epoch: func(e train.EpochDone) { b.writer.Scalar("train/epoch_loss", e.Step, e.Loss) },
		Evaluated: func(e train.Evaluated) {
			for _, name := range train.Measures() {
				b.writer.Scalar("validation/"+name, e.Step, float64(train.Measure(name, e.Result)))
			}
			if b.validation != nil && e.Scores != nil {
				b.scored(e.Step, e.Scores)
			}
		},
	}
}

// thresholds of precision-recall curves.
const thresholds = 201

// scored writes what needs the scores of the validation set.
func (b *Board) scored(step int, s *train.Scores) {
	y, truth := train.Answers(s, b.validation)
	kind := "observed labels"
	if truth {
		kind = "true labels"
	}
	k := b.validation.Vocabulary.Len()
	p := s.Prob.Float32s()
	curve := func(of string, holds func(i int) bool) {
		var ps []float32
		var ys []uint8
		for i := range p {
			if y[i] != loader.UnknownLabel && holds(i) {
				ps, ys = append(ps, p[i]), append(ys, y[i])
			}
		}
		b.writer.PRCurve("against "+kind+"/"+of, step, tensorboard.NewCurve(thresholds, ps, ys))
	}
	curve("all classes", func(int) bool { return true })
	for _, pos := range partsOfSpeech(b.validation.Vocabulary) {
		curve(pos.String(), func(i int) bool { return b.validation.Vocabulary.Word(i%k).POS == pos })
	}
	if b.validation.Preview() != nil && b.err == nil {
		b.err = b.pictures(step, s, y)
	}
}

// partsOfSpeech returns the parts of speech of a vocabulary that has more than one.
func partsOfSpeech(v *text.Vocabulary) []text.POS {
	var all []text.POS
	for i := range v.Len() {
		if pos := v.Word(i).POS; !slices.Contains(all, pos) {
			all = append(all, pos)
		}
	}
	if len(all) < 2 {
		return nil
	}
	slices.Sort(all)
	return all
}

const shownMistakes = 8

// pictures writes the pictures of the worst mistakes, by rank, so that a slider goes through the validations.
// A text of the same name describes each mistake.
func (b *Board) pictures(step int, s *train.Scores, answers []uint8) error {
	v := b.validation.Vocabulary
	var maker loader.Thumbnailer
	for n, m := range train.Surest(s.Logits.Float32s(), answers, v.Len(), train.Mistake, shownMistakes, 0) {
		bag := s.Index[m.Row]
		small, err := maker.Middle(context.Background(), b.validation.Preview(), bag)
		if err != nil {
			return fmt.Errorf("TensorBoard picture of %s: %w", b.validation.IDs[bag], err)
		}
		what := "made up"
		if answers[m.Row*v.Len()+m.Class] != 0 {
			what = "missed"
		}
		p := s.Prob.Float32s()[m.Row*v.Len()+m.Class]
		tag := fmt.Sprintf("surest mistakes/%d", n+1)
		b.writer.Image(tag, step, small.Width, small.Height, small.JPEG)
		b.writer.Text(tag, step, fmt.Sprintf("%s %s, p %.3f, %s", what, v.Word(m.Class).Text, p, b.validation.IDs[bag]))
	}
	return nil
}
