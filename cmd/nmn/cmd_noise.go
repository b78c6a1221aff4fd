package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/labels/inject"
	"nmn/loader/dataset"
	"nmn/run"
)

// noiseFlags are the flags of nmn noise.
type noiseFlags struct {
	inject.Plan
	output     string
	statistics string
	asJSON     bool
}

func newNoise(p *program) *cobra.Command {
	f := noiseFlags{Plan: inject.Plan{Kind: inject.Captions, Share: .4, Seed: 1}}
	var c run.Config
	s := newSources()
	cmd := &cobra.Command{
		Use:   "noise [DATA]",
		Short: "Draw label noise, write it to a file and tell its statistics",
		Long: `Draw label noise for the training pictures and write it to a file that --noise takes
and that can be shared: captions replaced by those of other pictures, as in the paper, or
labels flipped one by one. Statistics go to standard output: how many labels are missing
and incorrect, for each word.`,
		Example: `  nmn noise captions_train2014.json --images train2014 --vocab vocab.txt \
    --share 0.4 --seed 7 --output noise40.jsonl.gz --statistics noise40.csv
  nmn noise scenes --kind flips --missing 0.3 --incorrect 0.1 --output flips.jsonl`,
		Args: oneData(p),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags()); err != nil {
				return err
			}
			if err := cmp.Or(s.data(cmd.Context(), p, args), s.of().Resolve(&c)); err != nil {
				return err
			}
			c.Data.Noise, c.Data.NoiseFile, c.Data.Flips, c.Run.LabelMemory = 0, "", "", dataset.HoldAll
			data, err := c.OpenData(cmd.Context(), p.log)
			if err != nil {
				return err
			}
			defer data.Close()
			return drawNoise(cmd.Context(), p, f, data)
		},
	}
	r := under(cmd, "Noise")
	enum(r, &f.Kind, "kind", "`kind` of noise", inject.Captions, inject.Flips)
	r.float(&f.Share, "share", "captions: `share` of each picture's captions to replace")
	r.float(&f.Missing, "missing", "flips: `probability` that a label that holds goes missing")
	r.float(&f.Incorrect, "incorrect", "flips: `probability` that a label that does not hold is set")
	r.file(&f.RatesFile, "flip-rates", "flips: `file` with both for each word (word, q01, q10) instead", "csv")
	r.uint64(&f.Seed, "seed", "`seed` of the draws")
	out := under(cmd, "Output")
	out.file(&f.output, "output", "noise `file` to write, .jsonl or .jsonl.gz")
	out.file(&f.statistics, "statistics", "`file` for the statistics of each word, .csv or .json", "csv", "json")
	out.bool(&f.asJSON, "json", "write the statistics as JSON")
	sourceFlags(cmd, &s, run.Quick, run.Full)
	s.add(under(cmd, "Data"), "images", "labels", "vocab", "max-bad-samples")
	cmd.AddCommand(newNoiseReport(p))
	return cmd
}

// check refuses flags that the kind of noise does not have: the noise would be another than was meant.
func (f *noiseFlags) check(given *pflag.FlagSet) error {
	of := map[inject.Kind][]string{inject.Captions: {"share"}, inject.Flips: {"missing", "incorrect", "flip-rates"}}
	for kind, names := range of {
		for _, name := range names {
			if kind != f.Kind && given.Changed(name) {
				return usagef("noise: --%s belongs to --kind %s, not to %s", name, kind, f.Kind)
			}
		}
	}
	if f.Kind == inject.Flips && !given.Changed("missing") && !given.Changed("incorrect") && f.RatesFile == "" {
		return usagef("noise: --kind %s needs --missing, --incorrect or --flip-rates", f.Kind)
	}
	if f.RatesFile != "" && (given.Changed("missing") || given.Changed("incorrect")) {
		return usagef("noise: --flip-rates stands instead of --missing and --incorrect")
	}
	return nil
}

// drawNoise draws noise for the training split, and writes it with its statistics.
func drawNoise(ctx context.Context, p *program, f noiseFlags, data *dataset.Splits) error {
	drawn, err := f.Draw(data.Train)
	if err != nil {
		return err
	}
	noisy, err := drawn.Apply(data.Train)
	if err != nil {
		return err
	}
	s, err := inject.Measure(ctx, data.Train, noisy)
	if err != nil {
		return err
	}
	if f.output != "" {
		if err := drawn.WriteFile(f.output); err != nil {
			return err
		}
		p.log.Info("noise written", "file", f.output, "changed_"+data.Train.Noun(), len(drawn.Changes))
	}
	if f.statistics != "" {
		if err := s.WriteFile(f.statistics); err != nil {
			return err
		}
	}
	if f.asJSON {
		return s.WriteJSON(p.out)
	}
	return s.WriteText(p.out, data.Train.Noun())
}
