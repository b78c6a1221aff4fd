//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"time"

	dnn "gorgonia.org/cu/dnn"

	"nmn/cuda"
)

// Options choose how plans are found.
type Options struct {
	// CacheFolder stores the choices between runs; empty for no file.
	CacheFolder string
	// MaxWorkspace is the maximum scratch memory of a plan in bytes; 0 for 512 MiB.
	MaxWorkspace int
	// Measured is the number of plans of a shape to time; 0 for 10.
	Measured int
	// Compiled is the maximum number of them that cuDNN compiles first, which takes up to a second each; 0
	// for 3.
	Compiled int
	// Threads is the number of threads that build plans; 0 for the number of cores. If it is negative, the
	// handle builds them.
	Threads int
	// WarmUp is how long the card computes before the first plan is timed, so that its clocks are up; 0 for
	// 20 ms, negative for none.
	WarmUp time.Duration
	// Logger receives the choices and warnings about unfit files; nil for the default one.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxWorkspace == 0 {
		o.MaxWorkspace = 512 << 20
	}
	if o.Measured == 0 {
		o.Measured = 10
	}
	if o.Compiled == 0 {
		o.Compiled = 3
	}
	if o.Threads == 0 {
		o.Threads = runtime.NumCPU()
	}
	if o.WarmUp == 0 {
		o.WarmUp = 20 * time.Millisecond
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
	plans   map[Shape]*plan
	refused map[Shape]error // errors of shapes that no plan fits
	kernels map[Shape]*Kernel
	kept    *plans
	forge   *forge  // nil if the handle builds plans itself
	asked   bool    // whether forging has decided that
	drawn   builder // of the description
	warm    bool    // the card has computed for a while

	workspace cuda.Address
	bytes     int            // of workspace
	captured  bool           // a capture has named the workspace
	outgrown  []cuda.Address // workspaces that captured graphs may still name
	addresses [4]uint64      // of the tensors of a plan while it is enqueued
}

// Open opens cuDNN on a stream. If libcudnn is missing the error wraps ErrNoLibrary.
func Open(stream *cuda.Stream, options Options) (*Handle, error) {
	if err := library(); err != nil {
		return nil, err
	}
	h := &Handle{device: stream.Device(), stream: stream, options: options.withDefaults(), plans: map[Shape]*plan{},
		refused: map[Shape]error{}, kernels: map[Shape]*Kernel{}}
	h.warm = h.options.WarmUp < 0
	err := h.device.Do(func() (err error) {
		defer recovered("open cuDNN on "+h.device.Info().Name, &err)
		h.context = dnn.NewContext()
		return check("bind cuDNN to a stream", C.nmn_cudnn_bind(rawOf(h.context), toPointer(stream.Handle())))
	})
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.openPlans()
	return h, nil
}

// openPlans finds the folder with the choices of earlier runs.
func (h *Handle) openPlans() {
	info := h.device.Info()
	device := fmt.Sprintf("%s sm_%d%d %d multiprocessors", info.Name, info.Major, info.Minor, info.Multiprocessors)
	h.kept = openPlans(h.options.CacheFolder, Version(), device)
	if err := h.kept.trim(); err != nil {
		h.options.Logger.Warn("old cuDNN plans cannot be removed", "reason", err)
	}
}

// forging returns the forge. It opens it at the first call, because a run whose plans are all stored needs none.
// It returns nil if the handle builds plans itself, one after the other.
func (h *Handle) forging() *forge {
	if h.asked || h.options.Threads < 0 {
		return h.forge
	}
	h.asked = true
	if err := h.device.Do(h.openForge); err != nil {
		h.options.Logger.Debug("cuDNN's plans are built one after the other", "reason", err)
		if err := h.closeForge(); err != nil {
			h.options.Logger.Warn("handles of cuDNN cannot be closed", "reason", err)
		}
	}
	return h.forge
}

