package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"nmn/cuda/nccl"
	"nmn/kernels"
	ranks "nmn/ranks"
	"nmn/ranks/launch"
	"nmn/run"
)

// onRanks are the commands that several ranks run together. Other commands run in one process. If several ranks start
// them, they are refused with an alternative.
var onRanks = map[string]bool{"nmn train": true, "nmn bench step": true}

// anywhere are the commands that any number of processes may run.
var anywhere = map[string]bool{"nmn": true, "nmn version": true, "nmn help": true}

// insteadOfRanks explains how several processes can share the work of other commands.
var insteadOfRanks = map[string]string{
	"nmn extract": shards, "nmn predict": shards, "nmn frames": shards,
	"nmn experiment": tasks, "nmn reproduce": tasks,
}

const (
	shards = "start one process for each part, with --shard i/n"
	tasks  = "start it without mpirun or srun; several jobs share the work with --tasks and --task"
)

// refuseRanks returns the error of a command that was started as one of several processes.
func refuseRanks(cmd *cobra.Command, size int, by string) error {
	cure := cmp.Or(insteadOfRanks[cmd.CommandPath()], "start it without mpirun or srun")
	return usagef("%s runs in one process, and this is one of %d%s: %s", cmd.CommandPath(), size, by, cure)
}

// ranksFlag declares --rank-timeout.
func ranksFlag(cmd *cobra.Command) {
	limit := launch.DefaultTimeout
	under(cmd, "Ranks").duration(&limit, rankTimeout, "give up a silent rank after this `time`; 0 waits for ever")
	under(cmd, "Ranks").rare(rankTimeout)
}

const rankTimeout = "rank-timeout"

// joinRanks joins the ranks of a job if a launcher has started several. Only rank 0 prints results and
// progress; warnings and errors of other ranks have a prefix.
func (p *program) joinRanks(cmd *cobra.Command) error {
	if p.ranks = p.joined; p.ranks == nil {
		g, err := p.openRanks(cmd)
		if err != nil {
			return err
		}
		p.ranks = g
	}
	if p.ranks.Rank() > 0 {
		p.follow(p.ranks.Rank())
		cmd.Root().SetOut(p.out)
		cmd.Root().SetErr(p.err)
	}
	if path := cmd.CommandPath(); p.ranks.Size() > 1 && !onRanks[path] && !anywhere[path] {
		if p.follows() {
			p.err = io.Discard // rank 0 prints it
		}
		return refuseRanks(cmd, p.ranks.Size(), "")
	}
	return nil
}

func (p *program) openRanks(cmd *cobra.Command) (ranks.Group, error) {
	if anywhere[cmd.CommandPath()] {
		return ranks.Alone{}, nil
	}
	joins := onRanks[cmd.CommandPath()]
	place, found, err := launch.Detect(p.getenv)
	switch {
	case err != nil && joins:
		return nil, usageError{err}
	case err != nil || !found || place.Size == 1:
		return ranks.Alone{}, nil
	case !joins: // the message needs no ranks
		if place.Rank > 0 {
			p.follow(place.Rank)
			p.err = io.Discard
		}
		return nil, refuseRanks(cmd, place.Size, fmt.Sprintf(" started by %s", place.By))
	}
	limit, err := cmd.Flags().GetDuration(rankTimeout)
	if err != nil {
		return nil, err
	}
	g, err := launch.Open(cmd.Context(), p.getenv, launch.Options{Timeout: limit, NCCL: p.ncclRanks(limit)})
	if errors.Is(err, context.Canceled) {
		// mpirun may have ended this rank because another rank died, without a message of its own.
		err = fmt.Errorf("%w while rank %d of %d waited for all ranks to start: %w", run.ErrInterrupted, place.Rank,
			place.Size, context.Cause(cmd.Context()))
	}
	if mistake := new(launch.UsageError); place.Rank > 0 && errors.As(err, &mistake) {
		p.follow(place.Rank)
		p.err = io.Discard // rank 0 prints it
	}
	if err == nil && p.getenv("GOMAXPROCS") == "" {
		var processors int
		if processors, err = launch.Processors(g); err == nil {
			runtime.GOMAXPROCS(processors)
		}
	}
	return g, err
}

// follow sets up the terminal of a rank that leaves results and progress to rank 0.
func (p *program) follow(rank int) {
	err := &prefixed{out: p.err, prefix: fmt.Sprintf("rank %d: ", rank)}
	p.terminal = &terminal{in: p.in, out: io.Discard, err: err, getenv: p.getenv}
	p.status.out = err
	p.quiet, p.verbosity = true, 0
}

// follows reports whether rank 0 prints the results of this rank.
func (p *program) follows() bool { return ranks.Of(p.ranks).Rank() > 0 }

// A rank that ends with an error waits this long for the other ranks, and then ends the job. The others may have failed
// too, or may be saving a checkpoint after an interrupt.
const (
	patience            = 5 * time.Second
	patienceInterrupted = 2 * time.Minute
)

// leaveRanks leaves the group at the end of a command, so that no rank waits for a rank that has ended. An
// error of this rank alone ends the job.
func (p *program) leaveRanks(err error) {
	if p.ranks == nil || p.ranks.Size() == 1 {
		return
	}
	var lost *ranks.LostError
	limit := patience
	switch {
	case err == nil || run.Agreed(err) || errors.As(err, &lost):
		limit = launch.DefaultTimeout
	case exitCode(err) == exitInterrupted:
		limit = patienceInterrupted
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = p.ranks.Close() // this process ends in any case
	}()
	select {
	case <-closed:
	case <-time.After(limit):
		if err == nil {
			err = fmt.Errorf("finished, but other ranks were still running after %v", limit)
		}
		p.ranks.Abort(err)
	}
}

// saysError reports whether this rank has to print an error. Rank 0 prints errors that all ranks share.
func (p *program) saysError(err error) bool {
	if !p.follows() {
		return true
	}
	var lost *ranks.LostError
	switch exitCode(err) {
	case exitInterrupted, exitUsage:
		return false
	}
	return !errors.As(err, &lost) && !run.Agreed(err)
}

// whose adds the rank and the host to a failure of rank 0. Lines of other ranks have a prefix, and errors from
// other ranks name their rank.
func (p *program) whose(err error, line string) string {
	var lost *ranks.LostError
	if p.ranks == nil || p.ranks.Size() == 1 || p.follows() || exitCode(err) != exitFailure || errors.As(err, &lost) {
		return line
	}
	return fmt.Sprintf("rank 0 (%s): %s", p.ranks.Names()[0], line)
}

// prefixed writes whole lines, each with a prefix.
type prefixed struct {
	out    io.Writer
	prefix string

	mu   sync.Mutex
	line []byte
}

func (w *prefixed) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := string(b); rest != ""; {
		line, more, whole := strings.Cut(rest, "\n")
		w.line = append(w.line, line...)
		if rest = more; !whole {
			break
		}
		text := append([]byte(w.prefix), append(w.line, '\n')...)
		w.line = w.line[:0]
		if _, err := w.out.Write(text); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// ncclRanks returns a function that joins ranks over NCCL, or nil in a build without CUDA.
func (p *program) ncclRanks(limit time.Duration) func(launch.Place) (ranks.Group, error) {
	if !kernels.HasCUDA {
		return nil
	}
	limit = cmp.Or(limit, nccl.Forever)
	return func(place launch.Place) (ranks.Group, error) {
		return nccl.OpenStarted(p.getenv, place.Rank, place.Size, place.Local, limit)
	}
}
