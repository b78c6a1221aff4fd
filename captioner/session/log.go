package session

import (
	"log/slog"

	"nmn/captioner"
	"nmn/telemetry"
)

// LogTo writes the events of a captioner's training to a logger.
func LogTo(logger *slog.Logger) captioner.Observer {
	checkpoints := telemetry.LogTo(logger)
	return captioner.Observer{
		Step: func(e captioner.StepDone) {
			if e.Log {
				logger.Info("step", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
					slog.Float64("word_loss", e.WordLoss()),
					slog.Float64("lr", e.LearningRate), slog.Float64("grad_norm", e.GradNorm),
					slog.Int("captions", e.Captions), slog.Int("words", e.Words),
					slog.Float64("data_wait_ms", telemetry.Milliseconds(e.DataWait)),
					slog.Float64("step_ms", telemetry.Milliseconds(e.Duration)), slog.Int("device_bytes", e.DeviceBytes))
			}
		},
		Epoch: func(e captioner.EpochDone) {
			logger.Info("epoch", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch), slog.Float64("loss", e.Loss),
				slog.Float64("word_loss", e.WordLoss),
				slog.Int("captions", e.Captions), slog.Int("words", e.Words),
				slog.Float64("epoch_ms", telemetry.Milliseconds(e.Duration)))
		},
		Evaluated: func(e captioner.Evaluated) {
			logger.Info("validation", slog.Int("step", e.Step), slog.Int("epoch", e.Epoch),
				slog.Float64("cider_d", e.Scores.CIDErD), slog.Float64("bleu_4", e.Scores.BLEU[3]),
				slog.Float64("rouge_l", e.Scores.ROUGEL), slog.Float64("meteor", e.Scores.METEOR), slog.Bool("best", e.Best),
				slog.Float64("validation_ms", telemetry.Milliseconds(e.Duration)))
		},
		Saved:   checkpoints.Saved,
		Unsaved: checkpoints.Unsaved,
	}
}
