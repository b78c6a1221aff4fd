package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"nmn/run"
)

// chooseSize is the size that flag or file name. Where they do not, or name auto, it is that of an
// earlier call in the same folder, else full or quick, whichever fits the budget.
func (e *experimentCommand) chooseSize(cmd *cobra.Command, p *program) (run.Size, error) {
	from := e.from(cmd, e.sources.size)
	file, err := from.Read()
	if err != nil {
		return "", err
	}
	if _, size, _ := from.Base(file); size != "" && size != run.Auto {
		return size, nil
	}
	if there, err := run.ReadConfig(e.Dir); err == nil {
		return there.Size, nil
	}
	if err := e.from(cmd, run.Full).Resolve(&e.Config); err != nil {
		return "", err
	}
	if e.Config.Data.Embedded() && e.jobs.wanted() {
		return "", usagef("experiment: tasks on several hosts need the same size, which --size auto would find by the " +
			"speed of each: give --size quick or --size full")
	}
	if !e.Config.Data.Embedded() {
		return run.Quick, nil
	}
	if err := e.ResolveArms(); err != nil { // before their steps are timed
		return "", err
	}
	return e.fitting(cmd.Context(), p)
}

// fitting is full where a short timing of real steps says that all arms fit into the budget.
func (e *experimentCommand) fitting(ctx context.Context, p *program) (run.Size, error) {
	s, err := run.Open(ctx, e.Config, run.Options{Log: p.log})
	if err != nil {
		return "", err
	}
	needed, err := e.Estimate(ctx, s)
	if err = cmp.Or(err, s.Close()); err != nil {
		return "", err
	}
	size := run.Quick
	if needed <= e.budget {
		size = run.Full
	}
	if !p.quiet { // it decides what the table means, so that logs have it too
		fmt.Fprintf(p.status, "size    %s: full would take about %v; --budget allows %v\n", size,
			needed.Round(time.Second), e.budget)
	}
	p.log.Info("size chosen", "size", string(size), "full_estimate_s", needed.Seconds(), "budget_s", e.budget.Seconds())
	return size, nil
}
