//go:build cuda && emulate

package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels"
	"nmn/kernels/conform"
	"nmn/kernels/emulator"
	"nmn/kernels/ledger"
	"nmn/kernels/tensor"
)

// openCounting opens an emulated card whose kernels count what they read and write, in the file that it names.
func openCounting(t *testing.T) (open func(tensor.Precision) kernels.Backend, traffic string) {
	t.Helper()
	folder := t.TempDir()
	sources, err := filepath.Glob("../*/*.cu")
	if err != nil {
		t.Fatal(err)
	}
	library, err := emulator.BuildCounting(folder, sources...)
	if errors.Is(err, emulator.ErrCompiler) {
		conform.Skip(t, "emulate", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	traffic = filepath.Join(folder, "traffic")
	t.Setenv(cuda.DriverVariable, library)
	t.Setenv(cudnn.LibraryVariable, library)
	t.Setenv(emulator.TrafficVariable, traffic)
	return func(p tensor.Precision) kernels.Backend {
		b, err := kernels.OpenCUDA(kernels.CUDAConfig{Precision: p, NoGraphs: true,
			Device: cuda.Options{SyncLaunches: true}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}, traffic
}

// What kernels read and write on the emulator is what a ledger has written down, partial sums and lists of parameters
// apart. cuDNN's kernels are not at hand: what a plan moves is known by its operands alone.
func TestCUDA_TrafficIsThatOfTheLedger(t *testing.T) {
	open, traffic := openCounting(t)
	for _, p := range []tensor.Precision{tensor.FP32, tensor.BF16} {
		card, book := open(p), newBook(t, p)
		for name, operation := range operations {
			t.Run(fmt.Sprintf("%s/%s", p, name), func(t *testing.T) {
				b := operands{Backend: card, maps: p.Maps(), t: t}
				must(t, operation(b)) // plans are chosen
				must(t, os.WriteFile(traffic, nil, 0o600))
				must(t, operation(b))
				must(t, b.Sync())
				text, err := os.ReadFile(traffic)
				must(t, err)
				before := len(book.All())
				must(t, operation(operands{Backend: book.Ledger, maps: p.Maps(), t: t}))
				compareTraffic(t, p, string(text), book.All()[before:])
			})
		}
		must(t, card.Close())
	}
}

func compareTraffic(t *testing.T, p tensor.Precision, counted string, launches []ledger.Launch) {
	t.Helper()
	var kernels, ran []string
	for _, l := range launches {
		kernels = append(kernels, l.Kernel)
	}
	lines := slices.Collect(strings.Lines(counted))
	for _, line := range lines {
		ran = append(ran, strings.Fields(line)[0])
	}
	launches = slices.DeleteFunc(slices.Clone(launches), func(l ledger.Launch) bool { return notOurs(l.Kernel) })
	if own := slices.DeleteFunc(slices.Clone(kernels), notOurs); !slices.Equal(ran, own) {
		for _, way := range ledger.Instead(kernels) {
			if p == tensor.BF16 && slices.Equal(ran, slices.DeleteFunc(way, notOurs)) {
				t.Logf("%q were chosen in place of %q", ran, own)
				return
			}
		}
		t.Fatalf("%q run, the ledger has %q", ran, own)
	}
	for i, l := range launches {
		var read, written int
		if _, err := fmt.Sscanf(lines[i], "%s %d %d", &ran[i], &read, &written); err != nil {
			t.Fatalf("line %q: %v", lines[i], err)
		}
		if slack := slackOf(l); !near(read, l.Read, slack) || !near(written, l.Written, slack) {
			t.Errorf("%s reads %d and writes %d bytes, the ledger has %d and %d", ran[i], read, written, l.Read, l.Written)
		}
	}
}

// notOurs reports whether a launch is none of a kernel of our own.
func notOurs(kernel string) bool {
	return strings.HasPrefix(kernel, "cudnn ") || kernel == ledger.Memcpy || kernel == ledger.Memset
}

// slackOf allows for lists of parameters, and for the partial sums of kernels that add over a map.
func slackOf(l ledger.Launch) int {
	share := 30
	for _, adding := range []string{"bias_gradient", "gradient_bias", "bag_pool", "gradient_norm", "noise_step"} {
		if strings.Contains(l.Kernel, adding) {
			share = 8
		}
	}
	return 512 + l.Bytes()/share
}

func near(counted, want, slack int) bool { return max(counted-want, want-counted) <= slack }
