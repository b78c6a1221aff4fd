// Mutate measures how well tests find mistakes. It makes one small mistake at a time in a package, such as a
// < for a <= or a Sync left out, and runs the package's own tests. A mutant that makes a test fail is killed.
// One that does not has survived, and shows a change that could go unnoticed.
//
//	go run ./tools/mutate --per-package 12 ./internal/durable ./eval/...
//
// Mutate never touches the checkout: it builds mutants with go's -overlay and tests them in a copy of the
// module. It chooses mutants at random by a seed. Equal seeds and code give equal mutants. The tests run with
// -short and without the variables NMN_..., so without data and programs from outside of the repository.
//
// It exists because gremlins only exchanges operators: it tries no ignored error, no lost error and no
// missing check.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags, and the folder of the checkout.
type options struct {
	dir        string
	seed       uint64
	perPackage int // 0 for all
	patterns   []string
}

func main() {
	o := &options{dir: "."}
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that chooses the mutants")
	flag.IntVar(&o.perPackage, "per-package", 12, "most `mutants` of a package; 0 for all")
	flag.Parse()
	o.patterns = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := mutate(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutate prints the score and the survivors of each package. The error names the packages whose tests fail
// without a mutant.
func mutate(ctx context.Context, o *options, out io.Writer) error {
	m, packages, err := openModule(ctx, o.dir, o.patterns)
	if err != nil {
		return err
	}
	l, err := newLaboratory(ctx, m, 10*time.Second)
	if err != nil {
		return err
	}
	c := &campaign{module: m, laboratory: l, seed: o.seed, perPackage: o.perPackage, out: out}
	return errors.Join(c.all(ctx, packages), l.Close())
}
