// Mutate tries how well the tests find mistakes: it makes one small mistake after another in the code of a package, a
// < for a <= or a Sync left out, and runs that package's own tests on each. A mutant that makes a test fail is killed;
// one that does not has survived, and shows what a change could break unnoticed.
//
//	go run ./internal/mutate --per-package 12 ./...
//	go run ./internal/mutate --changed auto --budget 5m --at-least 60
//
// The checkout is never touched: a mutant is built with go's -overlay and tested in a copy of the module. Mutants are
// chosen at random by a seed; the same seed and content give the same ones, in another commit too. The tests run with
// -short and without the variables NMN_..., so without data and programs from outside of the repository. Code that runs
// only in processes that tests start counts as not covered.
//
// Survivors that no test could tell from the program are listed, with a reason, in accepted.txt, and not tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	budget     time.Duration
	seed       uint64
	perPackage int
	jobs       int
	changed    string
	module     string
	accepted   string
	json       string
	table      string
	atLeast    float64
	programs   bool
	slack      time.Duration
	patterns   []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if err == nil {
		err = mutate(ctx, o, os.Stdout)
	}
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("wrong usage")

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{slack: 10 * time.Second}
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&o.budget, "budget", 0, "`time` after which no more mutants are tried; 0 for no limit")
	flags.Uint64Var(&o.seed, "seed", 1, "`number` that the sample of mutants is drawn by")
	flags.IntVar(&o.perPackage, "per-package", 0, "`mutants` of each package, at most; 0 for all")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "`mutants` that are tried at the same time")
	flags.StringVar(&o.changed, "changed", "", "only packages that differ from a `commit`, changed lines first; auto for"+
		" where the branch left\norigin/main, or the last commit but one")
	flags.StringVar(&o.module, "module", ".", "`folder` of the checkout whose packages are mutated")
	flags.StringVar(&o.accepted, "accepted", filepath.Join("internal", "mutate", "accepted.txt"),
		"`file` with the mutants that may survive")
	flags.StringVar(&o.json, "json", "", "`file` for all trials")
	flags.StringVar(&o.table, "table", "", "`page` whose table of scores is rewritten")
	flags.Float64Var(&o.atLeast, "at-least", 0, "`percent` of the mutants that must be killed for exit code 0: it"+
		" fails where fewer are,\nof ten or more, and by more than the luck of the sample")
	flags.BoolVar(&o.programs, "programs", false, "mutate programs too, whose tests take minutes")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	o.patterns = flags.Args()
	switch {
	case o.changed != "" && len(o.patterns) > 0:
		return nil, fmt.Errorf("%w: --changed finds the packages, and %v are named", errUsage, o.patterns)
	case o.perPackage < 0 || o.jobs < 1 || o.budget < 0:
		return nil, fmt.Errorf("%w: --per-package and --budget are 0 or more, --jobs 1 or more", errUsage)
	case len(o.patterns) == 0:
		o.patterns = []string{"./..."}
	}
	return o, nil
}

// mutate does what the options say. The error says that too few mutants were killed, or what went wrong.
func mutate(ctx context.Context, o *options, out io.Writer) error {
	r := &record{Seed: o.seed, PerPackage: o.perPackage}
	var differs *changes
	if o.changed != "" {
		var err error
		differs, err = changesSince(ctx, o.module, o.changed)
		if errors.Is(err, errNoGit) {
			fmt.Fprintln(out, "no package is mutated:", err)
			return nil
		} else if err != nil {
			return err
		}
		r.Base, o.patterns = differs.base, differs.folders(o.module)
		fmt.Fprintf(out, "%d folders with changes since %.12s\n", len(o.patterns), differs.base)
		if len(o.patterns) == 0 {
			return nil
		}
	}
	accepted, err := readAccepted(o.accepted)
	if err != nil {
		return err
	}
	m, packages, err := openModule(ctx, o.module, o.patterns, o.programs)
	if differs != nil && errors.Is(err, errNoPackage) {
		fmt.Fprintln(out, err)
		return nil
	} else if err != nil {
		return err
	}
	if o.module == "." {
		if err := checkAccepted(m, packages, o.accepted, accepted); err != nil {
			return err
		}
	}
	if differs != nil {
		sortAs(packages, o.patterns)
	}
	if head, err := git(ctx, o.module, "rev-parse", "HEAD"); err == nil {
		r.Commit = strings.TrimSpace(head)
	}
	l, err := newLaboratory(ctx, m, o.slack)
	if err != nil {
		return err
	}
	c := &campaign{module: m, laboratory: l, seed: o.seed, perPackage: o.perPackage, jobs: o.jobs, changes: differs,
		accepted: accepted, out: out}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.budget > 0 {
		limited, cancel = context.WithTimeout(ctx, o.budget)
	}
	defer cancel()
	r.Packages = c.all(limited, packages)
	return errors.Join(o.report(r, out), ctx.Err(), l.Close())
}

// report writes the record to where the options say, and judges it.
func (o *options) report(r *record, out io.Writer) error {
	sum := total(r.Packages)
	sum.print(out)
	var errs []error
	if o.json != "" {
		errs = append(errs, r.write(o.json))
	}
	if o.table != "" {
		errs = append(errs, writeTable(o.table, r.table()))
	}
	for _, s := range r.Packages {
		errs = append(errs, s.err)
	}
	if tried := sum.tried(); tried >= 10 && 100*possible(sum.Killed, tried) < o.atLeast {
		errs = append(errs, fmt.Errorf("%d of %d mutants were killed, and %g %% must be: the survivors above show what "+
			"no test would notice", sum.Killed, tried, o.atLeast))
	}
	return errors.Join(errs...)
}

func checkAccepted(m *module, packages []*pkg, name string, accepted []acceptance) error {
	var folders []string
	var mutants []*Mutant
	for _, p := range packages {
		folders = append(folders, p.folder)
		mutants = append(mutants, m.mutants(p)...)
	}
	return stale(name, accepted, folders, mutants)
}

// sortAs puts packages in the order of patterns that each name one.
func sortAs(packages []*pkg, patterns []string) {
	slices.SortFunc(packages, func(a, b *pkg) int {
		return slices.Index(patterns, "./"+a.folder) - slices.Index(patterns, "./"+b.folder)
	})
}
