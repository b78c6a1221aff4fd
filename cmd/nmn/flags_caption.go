package main

import (
	"strings"

	"github.com/spf13/cobra"

	"nmn/captioner/session"
)

// searchFlags declare how captions are looked for.
func searchFlags(r group, s *session.Search) {
	r.int(&s.Beam, "beam", "`hypotheses` of a clip that are followed; 1 takes the likeliest word at each step")
	r.float(&s.LengthPenalty, "length-penalty",
		"`power` of the length that log-probabilities are divided by before they are compared; "+
			"0 favours short captions, 1 compares means over words")
	r.int(&s.MaxLength, "max-length", "most `words` of a generated caption")
	r.int(&s.Batch, "generate-batch", "`clips` captioned at a time. Captions do not depend on it")
}

// captionerKeys are the keys of the settings of a captioner that have a flag.
var captionerKeys = map[string]string{
	"features": "data.train.features", "clips": "data.train.clips", "captions": "data.train.captions",
	"val-features": "data.validation.features", "val-clips": "data.validation.clips",
	"val-captions": "data.validation.captions", "vocab": "data.vocabulary", "partial": "data.partial",
	"epochs": "train.epochs", "batch-size": "train.batch", "learning-rate": "train.learning_rate", "seed": "train.seed",
	"device": "device", "threads": "threads",
}

// addCaptioner declares flags of a captioner's settings under a heading.
func (s *settings) addCaptioner(r group, flags ...string) {
	for _, flag := range flags {
		s.flag(r, flag, captionerKeys[flag])
	}
}

// captionerFlags declare the settings of a captioner that have a flag, and --set for all.
func captionerFlags(cmd *cobra.Command, s *settings) {
	setFlags(under(cmd, "Configuration"), s)
	s.addCaptioner(under(cmd, "Clips"), "features", "clips", "captions", "val-features", "val-clips",
		"val-captions", "vocab",
		"partial")
	s.addCaptioner(under(cmd, "Training"), "epochs", "batch-size", "learning-rate", "seed")
	s.addCaptioner(under(cmd, "Run"), "device", "threads")
}

// apply lays the settings over a configuration that is no run's.
func (s *settings) apply(config any) error {
	for _, one := range s.given {
		if err := one.Apply(config); err != nil {
			return err
		}
	}
	return nil
}

// featureEndings are those of files of features.
var featureEndings = []string{"npy", "npz", "safetensors", "csv", "parquet"}

// clipFeatureFlags declare what names features; prefix tells those of one split from another.
func clipFeatureFlags(r group, f *session.ClipFiles, prefix, of string) {
	r.file(&f.Features, prefix+"features",
		"`file` of features"+of+", as nmn extract writes it: a row for each frame, or for each clip", featureEndings...)
	r.file(&f.Clips, prefix+"clips",
		"`file` of the rows of each clip, as nmn extract --per-frame --output-clips writes it", "csv")
	r.file(&f.IDs, prefix+"ids", "`file` of identifiers where each row is a clip, a line each", "txt")
	r.int(&f.PerRow, prefix+"frames-per-row", "`frames` that a row has behind each other, where each row is a clip")
}

// needFiles says which of the flags that name clips are missing.
func needFiles(cmd *cobra.Command, flags ...string) error {
	var missing []string
	for _, flag := range flags {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Value.String() == "" {
			missing = append(missing, "--"+flag)
		}
	}
	if len(missing) > 0 {
		return usagef("%s: give %s", commandName(cmd), strings.Join(missing, " and "))
	}
	return nil
}
