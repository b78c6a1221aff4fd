package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// More spills, or fewer warps on a multiprocessor, must show to authors of a change to a kernel or the
// compiler.
func TestResources_AreThoseOfTheTable(t *testing.T) {
	text := expect.Value(os.ReadFile(filepath.Join(kernelsFolder, resourcesName)))(t)
	table := parseTable(text)
	if !bytes.Equal(resourcesText(table), text) {
		t.Errorf("%s is not as make kernels writes it", resourcesName)
	}
	if _, err := exec.LookPath("cuobjdump"); err != nil {
		t.Skipf("no cuobjdump on the PATH: %v", err)
	}
	now := expect.Value(readResources(filepath.Join(kernelsFolder, fatbinName)))(t)
	for _, line := range changes(table, now) {
		t.Errorf("%s\nwhere that is meant: make kernels, and commit kernels/%s", line, resourcesName)
	}
}

// Every kernel of the sources has a row for each architecture, even if cuobjdump is not available.
func TestResources_CoverAllKernels(t *testing.T) {
	text := expect.Value(os.ReadFile(filepath.Join(kernelsFolder, resourcesName)))(t)
	rows := map[string]int{}
	for _, r := range parseTable(text) {
		rows[r.kernel]++
	}
	sources := expect.Value(parse(kernelsFolder))(t)
	names := 0
	for _, kernels := range sources {
		names += len(kernels)
		for _, k := range kernels {
			if rows[k.Name] != len(architectures) {
				t.Errorf("%s has %d rows for %d architectures: make kernels", k.Name, rows[k.Name], len(architectures))
			}
		}
	}
	if names != len(rows) {
		t.Errorf("%d kernels in the sources, %d in the table: make kernels", names, len(rows))
	}
}

const dumped = `
Fatbin elf code:
================
arch = sm_75
code version = [1,8]

Resource usage:
 Common:
  GLOBAL:0
 Function step:
  REG:128 STACK:24 SHARED:19080 LOCAL:0 CONSTANT[2]:368 CONSTANT[0]:500 TEXTURE:0 SURFACE:0 SAMPLER:0

Fatbin elf code:
================
arch = sm_90
 Function step:
  REG:40 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:544 TEXTURE:0 SURFACE:0 SAMPLER:0
`

func TestParseResources_ReadsWhatCuobjdumpPrints(t *testing.T) {
	list := expect.Value(parseResources([]byte(dumped), []byte(".visible .entry step(\n)\n.maxntid 512, 1, 1\n{\n")))(t)
	want := []resource{
		{kernel: "step", architecture: "75", threads: 512, registers: 128, stack: 24, shared: 19080, constant: 868, blocks: 1,
			warps: 16, occupancy: 50},
		{kernel: "step", architecture: "90", threads: 512, registers: 40, constant: 544, blocks: 3, warps: 48, occupancy: 75},
	}
	if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Errorf("got %+v, want %+v", list, want)
	}
	if again := parseTable(resourcesText(list)); len(again) != 2 || again[0] != want[0] || again[1] != want[1] {
		t.Errorf("the table gives %+v", again)
	}
	for name, ptx := range map[string]string{"no bound": "", "another": ".visible .entry other(\n.maxntid 32, 1, 1\n"} {
		if _, err := parseResources([]byte(dumped), []byte(ptx)); err == nil {
			t.Errorf("%s: a kernel without a launch bound is accepted", name)
		}
	}
	if _, err := parseResources(nil, nil); err == nil {
		t.Error("nothing is accepted")
	}
}

func TestChanges_NameRegressions(t *testing.T) {
	was := resource{kernel: "k", architecture: "90", registers: 64, warps: 32}
	spilled, fewer, other := was, was, was
	spilled.stack, fewer.warps, other.registers = 8, 24, 62
	for _, test := range []struct {
		name   string
		before []resource
		now    []resource
		want   string
	}{
		{"same", []resource{was}, []resource{was}, ""},
		{"spilled", []resource{was}, []resource{spilled}, "regression: spills more, 8 bytes of stack instead of 0"},
		{"fewer warps", []resource{was}, []resource{fewer}, "regression: 24 warps reside on a multiprocessor instead of 32"},
		{"registers", []resource{was}, []resource{other}, "changed (62 registers"},
		{"new", nil, []resource{was}, "is new"},
		{"gone", []resource{was}, nil, "is gone"},
	} {
		got := strings.Join(changes(test.before, test.now), "\n")
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Figures of NVIDIA's occupancy calculator.
func TestResident(t *testing.T) {
	for _, test := range []struct {
		architecture               string
		threads, registers, shared int
		want                       int
	}{
		{"90", 256, 32, 0, 8},
		{"90", 256, 33, 0, 6},
		{"90", 256, 64, 0, 4},
		{"90", 256, 65, 0, 3},
		{"90", 256, 91, 0, 2},
		{"90", 512, 128, 19080, 1},
		{"90", 32, 16, 0, 32},
		{"90", 128, 32, 48 << 10, 4},
		{"86", 256, 32, 0, 6},
		{"86", 1024, 32, 0, 1},
		{"75", 256, 32, 16392, 3},
		{"75", 1024, 64, 0, 1},
		{"80", 256, 255, 0, 1},
	} {
		if got := multiprocessors[test.architecture].resident(test.threads, test.registers, test.shared); got != test.want {
			t.Errorf("sm_%s, %d threads, %d registers, %d bytes: %d blocks, want %d",
				test.architecture, test.threads, test.registers, test.shared, got, test.want)
		}
	}
}
