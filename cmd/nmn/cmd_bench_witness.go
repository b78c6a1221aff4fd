package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"nmn/bench/measure"
)

// witnessCommand are the flags of nmn bench witness.
type witnessCommand struct {
	file            string
	bags, perBag    int
	words           int
	replaced        float64
	scores          bool
	seed            uint64
	options         measure.Options
	asJSON, ofAFile bool
}

func newBenchWitness(p *program) *cobra.Command {
	c := &witnessCommand{words: 1000, replaced: .4, options: measure.Options{Repeats: 1}}
	cmd := &cobra.Command{
		Use:   "witness",
		Short: "Measure how fast misplaced captions are found",
		Long: `Measure how fast, and how well, captions that belong to other pictures are found, after a share of
captions has been replaced. Captions are generated or read from a file.`,
		Annotations: details(`Generated captions have realistic word frequencies, and the captions of a picture share topics. The
vocabulary of a file is its most frequent words. Time starts when captions and scores are in
memory. Memory is the memory of the whole program.`),
		Example: `  nmn bench witness --threads 1
  nmn bench witness --samples 7010 --captions-per-sample 20 --json
  nmn bench witness --captions captions_train2014.json --replaced 0.4`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.ofAFile = cmd.Flags().Changed("captions")
			if err := c.validate(); err != nil {
				return usageError{err}
			}
			return c.run(cmd.Context(), p)
		},
	}
	r := under(cmd, "Captions")
	r.file(&c.file, "captions", "read captions from this `file` of COCO or MSR-VTT", "json", "gz", "zip")
	r.int(&c.bags, "samples", "use this many `pictures` (default 82783, or all of a file)")
	r.int(&c.perBag, "captions-per-sample", "use this many `captions` of each picture")
	r.int(&c.words, "words", "use a vocabulary of this many `words`")
	r.float(&c.replaced, "replaced", "replace this `share` of each picture's captions")
	r.bool(&c.scores, "with-scores", "also generate scores of a classifier")
	r.uint64(&c.seed, "seed", "draw captions from this `seed`")
	m := under(cmd, "Measurement")
	m.int(&c.options.Repeats, "repeats", "measure this many `runs`")
	m.int(&c.options.Warmup, "warmup", "run this many unmeasured `runs` first")
	m.int(&c.options.Threads, "threads", "compute with this many `goroutines`")
	m.bool(&c.asJSON, "json", "print JSON")
	return cmd
}

func (c *witnessCommand) validate() error {
	const most = 1_000_000
	o := &c.options
	switch {
	case o.Repeats < 1 || o.Repeats > most || o.Warmup < 0 || o.Warmup > most:
		return fmt.Errorf("bench: --repeats is 1 to %d, --warmup 0 to %d", most, most)
	case o.Threads < 0:
		return fmt.Errorf("bench: --threads is %d, want at least 0", o.Threads)
	case c.bags < 0 || c.perBag < 0:
		return fmt.Errorf("bench: --samples and --captions-per-sample are at least 1")
	case c.ofAFile && c.scores:
		return fmt.Errorf("bench: --with-scores is for generated captions: leave it out, or --captions")
	}
	if c.ofAFile {
		return c.captionFile().Validate()
	}
	return c.generated().Validate()
}

func (c *witnessCommand) captionFile() *measure.CaptionFile {
	return &measure.CaptionFile{File: c.file, Bags: c.bags, PerBag: c.perBag, Words: c.words, Replaced: c.replaced,
		Seed: c.seed}
}

func (c *witnessCommand) generated() *measure.GeneratedCaptions {
	return &measure.GeneratedCaptions{Bags: cmp.Or(c.bags, 82783), PerBag: cmp.Or(c.perBag, 5), Words: c.words,
		Replaced: c.replaced, Scores: c.scores, Seed: c.seed}
}

func (c *witnessCommand) run(ctx context.Context, p *program) error {
	captions, err := c.captions(ctx)
	if err != nil {
		return err
	}
	f, err := measure.Witness(ctx, captions, c.options)
	if err != nil {
		return err
	}
	if c.asJSON {
		return writeJSON(p.out, f)
	}
	_, err = io.WriteString(p.out, f.String())
	return err
}

func (c *witnessCommand) captions(ctx context.Context) (*measure.Captions, error) {
	if c.ofAFile {
		return c.captionFile().Read(ctx)
	}
	return c.generated().Make(), nil
}
