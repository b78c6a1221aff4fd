//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// settings are the flags of the program.
type settings struct {
	minutes   float64
	seed      uint64
	only      string
	fault     int
	jobs      int
	everyCall bool
	keep      string
	list      bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	var c settings
	flag.Float64Var(&c.minutes, "minutes", 10, "`time` to try faults for, in minutes")
	flag.Uint64Var(&c.seed, "seed", uint64(time.Now().Unix()), "`seed` from which all faults follow")
	flag.StringVar(&c.only, "only", "", "`scenarios` to try, by their names or the beginnings of them, as a,b (default "+
		"all)")
	flag.IntVar(&c.fault, "fault", 0, "the one `number` of a fault to try")
	flag.BoolVar(&c.everyCall, "every-call", false,
		"kill at each call that changes files, the first, the second and so on, in place of faults drawn by chance")
	flag.IntVar(&c.jobs, "jobs", max(1, runtime.NumCPU()), "number of `trials` at once")
	flag.StringVar(&c.keep, "keep", "", "`folder`, a new one, to keep what failed in")
	flag.BoolVar(&c.list, "list", false, "list the scenarios, and do nothing else")
	flag.Parse()
	if err := c.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func (c *settings) run(ctx context.Context) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case c.list:
		for _, s := range scenarios {
			fmt.Printf("%-22s nmn %s\n", s.name, s.args)
		}
		return nil
	}
	chosen := c.chosen()
	if len(chosen) == 0 {
		return fmt.Errorf("no scenario begins with %q; --list lists them", c.only)
	}
	dir, err := c.folder()
	if err != nil {
		return err
	}
	if c.keep == "" {
		defer os.RemoveAll(dir)
	}
	begun := time.Now()
	program, err := prepare(dir)
	if err != nil {
		return err
	}
	fmt.Printf("seed %d, %d scenarios, inputs made in %.0f s\n", c.seed, len(chosen), time.Since(begun).Seconds())
	l := &lab{program: program, dir: dir, keep: c.keep != "", references: map[string]*reference{}}
	f := newFigures(c)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.minutes*float64(time.Minute)))
	defer cancel()
	err = l.all(ctx, chosen, c, f)
	f.print()
	if err == nil && f.all.lost > 0 {
		err = fmt.Errorf("%d of %d faults lost something", f.all.lost, f.all.tried)
	}
	return err
}

// chosen are the scenarios of --only: of each of its names the one that is called so, or else all that begin so. It
// leaves out scenarios whose programs are missing.
func (c *settings) chosen() []scenario {
	named := func(name string) bool {
		return slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name })
	}
	return slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool {
		if !slices.ContainsFunc(strings.Split(c.only, ","), func(begin string) bool {
			return s.name == begin || !named(begin) && strings.HasPrefix(s.name, begin)
		}) {
			return true
		}
		if s.program == "" {
			return false
		}
		_, err := exec.LookPath(s.program)
		if err != nil {
			fmt.Printf("scenario %s is left out: %v\n", s.name, err)
		}
		return err != nil
	})
}

// folder is the working folder, with no symbolic link in its path.
func (c *settings) folder() (dir string, err error) {
	if c.keep != "" {
		err = os.Mkdir(c.keep, 0o777)
		dir = c.keep
	} else {
		dir, err = os.MkdirTemp("", "chaos-")
	}
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
