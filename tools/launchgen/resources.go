package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"nmn/internal/durable"
)

// resourcesName is the table of the resources that every kernel of the fatbin takes of a multiprocessor.
const resourcesName = "resources.txt"

// resource is a kernel's use of resources in the machine code of one architecture. A block has as many
// threads as its launch bound allows. Fewer threads at a launch mean more blocks, never fewer warps.
type resource struct {
	kernel, architecture     string
	threads, registers       int
	stack, shared, constant  int // bytes; registers are spilled to the stack
	blocks, warps, occupancy int // that reside on a multiprocessor, and percent of the warps that it can hold
}

var (
	codeLine  = regexp.MustCompile(`^arch = sm_(\d+)`)
	nameLine  = regexp.MustCompile(`^ Function (\w+):`)
	usageLine = regexp.MustCompile(`^  REG:(\d+) STACK:(\d+) SHARED:(\d+)`)
	constants = regexp.MustCompile(`CONSTANT\[\d+\]:(\d+)`)
	entryLine = regexp.MustCompile(`^\.visible \.entry (\w+)\(`)
	boundLine = regexp.MustCompile(`^\.maxntid (\d+)`)
)

// readResources asks cuobjdump about a fatbin: for the resources of the machine code and, in the PTX, the
// launch bounds.
func readResources(fatbin string) ([]resource, error) {
	usage, err := cuobjdump("--dump-resource-usage", fatbin)
	if err != nil {
		return nil, err
	}
	ptx, err := cuobjdump("--dump-ptx", fatbin)
	if err != nil {
		return nil, err
	}
	return parseResources(usage, ptx)
}

func cuobjdump(arguments ...string) ([]byte, error) {
	out, err := exec.Command("cuobjdump", arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("cuobjdump is needed to list what the kernels take (make cuda-toolkit installs it): %w", err)
	}
	return out, nil
}

// parseResources reads the output of cuobjdump. The list is ordered by kernel and architecture.
func parseResources(usage, ptx []byte) ([]resource, error) {
	bounds := parseBounds(ptx)
	var list []resource
	architecture, kernel := "", ""
	for line := range bytes.Lines(usage) {
		if m := codeLine.FindSubmatch(line); m != nil {
			architecture = string(m[1])
		} else if m := nameLine.FindSubmatch(line); m != nil {
			kernel = string(m[1])
		} else if m := usageLine.FindSubmatch(line); m != nil {
			r := resource{kernel: kernel, architecture: architecture, threads: bounds[kernel],
				registers: number(m[1]), stack: number(m[2]), shared: number(m[3])}
			for _, bank := range constants.FindAllSubmatch(line, -1) {
				r.constant += number(bank[1])
			}
			if err := r.reside(); err != nil {
				return nil, err
			}
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("cuobjdump lists no kernel")
	}
	slices.SortStableFunc(list, func(a, b resource) int {
		return cmp.Or(cmp.Compare(a.kernel, b.kernel), cmp.Compare(a.architecture, b.architecture))
	})
	return list, nil
}

func parseBounds(ptx []byte) map[string]int {
	bounds, kernel := map[string]int{}, ""
	for line := range bytes.Lines(ptx) {
		if m := entryLine.FindSubmatch(line); m != nil {
			kernel = string(m[1])
		} else if m := boundLine.FindSubmatch(line); m != nil {
			bounds[kernel] = number(m[1])
		}
	}
	return bounds
}

// reside computes how many blocks and warps reside on a multiprocessor.
func (r *resource) reside() error {
	m, known := multiprocessors[r.architecture]
	if !known || r.threads == 0 {
		return fmt.Errorf("kernel %s for sm_%s: unknown architecture or no launch bound", r.kernel, r.architecture)
	}
	r.blocks = m.resident(r.threads, r.registers, r.shared)
	r.warps = r.blocks * up(r.threads, warpThreads) / warpThreads
	r.occupancy = 100 * r.warps / m.warps
	return nil
}

// number reads digits that an expression has matched.
func number(digits []byte) int {
	n, _ := strconv.Atoi(string(digits))
	return n
}

const resourcesHead = "# What every kernel of kernels.fatbin takes of a multiprocessor: " +
	`docs/background/cuda-kernels.md explains the columns.
# Written by make kernels; go test ./tools/launchgen compares it with the fatbin where cuobjdump is on the PATH.
`

// resourcesText is the table as it is checked in.
func resourcesText(list []resource) []byte {
	var b bytes.Buffer
	b.WriteString(resourcesHead)
	fmt.Fprintf(&b, "%-28s %5s %7s %9s %5s %6s %8s %6s %5s %9s\n", "kernel", "sm", "threads", "registers",
		"stack", "shared", "constant", "blocks", "warps", "occupancy")
	for _, r := range list {
		fmt.Fprintf(&b, "%-28s %5s %7d %9d %5d %6d %8d %6d %5d %8d%%\n", r.kernel, r.architecture, r.threads,
			r.registers, r.stack, r.shared, r.constant, r.blocks, r.warps, r.occupancy)
	}
	return b.Bytes()
}

// parseTable reads the table again. Other lines are left out.
func parseTable(text []byte) []resource {
	var list []resource
	for line := range bytes.Lines(text) {
		r := resource{}
		if n, _ := fmt.Sscanf(string(line), "%s %s %d %d %d %d %d %d %d %d%%", &r.kernel, &r.architecture, &r.threads,
			&r.registers, &r.stack, &r.shared, &r.constant, &r.blocks, &r.warps, &r.occupancy); n == 10 {
			list = append(list, r)
		}
	}
	return list
}

// changes lists how the resources of kernels differ from the table's. Regressions are marked by that word.
func changes(table, now []resource) []string {
	type key struct{ kernel, architecture string }
	before := map[key]resource{}
	for _, r := range table {
		before[key{r.kernel, r.architecture}] = r
	}
	var list []string
	for _, r := range now {
		k := key{r.kernel, r.architecture}
		old, known := before[k]
		delete(before, k)
		what := "changed"
		switch {
		case !known:
			what = "is new"
		case old == r:
			continue
		case r.stack > old.stack:
			what = fmt.Sprintf("regression: spills more, %d bytes of stack instead of %d", r.stack, old.stack)
		case r.warps < old.warps:
			what = fmt.Sprintf("regression: %d warps reside on a multiprocessor instead of %d", r.warps, old.warps)
		}
		list = append(list, fmt.Sprintf("%s for sm_%s: %s (%d registers, %d bytes of shared memory; were %d, %d)", r.kernel,
			r.architecture, what, r.registers, r.shared, old.registers, old.shared))
	}
	for k := range before {
		list = append(list, fmt.Sprintf("%s for sm_%s: is gone", k.kernel, k.architecture))
	}
	slices.Sort(list)
	return list
}

// writeResources updates the table from the fatbin of a folder, and prints the changes. Without cuobjdump the
// table stays unchanged.
func writeResources(folder string) error {
	path := filepath.Join(folder, resourcesName)
	if _, err := exec.LookPath("cuobjdump"); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %s stays as it is, for there is no cuobjdump: make cuda-toolkit installs it\n", path)
		return nil
	}
	list, err := readResources(filepath.Join(folder, fatbinName))
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil {
		for _, line := range changes(parseTable(old), list) {
			fmt.Fprintln(os.Stderr, "gen:", line)
		}
	}
	if err := durable.WriteFile(path, resourcesText(list), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", resourcesName, err)
	}
	return nil
}
