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

// ErrUnsupported is wrapped by errors about operations that this build or machine does not support, but
// another one may.
var ErrUnsupported = errors.New("not supported by this build or machine")

// Errors of Open that another driver fixes.
var (
	ErrNoDriver  = cuda.ErrNoDriver
	ErrOldDriver = cuda.ErrOldDriver
)

// Config chooses a device.
type Config struct {
	// Device is auto, cpu, cuda, or cuda:n for the graphics card of number n. Empty means auto: the
	// fastest device that can be used.
	Device string
	// Local is this process's number among the cooperating processes of its host. "auto", and "cuda" without
	// a number, take the graphics card of that number. If there are fewer cards, they start again from the
	// first.
	Local int
	// Threads and SIMD are as in CPUConfig. They also apply to the host if auto falls back to it.
	Threads int
	SIMD    string
	// ConvExact is as in CPUConfig, for the host.
	ConvExact bool
	// Precision is the number format in which the device multiplies; empty means auto.
	Precision tensor.Precision
	// Features is set for nets that do not learn. The host then also computes in bf16.
	Features bool
	// SyncLaunches makes a graphics card wait for every kernel: a fault is then reported by the launch
	// that caused it. The host always does.
	SyncLaunches bool
	// NoGraphs makes a graphics card launch the kernels of a step one by one instead of recording the step
	// and replaying it.
	NoGraphs bool
	// NVTX names the layers and phases of a graphics card's work for the profiler that started this program,
	// such as Nsight Systems. Without a profiler it does nothing.
	NVTX bool
	// PlanFolder stores which convolution plans were fastest on a graphics card. Empty means a folder of the
	// user's cache.
	PlanFolder string
	// Logger receives warnings about stored plans that are unfit or cannot be written; nil for the default
	// one.
	Logger *slog.Logger
}

// Open opens the device of a configuration. note, if not empty, explains to the user what auto has chosen and
// why. If the build or the machine cannot use a requested graphics card, the error wraps ErrUnsupported and
// names what is missing. In that case auto falls back to the host. A precision that the device does not
// support gives an error that wraps tensor.ErrPrecision. auto does not take another device for it.
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
	if err = c.Precision.OnCPU(c.Features); err == nil {
		backend, err = OpenCPU(CPUConfig{Threads: c.Threads, SIMD: c.SIMD, ConvExact: c.ConvExact, Precision: c.Precision})
	}
	if errors.Is(err, tensor.ErrPrecision) && note != "" {
		err = fmt.Errorf("%w (%s)", err, note)
	}
	if err != nil {
		return nil, "", err
	}
	return backend, note, nil
}

// parseDevice splits the name of a device from its number, 0 if it has none.
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
