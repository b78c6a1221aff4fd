package kernels

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

// ErrUnsupported is wrapped by errors about what this build or machine cannot do though another one
// can.
var ErrUnsupported = errors.New("not supported by this build or machine")

// Errors of Open that another driver would mend.
var (
	ErrNoDriver  = cuda.ErrNoDriver
	ErrOldDriver = cuda.ErrOldDriver
)

// Config chooses a device.
type Config struct {
	// Device is auto, cpu, cuda, or cuda:n for the graphics card of number n. Empty means auto: the
	// fastest device that can be used.
	Device string
	// Local is this process's number among those of its host that work together: auto, and cuda without a number, take
	// the graphics card of that number, and the first ones again where there are fewer.
	Local int
	// Threads and SIMD are as in CPUConfig; they also hold for the host where auto falls back to it.
	Threads int
	SIMD    string
	// ConvExact is as in CPUConfig, for the host.
	ConvExact bool
	// Precision is how the device multiplies; empty means auto.
	Precision tensor.Precision
	// SyncLaunches makes a graphics card wait for every kernel: a fault is then reported by the launch
	// that caused it. The host always does.
	SyncLaunches bool
	// NoGraphs makes a graphics card launch the kernels of a step one by one instead of recording the step
	// and replaying it.
	NoGraphs bool
	// NVTX names the layers and phases of a graphics card's work to the profiler that has started this
	// program, such as Nsight Systems; nothing happens without one.
	NVTX bool
	// PlanFolder keeps which convolution plans were fastest on a graphics card; empty means a folder
	// of the user's cache.
	PlanFolder string
	// Logger receives which kept plans are unfit or cannot be written; nil for the default one.
	Logger *slog.Logger
}

// Open opens the device of a configuration. note, where not empty, explains to a user what auto has chosen
// and why. Asking for a graphics card that cannot be used, because of the build or of the machine, gives
// an error that wraps ErrUnsupported and says what is missing; auto falls back to the host then. A
// precision that the device does not compute in gives an error that wraps tensor.ErrPrecision: auto does
// not take another device for it.
func Open(c Config) (backend Backend, note string, err error) {
	name, ordinal, err := parseDevice(c.Device)
	if err != nil {
		return nil, "", err
	}
	if err := c.Precision.Validate(); err != nil {
		return nil, "", err
	}
	if name != "cpu" {
		backend, err = openCard(c, ordinal)
		if err == nil {
			return backend, "", nil
		}
		if errors.Is(err, tensor.ErrPrecision) {
			return nil, "", err
		}
		if name == "cuda" {
			return nil, "", fmt.Errorf("device cuda:%d: %w: %w", ordinal, err, ErrUnsupported)
		}
		note = fmt.Sprintf("computing on the CPU: %v", err)
	}
	if err := c.Precision.OnCPU(); err != nil {
		if note != "" {
			err = fmt.Errorf("%w (%s)", err, note)
		}
		return nil, "", err
	}
	backend, err = OpenCPU(CPUConfig{Threads: c.Threads, SIMD: c.SIMD, ConvExact: c.ConvExact})
	if err != nil {
		return nil, "", err
	}
	return backend, note, nil
}

// parseDevice splits the name of a device from its number, 0 where none is given.
func parseDevice(device string) (name string, ordinal int, err error) {
	name, number, numbered := strings.Cut(device, ":")
	switch {
	case device == "":
		return "auto", 0, nil
	case name == "cuda" && !numbered, device == "auto", device == "cpu":
		return name, 0, nil
	case name == "cuda":
		n, err := strconv.ParseUint(number, 10, 16)
		if err == nil {
			return name, int(n), nil
		}
	}
	return "", 0, fmt.Errorf("device %q: want auto, cpu, cuda or cuda:n with n from 0", device)
}
