//go:build cuda

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/internal/durable"
	"nmn/internal/expect"
)

// A host as the fake driver of package cuda shows it, by the fields of its fake_config.
const (
	oldDriver   = ".version = 12080, .devices = 1, .capability = 90"
	noCard      = ".version = 13000"
	hiddenCard  = ".version = 13000, .devices = 1, .capability = 90, .init = 100" // CUDA_ERROR_NO_DEVICE
	halfUpdated = ".version = 13000, .devices = 1, .capability = 90, .init = 803" // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
	oldCard     = ".version = 13000, .devices = 1, .capability = 70, .marks = 1, .memory = 1 << 20"
	smallCard   = ".version = 13000, .devices = 1, .capability = 90, .marks = 1, .memory = 1 << 20"
)

// compile makes a library from a source in C, which includes a fake of package cuda; -I leads there.
func compile(t *testing.T, name, source string) string {
	t.Helper()
	fakes, err := filepath.Abs("../../cuda/internal")
	expect.OK(t, err)
	folder := t.TempDir()
	c, library := filepath.Join(folder, "fake.c"), filepath.Join(folder, name)
	write(t, c, source)
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	arguments := append(strings.Fields(compiler), strings.Fields(os.Getenv("CGO_CFLAGS"))...)
	arguments = append(arguments, "-I", fakes, "-shared", "-fPIC", "-pthread", "-o", library, c)
	if out, err := exec.Command(arguments[0], arguments[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// fakeDriver is a libcuda that shows a host.
func fakeDriver(t *testing.T, host string) string {
	t.Helper()
	return compile(t, "libcuda.so.1", fmt.Sprintf(`#include "fakedriver/source/driver.c"
__attribute__((constructor)) static void start(void) { fake_reset((fake_config){%s}); }
`, host))
}

func fakeCUDNN(t *testing.T) string {
	t.Helper()
	return compile(t, "libcudnn.so.9", "#include \"fakecudnn/source/cudnn.c\"\n")
}

// on runs a command line in a process of its own, since one opens one driver, on a host with the
// libraries that are named.
func on(t *testing.T, libcuda, libcudnn, cache string, args ...string) called {
	t.Helper()
	cmd, out, stderr := asCommand(args...)
	cmd.Env = append(cmd.Env, cuda.DriverVariable+"="+libcuda, cudnn.LibraryVariable+"="+libcudnn, "XDG_CACHE_HOME="+cache)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return called{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// lastLine is the message of a command that has failed.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return lines[len(lines)-1]
}

func TestDevice_CUDATellsWhatIsMissingAndAutoTrainsOnTheCPU(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.so")
	for _, c := range []struct {
		name, libcuda, libcudnn string
		said                    []string
	}{
		{"no driver", missing, missing, []string{"cannot open libcuda, which comes with the driver", missing}},
		{"old driver", fakeDriver(t, oldDriver), missing,
			[]string{"the driver speaks CUDA 12.8, this program needs 13.0", "580 or newer"}},
		{"no card", fakeDriver(t, noCard), missing, []string{"the driver sees no device", "CUDA_VISIBLE_DEVICES"}},
		{"hidden card", fakeDriver(t, hiddenCard), missing, []string{"no such CUDA device"}},
		{"half an update", fakeDriver(t, halfUpdated), missing, []string{"its kernel module and its library differ"}},
		{"old card", fakeDriver(t, oldCard), missing, []string{"compute capability 7.0, this program needs 7.5"}},
		{"no cuDNN", fakeDriver(t, smallCard), missing, []string{"cannot open libcudnn.so.9", missing,
			cudnn.LibraryVariable}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			insisted := on(t, c.libcuda, c.libcudnn, t.TempDir(), tiny("train", "--device", "cuda", "--run-dir", dir)...)
			if insisted.code != exitFailure || insisted.out != "" || durable.Exists(dir) {
				t.Errorf("--device cuda: exit code %d, run folder %v, %q", insisted.code, durable.Exists(dir), insisted.out)
			}
			left := on(t, c.libcuda, c.libcudnn, t.TempDir(), tiny("train", "--device", "auto", "--arm", "stage1",
				"--set", "train.max_steps=1", "--run-dir", dir)...)
			wantOK(t, left, "computing on the CPU: ")
			for _, said := range c.said {
				if message := lastLine(insisted.err); !strings.HasPrefix(message, "nmn: device cuda:0: ") ||
					!strings.Contains(message, said) {
					t.Errorf("--device cuda says %q, want %q in it", message, said)
				}
				wantParts(t, left.err, said)
			}
			if quiet := on(t, c.libcuda, c.libcudnn, t.TempDir(), tiny("train", "--device", "auto",
				"--quiet", "--dry-run")...); quiet.code != exitOK || quiet.err != "" {
				t.Errorf("--quiet: exit code %d, %q", quiet.code, quiet.err)
			}
		})
	}
}

func TestDevice_NumberThatIsNotThereIsNamed(t *testing.T) {
	libcuda := fakeDriver(t, smallCard)
	for device, want := range map[string]struct {
		code int
		said string
	}{
		"cuda:3": {exitFailure, "device 3: the driver sees 1, numbered from 0"},
		"cuda:x": {exitUsage, `device "cuda:x": want auto, cpu, cuda or cuda:n`},
	} {
		c := on(t, libcuda, "", t.TempDir(), tiny("train", "--device", device)...)
		if c.code != want.code || !strings.Contains(lastLine(c.err), want.said) {
			t.Errorf("--device %s: exit code %d, want %d: %s", device, c.code, want.code, c.err)
		}
	}
}

// The card has a megabyte: the message has the numbers and the fix. Files in the folder of plans do not stop the start; a
// plan is read when its shape is used.
func TestDevice_TellsHowMuchMemoryItLacks(t *testing.T) {
	libcuda, libcudnn := fakeDriver(t, smallCard), fakeCUDNN(t)
	const name = "cudnn-91300-fake-0-sm-90-132-multiprocessors"
	for what, lay := range map[string]func(nmn string) error{
		"no plans": func(string) error { return nil },
		"a file in the place of their folder": func(nmn string) error {
			return errors.Join(os.Mkdir(nmn, 0o777), os.WriteFile(filepath.Join(nmn, name), nil, 0o666))
		},
		"plans of an older form": func(nmn string) error {
			return errors.Join(os.Mkdir(nmn, 0o777), os.WriteFile(filepath.Join(nmn, name+".json"), []byte(`{"format":1}`),
				0o666))
		},
	} {
		t.Run(what, func(t *testing.T) {
			cache := t.TempDir()
			expect.OK(t, lay(filepath.Join(cache, "nmn")))
			dir := filepath.Join(t.TempDir(), "run")
			got := on(t, libcuda, libcudnn, cache, tiny("train", "--device", "cuda", "--run-dir", dir)...)
			message := lastLine(got.err)
			wantParts(t, message, "cannot allocate", "MiB are free", "use a smaller batch", "out of device memory")
			if got.code != exitFailure || got.out != "" || strings.Contains(got.err, "WARN") {
				t.Errorf("exit code %d, %q, %s", got.code, got.out, got.err)
			}
		})
	}
}

func TestDevice_DoctorNamesTheDriverAsTheCure(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.so")
	for name, libcuda := range map[string]string{"no driver": missing, "an old one": fakeDriver(t, oldDriver)} {
		got := on(t, libcuda, missing, t.TempDir(), tiny("doctor", "--device", "cuda")...)
		for _, said := range []string{"a run does not begin", "driver 580 or newer", "docs/guide/cuda.md", "--device"} {
			if got.code != exitFailure || !strings.Contains(got.out, said) {
				t.Errorf("%s: exit code %d, want %q in %s%s", name, got.code, said, got.out, got.err)
			}
		}
	}
}
