package main

import (
	"bytes"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/report"
	"nmn/run"
)

// noiseReport are the flags of nmn noise report.
type noiseReport struct {
	config     run.Config
	sources    sources
	checkpoint run.Checkpoint
	split      string
	words      int
	departures int
	output     string
	asJSON     bool
}

// maxDepartures bounds what is kept for each class.
const maxDepartures = 1000

func newNoiseReport(p *program) *cobra.Command {
	n := noiseReport{sources: newSources(), checkpoint: run.Last, split: "train", words: 20, departures: 10}
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Show what the noise model of a run has learnt",
		Long: `Show for each word how often the noise model of RUN, a run folder or a checkpoint, takes it
to be missing (q01) and made up (q10). A feature-independent model has one rate for all
bags. A feature-dependent one gives each bag its own: it is asked about a split of the
data of the run, and mean, spread and quantiles are told, with the bags that depart most
from the mean of the word. The true rates stand beside where the run knows them (scenes,
flipped labels), and the estimate from scores where the run has a folder recipe, or lies
beside one as the arms of nmn experiment do.`,
		Example: `  nmn noise report runs/fd
  nmn noise report runs/fd --split validation --output noise.html
  nmn noise report runs/fi --checkpoint best --json`,
		Args:              arguments(p, cobra.ExactArgs(1)),
		ValidArgsFunction: completeModels,
		RunE:              func(cmd *cobra.Command, args []string) error { return n.run(cmd, p, args[0]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &n.checkpoint)
	enum(m, &n.split, "split", "`split` of the data that a feature-dependent model is asked "+
		"about", "train", "validation", "test")
	out := under(cmd, "Output")
	out.int(&n.words, "words", "`words` of each rate listed on standard output, the highest rates, 0 for all")
	out.int(&n.departures, "departures", "`bags` listed for each rate of a feature-dependent model, farthest from "+
		"the mean of the word")
	out.file(&n.output, "output", "`file` to write all words to: .html with a chart, or .md", "html", "md")
	out.bool(&n.asJSON, "json", "write everything as one JSON object")
	runSettings(cmd, &n.sources)
	return cmd
}

func (n *noiseReport) check() error {
	switch ext := filepath.Ext(n.output); {
	case n.output != "" && ext != ".html" && ext != ".md":
		return usagef("noise report: --output is %s, want a file that ends in .html or .md", n.output)
	case n.words < 0:
		return usagef("noise report: --words is %d, want at least 0", n.words)
	case n.departures < 0 || n.departures > maxDepartures:
		return usagef("noise report: --departures is %d, want 0 to %d", n.departures, maxDepartures)
	}
	return nil
}

func (n *noiseReport) run(cmd *cobra.Command, p *program, path string) error {
	if err := n.check(); err != nil {
		return err
	}
	file, folder, err := run.FindCheckpoint(path, n.checkpoint)
	if err != nil {
		return err
	}
	if err := n.sources.of().ResolveFolder(folder, &n.config); err != nil {
		return err
	}
	query := run.NoiseQuery{Config: &n.config, Path: path, File: file, Folder: folder, Split: n.split,
		Departures: n.departures,
		LeftOut:    p.tellLeftOut}
	r, err := query.Answer(cmd.Context(), run.Options{Log: p.log, Observer: run.Observer{Message: p.tell}})
	if err != nil {
		return err
	}
	return n.show(p, r)
}

func (n *noiseReport) show(p *program, r *report.NoiseReport) error {
	if n.output != "" {
		var b bytes.Buffer
		write := r.WritePage
		if filepath.Ext(n.output) == ".md" {
			write = r.WriteMarkdown
		}
		if err := write(&b); err != nil {
			return err
		}
		if err := durable.Save(n.output, b.Bytes()); err != nil {
			return err
		}
	}
	if n.asJSON {
		return writeJSON(p.out, r)
	}
	return report.Write(p.out, report.Text, r.Tables(n.words)...)
}
