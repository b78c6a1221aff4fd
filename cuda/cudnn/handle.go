//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	dnn "gorgonia.org/cu/dnn"

	"nmn/cuda"
)

// Options choose how plans are found.
type Options struct {
	// CacheFolder keeps the choices between runs; empty for no file.
	CacheFolder string
	// MaxWorkspace is the most scratch memory in bytes that a plan may need; 0 for 512 MiB.
	MaxWorkspace int
	// Measured is how many plans of a shape are timed; 0 for 10.
	Measured int
	// Logger receives what was chosen and which files were unfit; nil for the default one.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxWorkspace == 0 {
		o.MaxWorkspace = 512 << 20
	}
	if o.Measured == 0 {
		o.Measured = 10
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Handle computes convolutions on a stream. It serves one goroutine at a time.
type Handle struct {
	device  *cuda.Device
	stream  *cuda.Stream
	context *dnn.Context
	options Options
	plans   map[shape]*plan
	refused map[shape]error // by what no plan fits
	kept    *plans
	file    string // of kept; empty for none

	workspace cuda.Address
	bytes     int            // of workspace
	outgrown  []cuda.Address // workspaces that captured graphs may still name
	addresses [4]uint64      // of the tensors of a plan while it is enqueued
}

// shape is what a plan is for.
type shape struct {
	pass Pass
	conv Conv
}

// Open opens cuDNN on a stream. Where libcudnn is missing the error wraps ErrNoLibrary.
func Open(stream *cuda.Stream, options Options) (*Handle, error) {
	if err := library(); err != nil {
		return nil, err
	}
	h := &Handle{device: stream.Device(), stream: stream, options: options.withDefaults(), plans: map[shape]*plan{}, refused: map[shape]error{}}
	err := h.device.Do(func() (err error) {
		defer recovered("open cuDNN on "+h.device.Info().Name, &err)
		h.context = dnn.NewContext()
		return check("bind cuDNN to a stream", C.nmn_cudnn_bind(rawOf(h.context), toPointer(stream.Handle())))
	})
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.readPlans()
	return h, nil
}

// readPlans takes what earlier runs have chosen. A file that is unfit is reported and replaced later.
func (h *Handle) readPlans() {
	info := h.device.Info()
	device := fmt.Sprintf("%s sm_%d%d %d multiprocessors", info.Name, info.Major, info.Minor, info.Multiprocessors)
	h.kept = newPlans(Version(), device)
	if h.options.CacheFolder == "" {
		return
	}
	h.file = filepath.Join(h.options.CacheFolder, fileName(device, Version()))
	var err error
	if h.kept, err = readPlans(h.file, Version(), device); err != nil {
		h.options.Logger.Warn("cuDNN plans are chosen anew", "reason", err)
	}
}

// fileName names the plans of a device and a version.
func fileName(device string, version int) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(device))
	return fmt.Sprintf("cudnn-%d-%s.json", version, plain)
}

// Close frees the plans, the scratch memory and the handle. Closing twice is harmless.
func (h *Handle) Close() error {
	var errs []error
	for _, p := range h.plans {
		p.close()
	}
	h.plans = nil
	for _, at := range append(h.outgrown, h.workspace) {
		errs = append(errs, h.device.Free(at))
	}
	h.workspace, h.bytes, h.outgrown = 0, 0, nil
	if h.context != nil {
		context := h.context
		h.context = nil
		errs = append(errs, h.device.Finish(context.Close))
	}
	return errors.Join(errs...)
}

// scratch returns at least this much memory. What was outgrown stays: captured graphs name it.
func (h *Handle) scratch(bytes int) (cuda.Address, error) {
	if bytes <= h.bytes {
		return h.workspace, nil
	}
	if h.stream.Capturing() {
		return 0, fmt.Errorf("cudnn: %d bytes of scratch memory are needed within a capture: run the step once before", bytes)
	}
	at, err := h.device.Alloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("cudnn: scratch memory: %w", err)
	}
	if h.workspace != 0 {
		h.outgrown = append(h.outgrown, h.workspace)
	}
	h.workspace, h.bytes = at, bytes
	return at, nil
}
