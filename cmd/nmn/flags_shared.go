package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/loader/manifest"
	"nmn/model/backbone"
	"nmn/model/vit"
	"nmn/run"
)

func deviceFlag(r group, device *string) {
	r.string(device, "device", "compute on this `device`: auto, cpu, cuda or cuda:n")
	r.completes("device", "auto", "cpu", "cuda")
}

// deviceFlags declares --device and --threads.
func deviceFlags(r group, device *string, threads *int) {
	deviceFlag(r, device)
	r.int(threads, "threads", "compute with this many `goroutines`", "[0,1024]")
}

// precisionFlag declares --precision.
func precisionFlag(r group, c *run.Resources) {
	enum(r, &c.Precision, "precision", "compute in this `format`", tensor.Precisions()...)
}

func checkpointFlag(r group, v *run.Checkpoint) {
	enum(r, v, "checkpoint", "read this `checkpoint` of a run folder", run.Last, run.Best)
}

// shardValue is the flag --shard.
type shardValue struct{ to *run.Shard }

func (v shardValue) String() string { return v.to.String() }

func (v shardValue) Type() string { return "i/n" }

func (v shardValue) Set(text string) (err error) {
	*v.to, err = run.ParseShard(text)
	return err
}

// shard declares --shard.
func (r group) shard(to *run.Shard, of string) {
	r.value(shardValue{to}, "shard", "process only part `i/n` of the "+of+"; i is 1 to n")
}

// tellShard prints how to join the outputs of all shards.
func (p *program) tellShard(s run.Shard, how string) {
	if s.Of > 0 && !p.quiet {
		fmt.Fprintf(p.err, "shard %v is written; %s (docs/guide/cluster.md#shards)\n", s, how)
	}
}

// scoreFlags declares the files of commands on out-of-fold scores.
func scoreFlags(r group, f *eval.Files) {
	r.file(&f.Scores, "scores", "read out-of-fold scores from this `file`", "csv", "npy")
	r.file(&f.Labels, "labels", "read observed labels (0, 1, -1 or NaN) from this `file`", "csv", "npy", "jsonl")
	r.file(&f.Truth, "truth", "read known true labels from this `file`", "csv", "npy")
	r.bool(&f.Logits, "logits", "read scores as log-odds instead of probabilities")
}

// estimationFlags declares the settings of an estimate of noise rates.
func estimationFlags(r group, o *rates.Options) {
	r.float(&o.MinSlope, "min-slope", "require this `slope` of scores; try .05 for weak features")
	r.float(&o.Strength01, "prior-missing", "shrink q01 towards other classes by this many `labels`")
	r.float(&o.Strength10, "prior-incorrect", "shrink q10 towards other classes by this many `labels`")
	r.int(&o.MinPositives, "min-labels", "estimate only classes with this many `labels`")
	r.int(&o.Workers, "threads", "compute with this many `goroutines`")
}

// verifiedFlag declares the list of checked pictures.
func verifiedFlag(r group, file *string) {
	r.file(file, "verified", "anchor the rates by the pictures in this `file`, with all true labels", "csv", "jsonl")
}

// readVerified reads the list of checked pictures of a score file; an empty file is none.
func readVerified(ctx context.Context, file string, in *eval.Input) ([]rates.Verified, error) {
	if file == "" {
		return nil, nil
	}
	of := manifest.VerifiedOf{Words: in.Words, File: func(bag string) string { return bag }}
	rows := make([]int, in.Bags)
	for i := range rows {
		of.Bags, rows[i] = append(of.Bags, labels.Name(in.IDs, i)), i
	}
	v, err := manifest.ReadVerified(ctx, file, of)
	if err != nil {
		return nil, err
	}
	return rates.Verify(v.Bags, v.Truth, in.Labels, in.Classes, rows), nil
}

// checkScores returns a mistake in usage for a missing file or a setting out of range.
func checkScores(command string, f *eval.Files, o rates.Options) error {
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	if f.Scores == "" || f.Labels == "" {
		return usagef("%s: needs --scores, out-of-fold scores of every picture, and --labels, the observed labels", command)
	}
	return nil
}

// pretrainedFlags declares the properties of a pretrained net that its tensors do not show, except the input size.
func pretrainedFlags(r group, o *backbone.Options) {
	enum(r, &o.GELU, "gelu", "compute a transformer's GELU in this `form`", vit.Exact, vit.Tanh, vit.Quick)
	r.int(&o.Heads, "heads", "set the `number` of heads of a transformer")
	r.int(&o.Resize, "input-resize", "resize the shorter side to this many `pixels` before cropping")
	numbers(r, &o.Mean, "input-mean", "subtract `red,green,blue`, 0 to 1, from pixels", parseFloat32)
	numbers(r, &o.Deviation, "input-deviation", "divide pixels by `red,green,blue`, 0 to 1", parseFloat32)
}

// checkPretrained checks these flags and names a wrong flag.
func checkPretrained(o *backbone.Options) error {
	err := o.Validate()
	if err == nil {
		return nil
	}
	named := strings.NewReplacer("`", "", "net.backbone_gelu", "--gelu", "net.backbone_heads", "--heads",
		"net.backbone_resize", "--input-resize", "net.backbone_mean", "--input-mean", "net.backbone_deviation",
		"--input-deviation", "net.input_size", "--input-size").Replace(err.Error())
	return &setting.Error{Reason: errors.New(named)}
}

// Environment variables for the flags of the metrics. A container image sets the address. A URL with a password
// is safer in a variable than in the arguments of a process, which all users can see.
const (
	metricsVariable = "NMN_METRICS_ADDR"
	pushVariable    = "NMN_METRICS_PUSH"
)

// metricsOptions select where the metrics of a training go.
type metricsOptions struct {
	address string
	push    string
	run     string // names the run; empty for the name of its folder
}

func newMetricsOptions(p *program) metricsOptions {
	return metricsOptions{address: p.getenv(metricsVariable)}
}

// metricsFlags declares the flags of commands that train.
func metricsFlags(r group, m *metricsOptions) {
	r.string(&m.address, "metrics-addr", "serve Prometheus metrics on this `port` or host:port (or "+metricsVariable+")")
	r.string(&m.push, "metrics-push", "push metrics to the Pushgateway at this `URL` (or "+pushVariable+")")
	r.string(&m.run, "run-name", "set the `name` of the run in metrics")
	r.rare("metrics-push", "run-name")
}

// resolve completes the options of a command that writes a run folder.
func (m *metricsOptions) resolve(cmd *cobra.Command, p *program, dir string) {
	if !cmd.Flags().Changed("metrics-push") { // a default of the flag would show the password in the help
		m.push = p.getenv(pushVariable)
	}
	if m.run != "" {
		return
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	m.run = filepath.Base(dir)
}
