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
		Short: "Measure how fast captions that belong to other bags are found",
		Long: `Measure how fast captions that belong to other bags are found, and how well: a share of the captions
of each bag is replaced by captions of other bags. Captions are generated, with words as frequent as in real
ones and topics that those of a bag have in common, or read from a file, whose most frequent words are the
vocabulary. Time counts from where captions and scores are in memory; memory is that of the program.`,
		Example: `  nmn bench witness --threads 1
  nmn bench witness --bags 7010 --captions-per-bag 20 --json
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
	r.file(&c.file, "captions", "caption `file` of COCO or MSR-VTT, instead of generated ones", "json", "gz", "zip")
	r.int(&c.bags, "bags", "`bags` (default 82783; of a file all)")
	r.int(&c.perBag, "captions-per-bag", "`captions` of each bag (default 5, of MSR-VTT's file 20)")
	r.int(&c.words, "words", "`words` of the vocabulary")
	r.float(&c.replaced, "replaced", "`share` of each bag's captions that are replaced")
	r.bool(&c.scores, "with-scores", "generate scores of a classifier too")
	r.uint64(&c.seed, "seed", "`number` that draws captions and what replaces them")
	m := under(cmd, "Measurement")
	m.int(&c.options.Repeats, "repeats", "measured `runs`")
	m.int(&c.options.Warmup, "warmup", "`runs` before them")
	m.int(&c.options.Threads, "threads", "`goroutines` that compute; 0 for one on each processor")
	m.bool(&c.asJSON, "json", "write JSON")
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
		return fmt.Errorf("bench: --bags and --captions-per-bag are at least 1")
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
