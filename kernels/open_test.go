package kernels

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

func TestOpen_CPU(t *testing.T) {
	openHost(t, "cpu", "")
}

// openHost opens a device that must be the host, with a note that holds some words, or none.
func openHost(t *testing.T, device, noted string) {
	t.Helper()
	backend, note, err := Open(Config{Device: device, Threads: 1})
	if err != nil {
		t.Errorf("device %q: %v", device, err)
		return
	}
	if name := backend.Name(); !strings.HasPrefix(name, "cpu ") || !strings.HasSuffix(name, "1 threads") {
		t.Errorf("device %q is %q", device, name)
	}
	if (note != "") != (noted != "") || !strings.Contains(note, noted) {
		t.Errorf("device %q: note %q, want %q in it", device, note, noted)
	}
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpen_UnknownDevicesAreRefused(t *testing.T) {
	for _, device := range []string{"gpu", "CPU", "cpu:1", "auto:0", "cuda:", "cuda:x", "cuda:-1", "cuda:99999",
		"cuda:1:2", " cpu"} {
		backend, _, err := Open(Config{Device: device})
		if err == nil || backend != nil || errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), device) {
			t.Errorf("device %q: %v", device, err)
		}
	}
}

// A precision that no device here supports is refused and not replaced by another one.
func TestOpen_PrecisionsOfTheHost(t *testing.T) {
	for _, device := range []string{"cpu", "auto"} {
		_, _, err := Open(Config{Device: device, Precision: "fp16"})
		if err == nil || errors.Is(err, ErrUnsupported) {
			t.Errorf("precision fp16: %v", err)
		}
	}
	for _, p := range tensor.Precisions() {
		backend, _, err := Open(Config{Device: "cpu", Precision: p})
		if possible := p == tensor.Auto || p == tensor.FP32; possible != (err == nil) {
			t.Errorf("precision %s: %v", p, err)
		} else if !possible && !errors.Is(err, tensor.ErrPrecision) {
			t.Errorf("precision %s: %v, want ErrPrecision", p, err)
		}
		if err == nil && backend.Precision() != tensor.FP32 {
			t.Errorf("precision %s became %s", p, backend.Precision())
		}
	}
}

// The host computes features in bfloat16 if its instructions multiply it. Only linear layers have it.
func TestOpen_BFloat16OfTheHostIsForFeatures(t *testing.T) {
	for _, level := range simd.Levels() {
		backend, _, err := Open(Config{Device: "cpu", Precision: tensor.BF16, Features: true, SIMD: level.String()})
		if missing := level.BFloat16(); missing != nil {
			if !errors.Is(err, tensor.ErrPrecision) || !strings.Contains(err.Error(), "AVX512_BF16") {
				t.Errorf("%s: %v, want ErrPrecision", level, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := tensor.Formats{Maps: tensor.Float32, Linear: tensor.BFloat16, Pixels: 3}
		if backend.Precision() != tensor.BF16 || backend.Formats() != want {
			t.Errorf("%s: %s, %+v", level, backend.Precision(), backend.Formats())
		}
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []tensor.Precision{tensor.Auto, tensor.FP32} {
		backend, _, err := Open(Config{Device: "cpu", Precision: p, Features: true})
		if err != nil || backend.Precision() != tensor.FP32 || backend.Formats().Linear != tensor.Float32 {
			t.Errorf("%s: %v", p, err)
		}
	}
	_, _, err := Open(Config{Device: "cpu", Precision: tensor.BF16})
	if !errors.Is(err, tensor.ErrPrecision) || !strings.Contains(err.Error(), "except features") {
		t.Errorf("training: %v", err)
	}
}

func TestOpenCPU_Levels(t *testing.T) {
	for _, level := range simd.Levels() {
		backend, err := OpenCPU(CPUConfig{Threads: 2, SIMD: level.String()})
		if err != nil {
			t.Fatal(err)
		}
		if want := "cpu " + level.String() + ", 2 threads"; backend.Name() != want {
			t.Errorf("name %q, want %q", backend.Name(), want)
		}
		backend.Close()
	}
	if _, err := OpenCPU(CPUConfig{SIMD: "sse9"}); !errors.Is(err, simd.ErrLevel) {
		t.Errorf("unknown level: %v", err)
	}
	if _, err := OpenCPU(CPUConfig{Threads: -1}); err == nil {
		t.Error("-1 threads were accepted")
	}
}

func TestOpenCPU_EnvironmentNamesTheLevelUnlessTheConfigurationDoes(t *testing.T) {
	levels := simd.Levels()
	best := levels[len(levels)-1].String()
	for _, test := range []struct{ environment, named, want string }{
		{"", "", best}, {"generic", "", "generic"}, {"generic", best, best}, {"nonsense", "generic", "generic"},
	} {
		t.Setenv(simd.Environment, test.environment)
		backend, err := OpenCPU(CPUConfig{Threads: 1, SIMD: test.named})
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if name := backend.Name(); !strings.Contains(name, test.want) {
			t.Errorf("%+v: %q", test, name)
		}
		backend.Close()
	}
	t.Setenv(simd.Environment, "nonsense")
	if _, err := OpenCPU(CPUConfig{}); !errors.Is(err, simd.ErrLevel) || !strings.Contains(err.Error(), simd.Environment) {
		t.Errorf("unknown level in the environment: %v", err)
	}
}

// Each family's CPU type has a name of its own in the backend. A missing method would be a compile error, but
// two families with a method of one name would show only here.
func TestOpenCPU_FamiliesShareNoMethod(t *testing.T) {
	owner := map[string]string{}
	backend := reflect.TypeFor[cpu]()
	for i := range backend.NumField() {
		family := backend.Field(i).Type
		for m := range family.NumMethod() {
			name := family.Method(m).Name
			if other, taken := owner[name]; taken {
				t.Errorf("%s is a method of %s and %s", name, other, family)
			}
			owner[name] = family.String()
		}
	}
}

// All operations work on the memory of the backend they came from.
func TestOpenCPU_BackendIsOneDevice(t *testing.T) {
	backend, err := OpenCPU(CPUConfig{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	x, err := backend.Alloc(tensor.Float32, 2, 4, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	y, err := backend.Alloc(tensor.Float32, 2, 2, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(backend.MaxPool(y, x), backend.Zero(x), backend.Zero(y), backend.Sync(),
		backend.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Alloc(tensor.Float32, 1); err == nil {
		t.Error("a closed backend gave memory")
	}
}