// openForge prepares to build plans on several threads: by the device's description, or by a handle for each
// thread if cuDNN offers engines for handles alone. closeForge must be called also after an error.
func (h *Handle) openForge() error {
	properties, err := describeHandle(&h.drawn, h.target().handle)
	if err != nil {
		return err
	}
	targets := slices.Repeat([]target{{properties: properties}}, h.options.Threads)
	hidden := hiddenEngines(h.target(), targets[0])
	if len(hidden) > 0 {
		clear(targets)
		for i := range targets {
			err = errors.Join(err, check("open a handle for a thread", C.cudnnCreate(&targets[i].handle)))
		}
	}
	h.forge = newForge(h.limits(), h.device.Do, targets...)
	h.options.Logger.Debug("cuDNN's plans are built on several threads", "threads", len(targets),
		"by_handle", len(hidden) > 0, "engines_by_handle_alone", hidden)
	return err
}

// closeForge ends the forge, if there is one.
func (h *Handle) closeForge() error {
	f := h.forge
	if f == nil {
		return nil
	}
	h.forge = nil
	f.close()
	return h.device.Finish(f.free)
}

// hiddenEngines lists engines that cuDNN offers for a handle and not for the description of its device, for the
// compiled passes of a layer with 256 channels. cuDNN 9.19 hides the fastest ones of an H100.
func hiddenEngines(handle, described target) (hidden []int64) {
	c := Conv{N: 26, H: 142, W: 142, C: 256, K: 256, R: 3, S: 3, Pad: 1, Precision: BFloat16}
	wide := c
	wide.Wide = true
	for _, s := range []Shape{{ForwardBiasReLU, c}, {MaskedDataGradient, c}, {FilterGradient, wide}} {
		known := engines(described, s)
		for _, e := range engines(handle, s) {
			if !slices.Contains(known, e) && !slices.Contains(hidden, e) {
				hidden = append(hidden, e)
			}
		}
	}
	return hidden
}

func (h *Handle) limits() limits { return h.options.limits() }

// limits follow from the options. Biases in bfloat16 and this project's kernels for biases and masks need no
// compiled plan. Hosts with few cores try one compiled plan in addition.
func (o Options) limits() limits {
	const many = 8 // cores that compile all there is within a few seconds
	l := limits{plans: o.Measured, compiled: o.Compiled, beside: 1, workspace: o.MaxWorkspace}
	if o.Threads >= many {
		l.beside = 2
	}
	return l
}

// Close frees the plans, the scratch memory and the handle. Closing twice is harmless.
func (h *Handle) Close() error {
	var errs []error
	errs = append(errs, h.closeForge())
	if h.plans != nil {
		errs = append(errs, h.closeAll(slices.Collect(maps.Values(h.plans)), nil))
		errs = append(errs, h.device.Finish(func() error { h.drawn.close(); return nil }))
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

// scratch returns at least this much memory. Outgrown memory stays, because captured graphs use it. Each
// memory is at least twice as large as the one before, or the largest allowed, so all outgrown memory is no
// larger than the current one.
func (h *Handle) scratch(bytes int) (cuda.Address, error) {
	if bytes <= h.bytes {
		h.captured = h.captured || h.stream.Capturing()
		return h.workspace, nil
	}
	if h.stream.Capturing() {
		return 0, fmt.Errorf("cudnn: %d bytes of scratch memory are needed within a capture: run the step once before", bytes)
	}
	room := max(bytes, min(2*h.bytes, h.options.MaxWorkspace))
	at, err := h.device.Alloc(room)
	if err != nil && room > bytes {
		room = bytes
		at, err = h.device.Alloc(room)
	}
	if err != nil {
		return 0, fmt.Errorf("cudnn: scratch memory: %w", err)
	}
	bytes = room
	if err := h.giveUp(); err != nil {
		return 0, errors.Join(err, h.device.Free(at))
	}
	h.workspace, h.bytes = at, bytes
	return at, nil
}

// giveUp gives the scratch memory back that is too small now, unless a captured graph may name it.
func (h *Handle) giveUp() error {
	old := h.workspace
	if old == 0 {
		return nil
	}
	if h.captured {
		h.outgrown, h.captured = append(h.outgrown, old), false
		return nil
	}
	h.workspace, h.bytes = 0, 0
	return errors.Join(h.stream.Sync(), h.device.Free(old))
}
