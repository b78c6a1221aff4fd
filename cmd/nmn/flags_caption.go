package main

import (
	"strings"

	"github.com/spf13/cobra"

	"nmn/captioner/session"
)

// searchFlags declares the flags of the search for captions.
func searchFlags(r group, s *session.Search) {
	r.int(&s.Beam, "beam", "follow this many `hypotheses`; 1 is greedy")
	r.float(&s.LengthPenalty, "length-penalty",
		"divide log-probabilities by this `power` of the length")
	r.int(&s.MaxLength, "max-length", "generate at most this many `words`")
	r.int(&s.Batch, "generate-batch", "caption this many `clips` at once")
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

// captionerFlags declares --set and the flags of common captioner settings.
func captionerFlags(cmd *cobra.Command, s *settings) {
	setFlags(under(cmd, "Configuration"), s)
	s.addCaptioner(under(cmd, "Clips"), "features", "clips", "captions", "val-features", "val-clips",
		"val-captions", "vocab",
		"partial")
	s.addCaptioner(under(cmd, "Training"), "epochs", "batch-size", "learning-rate", "seed")
	s.addCaptioner(under(cmd, "Run"), "device", "threads")
}

// apply applies the settings to a configuration.
func (s *settings) apply(config any) error {
	for _, one := range s.given {
		if err := one.Apply(config); err != nil {
			return err
		}
	}
	return nil
}

// featureEndings are the endings of files of features.
var featureEndings = []string{"npy", "npz", "safetensors", "csv", "parquet"}

// clipFeatureFlags declares the files of features of a split. prefix begins the names of the flags.
func clipFeatureFlags(r group, f *session.ClipFiles, prefix, of string) {
	r.file(&f.Features, prefix+"features",
		"read features"+of+" from this `file` of nmn extract", featureEndings...)
	r.file(&f.Clips, prefix+"clips",
		"read the rows of each clip from this `file`", "csv")
	r.file(&f.IDs, prefix+"ids", "read clip identifiers from this `file` if rows are clips", "txt")
	r.int(&f.PerRow, prefix+"frames-per-row", "split each row into this many `frames`")
}

// needFiles returns a mistake in usage that lists the flags without a file.
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
