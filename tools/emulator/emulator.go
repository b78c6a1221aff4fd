// Package emulator runs the kernels' own sources on a host without a graphics card. A C++ compiler builds
// them, with a header that implements the language of CUDA on a CPU, into a library that replaces
// libcuda.so.1, libcudnn.so.9, libcublasLt.so.13 and libnccl.so.2. The program stays unchanged. Only the
// convolutions and products are plain loops instead of NVIDIA's code or the kernels.
//
// It checks the results of a kernel: values, barriers, races between the threads of a block (threads and
// blocks run in ascending or, under NMN_EMULATOR_ORDER=reverse, in descending order), shuffles, writes
// outside of an allocation. Under NMN_EMULATOR_LATE work is delayed as long as events and waits allow, so
// that a missing one shows as wrong data. It does not show the device's own rounding of exponentials and
// logarithms, instructions that only PTX has, nor speed.
package emulator

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"nmn/tools/launchgen/signature"
)

// Environment variables of the emulator. Every call reads them again.
const (
	// OrderVariable chooses the order of threads.
	OrderVariable = "NMN_EMULATOR_ORDER"
	// LateVariable makes new streams delay their work: "all" of them, or the "first" one of a device, which
	// computes, so that all others run ahead of it.
	LateVariable = "NMN_EMULATOR_LATE"
	// FailVariable is "NAME COUNT CODE". Call number COUNT of that name, from 1, since the variable was set,
	// returns the CUresult CODE and does nothing. -1 means that it does nothing but reports success
	// (cuStreamWaitEvent). The name "kernel" stands for kernels when they run, also in graphs: their fault is
	// noticed later and ends the device.
	FailVariable = "NMN_EMULATOR_FAIL"
	// LogVariable names a file that the names of calls are added to, and "kernel" for each kernel that runs.
	LogVariable = "NMN_EMULATOR_LOG"
	// MemoryVariable is the memory of the device in bytes, 8 GiB by default.
	MemoryVariable = "NMN_EMULATOR_MEMORY"
	// DevicesVariable is the number of cards, 1 by default. All share one memory. Ranks that are goroutines
	// may also open one card several times. Each opening has its own streams, which others do not wait for.
	DevicesVariable = "NMN_EMULATOR_DEVICES"
)

// Orders are the values of OrderVariable.
var Orders = [...]string{"forward", "reverse"}

// ErrCompiler is wrapped by errors about a host without a C++ compiler.
var ErrCompiler = errors.New("no C++ compiler")

//go:embed host/*.h host/*.cpp
var host embed.FS

// flags ask for IEEE arithmetic as written, and for the aliasing that vector loads rely on.
var flags = []string{"-std=c++17", "-O2", "-fvisibility-inlines-hidden", "-fPIC", "-ffp-contract=off",
	"-fno-strict-aliasing", "-Wall", "-Wno-unknown-pragmas", "-Wno-unused-function"}

// Install builds the library of all kernels in the families below a folder, and sets the environment
// variables for libcuda and libcudnn to it.
func Install(folder, families string, variables ...string) error {
	sources, err := filepath.Glob(filepath.Join(families, "*", "*.cu"))
	if err != nil {
		return err
	}
	library, err := Build(folder, sources...)
	if err != nil {
		return err
	}
	for _, variable := range variables {
		if err := os.Setenv(variable, library); err != nil {
			return err
		}
	}
	return nil
}

// Build makes a library in a folder and returns its path: a libcuda.so.1 that holds the kernels of the
// sources, and at the same time a libcudnn.so.9, a libcublasLt.so.13 and a libnccl.so.2 of plain loops. CXX
// names the compiler, otherwise g++ or c++ is used. Without one the error wraps ErrCompiler.
func Build(folder string, sources ...string) (library string, err error) {
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	objects, err := build(compiler, folder, own, sources)
	if err != nil {
		return "", err
	}
	library = filepath.Join(folder, "libemulator.so")
	return library, run(compiler, append([]string{"-shared", "-o", library}, objects...)...)
}

// own are the emulator's sources.
var own = []string{"runtime.cpp", "streams.cpp", "driver.cpp", "cudnn.cpp", "graphs.cpp", "cublas.cpp", "nccl.cpp"}

// findCompiler splits CXX, which may hold flags.
func findCompiler() ([]string, error) {
	if named := strings.Fields(os.Getenv("CXX")); len(named) > 0 {
		if _, err := exec.LookPath(named[0]); err != nil {
			return nil, fmt.Errorf("emulator: CXX is %q: %w: %w", os.Getenv("CXX"), err, ErrCompiler)
		}
		return named, nil
	}
	for _, name := range []string{"g++", "c++"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, fmt.Errorf("emulator: neither g++ nor c++ is found, and CXX names none: %w", ErrCompiler)
}

// build compiles the emulator's own sources of these names and the kernels, the latter with more flags, and lists the
// objects.
func build(compiler []string, folder string, own, sources []string) (objects []string, err error) {
	if err := unpack(folder); err != nil {
		return nil, err
	}
	for _, name := range own {
		objects = append(objects, filepath.Join(folder, name+".o"))
		if err := compile(compiler, filepath.Join(folder, name), objects[len(objects)-1]); err != nil {
			return nil, err
		}
	}
	for i, source := range sources {
		wrapped := filepath.Join(folder, fmt.Sprintf("kernels%d.cpp", i))
		text, err := wrap(source)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(wrapped, text, 0o600); err != nil {
			return nil, fmt.Errorf("emulator: %w", err)
		}
		objects = append(objects, wrapped+".o")
		if err := compile(compiler, wrapped, objects[len(objects)-1]); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func unpack(folder string) error {
	entries, err := host.ReadDir("host")
	if err != nil {
		return fmt.Errorf("emulator: %w", err)
	}
	for _, entry := range entries {
		text, err := host.ReadFile("host/" + entry.Name())
		if err != nil {
			return fmt.Errorf("emulator: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, entry.Name()), text, 0o600); err != nil {
			return fmt.Errorf("emulator: %w", err)
		}
	}
	return nil
}

// wrap makes a C++ file of a CUDA source: the language, the source, and the registration of its kernels.
func wrap(source string) ([]byte, error) {
	path, err := filepath.Abs(source)
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	kernels, err := signature.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("emulator: %s: %w", source, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "#include \"device.h\"\n#include %q\n\n", filepath.ToSlash(path))
	b.WriteString("__attribute__((constructor)) static void registerKernels() {\n")
	for _, k := range kernels {
		fmt.Fprintf(&b, "  emulator::add(\"%[1]s\", [](void **arguments) { emulator::call(%[1]s, arguments); }, "+
			"emulator::countOf(%[1]s), %[2]s);\n", k.Name, k.Bound)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

func compile(compiler []string, source, object string) error {
	arguments := append([]string{}, flags...)
	arguments = append(arguments, "-I"+filepath.Dir(object), "-c", source, "-o", object)
	return run(compiler, arguments...)
}

func run(compiler []string, arguments ...string) error {
	command := exec.Command(compiler[0], append(append([]string{}, compiler[1:]...), arguments...)...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("emulator: %s: %w\n%s", command, err, out)
	}
	return nil
}
