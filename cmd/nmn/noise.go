package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/noise"
	"nmn/run"
)

type noiseFlags struct {
	kind       noise.Kind
	rate       float64
	missing    float64
	incorrect  float64
	rates      string
	seed       uint64
	output     string
	statistics string
	asJSON     bool
}

func newNoise(p *program) *cobra.Command {
	f := noiseFlags{kind: noise.Captions, rate: .4, seed: 1}
	c := run.DefaultConfig()
	var s sources
	cmd := &cobra.Command{
		Use:   "noise",
		Short: "Draw label noise, write it to a file and tell its statistics",
		Long: `Draw label noise for the training pictures and write it to a file that --noise takes
and that can be shared: captions replaced by those of other pictures, as in the paper, or
labels flipped one by one. Statistics go to standard output: how many labels are missing
and incorrect, for each word.`,
		Example: `  nmn noise --captions captions_train2014.json --images train2014 --vocab vocab.txt \
    --rate 0.4 --seed 7 --output noise40.jsonl.gz --statistics noise40.csv
  nmn noise --preset scenes --kind flips --missing 0.3 --incorrect 0.1 --output flips.jsonl`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags()); err != nil {
				return err
			}
			if err := s.resolve(cmd.Flags(), &c); err != nil {
				return err
			}
			if s.print {
				return printConfig(p, &c)
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
	enum(r, &f.kind, "kind", "`kind` of noise", noise.Captions, noise.Flips)
	r.float(&f.rate, "rate", "captions: `share` of each picture's captions to replace")
	r.float(&f.missing, "missing", "flips: `probability` that a label that holds goes missing")
	r.float(&f.incorrect, "incorrect", "flips: `probability` that a label that does not hold is set")
	r.file(&f.rates, "flip-rates", "flips: `file` with both for each word (word, q01, q10) instead", "csv")
	r.uint64(&f.seed, "seed", "`seed` of the draws")
	out := under(cmd, "Output")
	out.file(&f.output, "output", "noise `file` to write, .jsonl or .jsonl.gz")
	out.file(&f.statistics, "statistics", "`file` for the statistics of each word, .csv or .json", "csv", "json")
	out.bool(&f.asJSON, "json", "write the statistics as JSON")
	sourceFlags(cmd, &s, run.Quick, run.Full)
	setFlags(cmd, &c)
	featureDataFlags(cmd, &c, true)
	cmd.AddCommand(newNoiseReport(p))
	return cmd
}

// check refuses flags that the kind of noise does not have: the noise would be another than was meant.
func (f *noiseFlags) check(given *pflag.FlagSet) error {
	of := map[noise.Kind][]string{noise.Captions: {"rate"}, noise.Flips: {"missing", "incorrect", "flip-rates"}}
	for kind, names := range of {
		for _, name := range names {
			if kind != f.kind && given.Changed(name) {
				return usagef("noise: --%s belongs to --kind %s, not to %s", name, kind, f.kind)
			}
		}
	}
	if f.kind == noise.Flips && !given.Changed("missing") && !given.Changed("incorrect") && f.rates == "" {
		return usagef("noise: --kind %s needs --missing, --incorrect or --flip-rates", f.kind)
	}
	if f.rates != "" && (given.Changed("missing") || given.Changed("incorrect")) {
		return usagef("noise: --flip-rates stands instead of --missing and --incorrect")
	}
	return nil
}

func drawNoise(ctx context.Context, p *program, f noiseFlags, data *dataset.Splits) error {
	drawn, err := f.draw(data.Train)
	if err != nil {
		return err
	}
	noisy, err := drawn.Apply(data.Train)
	if err != nil {
		return err
	}
	s, err := noise.Measure(ctx, data.Train, noisy)
	if err != nil {
		return err
	}
	if f.output != "" {
		if err := drawn.WriteFile(f.output); err != nil {
			return err
		}
		p.log.Info("noise written", "file", f.output, "changed_"+dataset.Noun(data.Train), len(drawn.Changes))
	}
	if f.statistics != "" {
		if err := s.WriteFile(f.statistics); err != nil {
			return err
		}
	}
	if f.asJSON {
		return s.WriteJSON(p.out)
	}
	_, err = fmt.Fprintf(p.out, "%s, %d %s, %d words, against the %s:\n"+
		"  missing labels    q01 = p(z=0|y=1)  %5.1f %%\n"+
		"  incorrect labels  q10 = p(z=1|y=0)  %5.1f %%\n"+
		"  of the labels that are set, %.1f %% are incorrect\n(means over words)\n",
		s.Set, s.Bags, dataset.Noun(data.Train), len(s.Classes), s.Reference, 100*float64(s.Mean.Q01), 100*float64(s.Mean.Q10), 100*float64(s.Mean.Wrong))
	return err
}

func (f *noiseFlags) draw(set *loader.Set) (*noise.Injection, error) {
	if f.kind == noise.Captions {
		n, err := noise.CaptionsForRate(set, f.rate)
		if err != nil {
			return nil, usageError{err}
		}
		return noise.ReplaceCaptions(set, n, f.seed)
	}
	rates := noise.UniformRates(f.missing, f.incorrect)
	if f.rates != "" {
		var err error
		if rates, err = noise.ReadFlipRates(f.rates, set.Vocabulary); err != nil {
			return nil, err
		}
	}
	if err := noise.CheckFlipRates(rates, set.Vocabulary.Len()); err != nil {
		return nil, usageError{err}
	}
	return noise.FlipLabels(set, rates, f.seed)
}
