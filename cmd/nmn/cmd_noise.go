package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/labels/inject"
	"nmn/loader/dataset"
	"nmn/run"
)

type noiseFlags struct {
	inject.Plan
	output     string
	statistics string
	asJSON     bool
}

func newNoise(p *program) *cobra.Command {
	f := noiseFlags{Plan: inject.Plan{Kind: inject.Uniform, Share: .4, Seed: 1}}
	var c run.Config
	s := newSources()
	cmd := &cobra.Command{
		Use:   "noise [DATA]",
		Short: "Draw label noise and write it to a file",
		Long: `Draw label noise for the training pictures: replaced captions or flipped labels.
The file can be shared, and --noise takes it.`,
		Annotations: details(`Statistics go to standard output: the number of missing and incorrect labels, for each label.
--share replaces captions. --kind uniform replaces this share of each picture's captions, each by
a caption of any other picture. similar takes captions of similar pictures, and pair takes them
from one picture. uneven lets the share differ by picture, content by what the picture's captions
mention, and shift gives this share of pictures all captions of the next one. With --kind flips,
--missing, --incorrect or --flip-rates flip labels.`),
		Example: `  nmn noise captions_train2014.json --images train2014 --vocab vocab.txt \
    --share 0.4 --seed 7 --output noise40.jsonl.gz --statistics noise40.csv
  nmn noise scenes --kind flips --missing 0.3 --incorrect 0.1 --output flips.jsonl`,
		Args: oneData(p),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := cmp.Or(s.data(cmd.Context(), p, args), s.of().Resolve(&c)); err != nil {
				return err
			}
			c.Data.Noise, c.Data.NoiseFile, c.Data.Flips, c.Run.LabelMemory = 0, "", "", dataset.HoldAll
			data, err := c.OpenData(cmd.Context(), dataset.Options{Log: p.log})
			if err != nil {
				return err
			}
			defer data.Close()
			return drawNoise(cmd.Context(), p, f, data)
		},
	}
	r := under(cmd, "Noise")
	enum(r, &f.Kind, "kind", "draw this `kind` of noise", append(inject.CaptionKinds(), inject.Flips)...)
	r.float(&f.Share, "share", "replace this `share` of captions")
	r.float(&f.Missing, "missing", "remove true labels with this `probability`")
	r.float(&f.Incorrect, "incorrect", "add false labels with this `probability`")
	r.file(&f.RatesFile, "flip-rates", "take both probabilities of each label from this `file`", "csv")
	r.uint64(&f.Seed, "seed", "draw from this `seed`")
	out := under(cmd, "Output")
	out.file(&f.output, "output", "write the noise to this `file`: .jsonl or .jsonl.gz")
	out.file(&f.statistics, "statistics", "write the statistics to this `file`: .csv or .json", "csv", "json")
	out.bool(&f.asJSON, "json", "print the statistics as JSON")
	sourceFlags(cmd, &s, run.Quick, run.Full)
	s.add(under(cmd, "Data"), "images", "labels", "vocab", "max-bad-samples")
	cmd.AddCommand(newNoiseReport(p))
	return cmd
}

// check refuses flags of the other kind of noise.
func (f *noiseFlags) check(cmd *cobra.Command) error {
	if f.Kind != inject.Flips {
		return refuse(cmd, fmt.Sprintf("belongs to --kind %s, not to %s", inject.Flips, f.Kind), "missing", "incorrect",
			"flip-rates")
	}
	if err := refuse(cmd, fmt.Sprintf("belongs to --kind %s, not to %s", setting.Alternatives(inject.CaptionKinds()),
		f.Kind), "share"); err != nil {
		return err
	}
	given := cmd.Flags().Changed("missing") || cmd.Flags().Changed("incorrect")
	switch {
	case !given && f.RatesFile == "":
		return usagef("noise: --kind %s needs --missing, --incorrect or --flip-rates", f.Kind)
	case given && f.RatesFile != "":
		return usagef("noise: --flip-rates replaces --missing and --incorrect: leave them out")
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
		p.log.Info("noise written", "file", f.output, "changed_"+data.Train.Noun().String(), len(drawn.Changes))
	}
	if err := writeTo(f.statistics, s.WriteFile); err != nil {
		return err
	}
	if f.asJSON {
		return s.WriteJSON(p.out)
	}
	return s.WriteText(p.out, data.Train.Noun())
}
