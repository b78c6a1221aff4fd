package emulator

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// launcher builds the program that runs the kernels of testdata.
func launcher(t *testing.T) func(order, kernel string, blocks int) (string, error) {
	t.Helper()
	compiler, err := findCompiler()
	if err != nil {
		t.Skipf("kernels are not emulated: %v", err)
	}
	folder := t.TempDir()
	objects, err := build(compiler, folder, []string{"runtime.cpp"}, []string{"testdata/threads.cu"})
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(folder, "launch.o")
	if err := compile(compiler, "testdata/launch.cpp", main); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "launch")
	if err := run(compiler, append([]string{"-o", program, main}, objects...)...); err != nil {
		t.Fatal(err)
	}
	return func(order, kernel string, blocks int) (string, error) {
		command := exec.Command(program, kernel, fmt.Sprint(blocks))
		command.Env = append(os.Environ(), OrderVariable+"="+order)
		out, err := command.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
}

// numbers prints f of 0 to 63.
func numbers(f func(i int) float64) string {
	var list []string
	for i := range 64 {
		list = append(list, fmt.Sprint(f(i)))
	}
	return strings.Join(list, " ")
}

func TestEmulator_RunsKernelsAsADeviceDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: compiles kernels for the host")
	}
	launch := launcher(t)
	for _, c := range []struct {
		kernel string
		blocks int
		want   string
	}{
		{"turn", 1, numbers(func(i int) float64 { return 63.5 - float64(i) })},
		{"turn", 2, numbers(func(i int) float64 { return float64(i) + 0.5 })},
		{"warp_sum", 1, numbers(func(i int) float64 { return 512 + float64(i/32)*1024 })},
		{"product", 1, numbers(func(int) float64 { return 0 })},
		{"count_blocks", 7, "7"},
		{"any_negative", 1, numbers(func(int) float64 { return 0 })},
		{"unwritten", 2, strings.TrimSpace(strings.Repeat("-nan ", 64))},
	} {
		for _, order := range Orders {
			if got, err := launch(order, c.kernel, c.blocks); err != nil || got != c.want {
				t.Errorf("%s, %d blocks, %s: %v, %s\nwant %s", c.kernel, c.blocks, order, err, got, c.want)
			}
		}
	}
}

// A planted race gives other numbers in the other order: that is the purpose of the two orders.
func TestEmulator_OrdersTellRaces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: compiles kernels for the host")
	}
	launch := launcher(t)
	for kernel, blocks := range map[string]int{"turn_race": 1, "block_race": 2} {
		forward, err := launch("forward", kernel, blocks)
		if err != nil {
			t.Fatal(forward, err)
		}
		reverse, err := launch("reverse", kernel, blocks)
		if err != nil {
			t.Fatal(reverse, err)
		}
		if forward == reverse {
			t.Errorf("%s gives %s in both orders", kernel, forward)
		}
	}
}

func TestEmulator_ReportsThreadsThatWaitForever(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: compiles kernels for the host")
	}
	launch := launcher(t)
	for kernel, want := range map[string]string{
		"two_barriers": "threads of a block wait at different barriers",
		"lost_lane":    "lanes of a warp wait for others that do not come",
	} {
		for _, order := range Orders {
			if got, err := launch(order, kernel, 1); err == nil || !strings.Contains(got, want) ||
				!strings.Contains(got, "threads.cu:") {
				t.Errorf("%s: %v, %q, want %q and the line", kernel, err, got, want)
			}
		}
	}
}

func TestBuild_SaysWhatIsMissing(t *testing.T) {
	t.Setenv("CXX", "no-such-compiler -O2")
	if _, err := Build(t.TempDir(), "testdata/threads.cu"); !errors.Is(err, ErrCompiler) {
		t.Error(err)
	}
}
