package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"nmn/captioner"
	"nmn/captioner/session"
	"nmn/run"
	"nmn/text"
)

type captionGenerate struct {
	model      string
	checkpoint run.Checkpoint
	clips      session.ClipFiles
	words      string
	fewer      bool
	search     session.Search
	device     string
	threads    int
	output     string
	asJSON     bool
}

func newCaptionGenerate(p *program) *cobra.Command {
	g := captionGenerate{checkpoint: run.Best, clips: session.ClipFiles{PerRow: 1}, device: "auto",
		search: session.DefaultSearch()}
	cmd := &cobra.Command{
		Use:   "generate MODEL --features FILE",
		Short: "Generate captions of clips with a trained captioner",
		Long: `Generate a caption for each clip with MODEL, a run folder of nmn caption train or a checkpoint.
The captions have the format of COCO results, which nmn caption eval scores.`,
		Annotations: details(`The features must come from the layer and the vocabulary that the captioner was trained on.
Captions go to standard output or to --output. The same model and features give the same
captions, whatever --generate-batch and --threads are.`),
		Example: `  nmn caption generate runs/captions --features v.npy --clips v.csv --output generated.json
  nmn caption generate runs/captions --features v.npy --clips v.csv --beam 5 --length-penalty 0.7
  nmn caption eval --results generated.json --references train_val_annotation.zip --split validate`,
		Args: arguments(p, counted(1, 1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			g.model = args[0]
			return g.run(cmd, p)
		},
	}
	clips := under(cmd, "Clips")
	clips.file(&g.clips.Features, "features", "read features from this `file` of nmn extract", "npy", "npz",
		"safetensors", "csv", "parquet")
	clips.file(&g.clips.Clips, "clips", "read the rows of each clip from this `file`", "csv")
	clips.file(&g.clips.IDs, "ids", "read clip identifiers from this `file` if rows are clips", "txt")
	clips.int(&g.clips.PerRow, "frames-per-row", "split each row into this many `frames`")
	clips.string(&g.clips.Array, "feature-array", "read the array with this `name`")
	clips.bool(&g.fewer, "fewer-frames", "accept clips with fewer frames than in training")
	m := under(cmd, "Model")
	enum(m, &g.checkpoint, "checkpoint", "read this `checkpoint` of a run folder", run.Best, run.Last)
	m.file(&g.words, "vocab", "require that the model was trained with this vocabulary `file`", "txt")
	s := under(cmd, "Search")
	s.int(&g.search.Beam, "beam", "follow this many `hypotheses`; 1 is greedy")
	s.float(&g.search.LengthPenalty, "length-penalty", "divide log-probabilities by this `power` of the length")
	s.int(&g.search.MaxLength, "max-length", "generate at most this many `words`")
	s.int(&g.search.Batch, "generate-batch", "caption this many `clips` at once")
	deviceFlags(under(cmd, "Run"), &g.device, &g.threads)
	out := under(cmd, "Output")
	out.file(&g.output, "output", "write the captions to this .json `file`", "json")
	out.bool(&g.asJSON, "json", "print what was written as JSON")
	return cmd
}

func (g *captionGenerate) run(cmd *cobra.Command, p *program) (err error) {
	if g.clips.Features == "" {
		return usagef("caption generate: give --features")
	}
	if err := g.search.Validate(); err != nil {
		return fmt.Errorf("caption generate: %w", err)
	}
	file, err := session.FindCheckpoint(g.model, g.checkpoint)
	if err != nil {
		return err
	}
	clips, err := g.clips.Open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, clips.Close()) }()
	run := run.Resources{Device: g.device, Threads: g.threads}
	backend, err := p.openDevice(&run, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	net, model, err := captioner.OpenNet(file, backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if err := g.fits(model, clips); err != nil {
		return err
	}
	show := p.counted("captions", "clips")
	generated, err := captioner.Generate(cmd.Context(), net, model.Words, clips, g.search.Generation(), func(done int) {
		if show != nil {
			show(done, clips.Clips())
		}
	})
	p.status.clear()
	if err != nil {
		return err
	}
	return g.write(p, generated)
}

// fits checks that features and vocabulary fit the model.
func (g *captionGenerate) fits(m *captioner.Checkpoint, clips *captioner.FrameFile) error {
	if g.words != "" {
		words, err := captioner.ReadWords(g.words)
		if err == nil {
			err = m.Words.Same(words)
		}
		if err != nil {
			return fmt.Errorf("%s and the model %s: %w", g.words, g.model, err)
		}
	}
	if err := captioner.Fit(clips, m.Model.Frames, m.Model.Features, g.fewer); err != nil {
		return fmt.Errorf("%s and the model %s: %w", g.clips.Features, g.model, err)
	}
	return nil
}

func (g *captionGenerate) write(p *program, generated []captioner.Generated) error {
	if g.output == "" {
		content, err := captioner.Results(generated)
		if err == nil {
			_, err = p.out.Write(content)
		}
		return err
	}
	if err := captioner.WriteResults(g.output, generated); err != nil {
		return err
	}
	mean := 0.
	for _, c := range generated {
		mean += c.LogProbability / float64(len(generated))
	}
	return p.print(g.asJSON, map[string]any{"file": g.output, "captions": len(generated), "mean_log_probability": mean},
		"%s: %s, mean log-probability %.2f\n", g.output, text.Count(len(generated), "captions"), mean)
}
