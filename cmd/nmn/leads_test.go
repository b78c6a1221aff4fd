package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"nmn/eval"
	ranks "nmn/group"
	"nmn/group/local/localtest"
	"nmn/labels/annotators"
	"nmn/labels/audit"
	"nmn/labels/captions"
	"nmn/labels/neighbours"
	"nmn/labels/rates"
	"nmn/report"
	"nmn/run/bench"
)

// asRanks runs a command as each of n ranks, and returns what each has printed.
func asRanks(t *testing.T, n int, command func(g ranks.Group, p *program) error) []string {
	t.Helper()
	printed := make([]bytes.Buffer, n)
	localtest.Each(n, func(g ranks.Group) {
		own := &terminal{out: &printed[g.Rank()], err: io.Discard, getenv: func(string) string { return "" }}
		p := &program{terminal: own, status: &statusLine{out: own.err}, log: slog.New(slog.DiscardHandler)}
		if err := command(g, p); err != nil {
			t.Errorf("rank %d of %d: %v", g.Rank(), n, err)
		}
	})
	out := make([]string, n)
	for i := range out {
		out[i] = printed[i].String()
	}
	return out
}

// What ranks write and print is what one process writes and prints, byte for byte, and rank 0 alone does so: files that
// two wrote would be in the way of each other.
func TestRanks_WriteWhatOneProcessWrites(t *testing.T) {
	scores, told := scoreFolder(t), captionFolder(t)
	crowd, _ := crowdFile(t)
	of := func(name string) string { return filepath.Join(scores, name) }
	files := eval.Files{Scores: of("scores.csv"), Labels: of("labels.csv"), Truth: of("truth.csv")}
	estimation := rates.DefaultOptions()
	estimation.Iterations = 20
	nearest := neighbours.DefaultOptions()
	ctx := context.Background()
	for name, command := range map[string]func(g ranks.Group, p *program, output string) error{
		"rates": func(g ranks.Group, p *program, output string) error {
			c := ratesCommand{files: files, estimation: estimation, floor: true, output: output, asJSON: true}
			c.estimation.Group = g
			return c.run(ctx, p)
		},
		"audit": func(g ranks.Group, p *program, output string) error {
			c := auditCommand{files: files, top: 20, classes: 20, options: audit.Options{Estimation: estimation, MinError: .5},
				rows: auditRows{features: of("scores.csv"), options: nearest, file: output}, asJSON: true}
			c.options.Estimation.Group, c.rows.options.Group = g, g
			return c.run(ctx, p, func(string) bool { return false })
		},
		"audit captions": func(g ranks.Group, p *program, output string) error {
			c := auditCaptions{captions: filepath.Join(told, "captions.json"), options: captions.DefaultOptions(), top: 10,
				output: output, format: report.Text}
			c.options.Witness.Group = g
			return c.run(ctx, p)
		},
		"audit annotators": func(g ranks.Group, p *program, output string) error {
			c := auditAnnotators{files: annotators.Files{Labels: crowd}, options: annotators.DefaultOptions(), top: 20,
				output: output, format: report.Text}
			c.options.Group = g
			return c.run(ctx, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(g ranks.Group, kind string) string { // ranks but the first have a name that nothing may be written to
				if g.Rank() > 0 {
					kind = "of-another-rank"
				}
				return filepath.Join(dir, kind+".csv")
			}
			want := asRanks(t, 1, func(g ranks.Group, p *program) error { return command(nil, p, at(g, "alone")) })
			got := asRanks(t, 3, func(g ranks.Group, p *program) error { return command(g, p, at(g, "ranks")) })
			if got[0] != want[0] || len(want[0]) == 0 {
				t.Errorf("three ranks print\n%.1000s\nwant\n%.1000s", got[0], want[0])
			}
			if got[1]+got[2] != "" {
				t.Errorf("ranks print %q and %q", got[1], got[2])
			}
			alone, err := os.ReadFile(filepath.Join(dir, "alone.csv"))
			if err != nil {
				t.Fatal(err)
			}
			if together, err := os.ReadFile(filepath.Join(dir, "ranks.csv")); err != nil || !bytes.Equal(together, alone) {
				t.Errorf("three ranks write %d bytes, %v: not what one writes, %d bytes", len(together), err, len(alone))
			}
			if _, err := os.Stat(filepath.Join(dir, "of-another-rank.csv")); err == nil {
				t.Error("another rank has written a file")
			}
		})
	}
}

func TestRanks_OnePrintsWhatIsMeasuredOfCaptions(t *testing.T) {
	printed := asRanks(t, 2, func(g ranks.Group, p *program) error {
		c := witnessCommand{bags: 60, perBag: 4, words: 50, replaced: .5, options: bench.Options{Repeats: 1, Group: g},
			asJSON: true}
		return c.run(context.Background(), p)
	})
	if f := readJSON(t, printed[0]); f["ranks"] != 2. || f["captions"] != 240. || printed[1] != "" {
		t.Errorf("%v, and rank 1 %q", f, printed[1])
	}
}
