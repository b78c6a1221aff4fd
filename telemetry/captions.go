package telemetry

import (
	"log/slog"
	"strconv"

	"nmn/captioning"
	"nmn/eval/caption"
)

// CaptionSummaryColumns are those of the summary of a captioner: one row for each epoch and each
// validation. Losses of an epoch are means over its captions and over its words, in nats.
func CaptionSummaryColumns() []string {
	return []string{"event", "step", "epoch", "loss", "word_loss", "captions", "words", "duration_s", "best", "cider_d",
		"bleu_4", "rouge_l", "meteor"}
}

// OpenCaptionSummary is OpenSummary for a captioner.
func OpenCaptionSummary(path string, step int) (*Summary, error) {
	return openSummary(path, CaptionSummaryColumns(), step)
}

// CaptionObserver adds a row for each epoch and validation of a captioner. scores are those of the last
// validation.
func (s *Summary) CaptionObserver(scores func() caption.Scores) captioning.Observer {
	return captioning.Observer{
		Epoch: func(e captioning.EpochDone) {
			s.add([]string{"epoch", strconv.Itoa(e.Step), strconv.Itoa(e.Epoch), decimal(e.Loss), decimal(e.WordLoss),
				strconv.Itoa(e.Captions), strconv.Itoa(e.Words), decimal(e.Duration.Seconds())})
		},
		Evaluated: func(e captioning.Evaluated) {
			of := scores()
			s.add([]string{"validation", strconv.Itoa(e.Step), strconv.Itoa(e.Epoch), "", "", "", "",
				decimal(e.Duration.Seconds()), strconv.FormatBool(e.Best),
				decimal(e.CIDEr), decimal(of.BLEU[3]), decimal(of.ROUGEL), decimal(of.METEOR)})
		},
		Saved: s.saved,
	}
}

// LogCaptionsTo writes the events of a captioner's training to a logger.
func LogCaptionsTo(logger *slog.Logger) captioning.Observer {
	return captioning.Observer{
		Step: func(e captioning.StepDone) {
			if e.Log {
				logger.Info("step", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
					slog.Float64("word_loss", e.WordLoss()),
					slog.Float64("lr", e.LearningRate), slog.Float64("grad_norm", e.GradNorm),
					slog.Int("captions", e.Captions), slog.Int("words", e.Words),
					slog.Float64("data_wait_ms", milliseconds(e.DataWait)),
					slog.Float64("step_ms", milliseconds(e.Duration)), slog.Int("device_bytes", e.DeviceBytes))
			}
		},
		Epoch: func(e captioning.EpochDone) {
			logger.Info("epoch", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
				slog.Float64("word_loss", e.WordLoss),
				slog.Int("captions", e.Captions), slog.Int("words", e.Words),
				slog.Float64("epoch_ms", milliseconds(e.Duration)))
		},
		Evaluated: func(e captioning.Evaluated) {
			logger.Info("validation", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch),
				slog.Float64("cider_d", e.CIDEr), slog.Bool("best", e.Best),
				slog.Float64("validation_ms", milliseconds(e.Duration)))
		},
		Saved:   logSaved(logger),
		Unsaved: logUnsaved(logger),
	}
}
