package main

import (
	"context"

	"nmn/kernels"
	"nmn/run"
)

// openModel opens a model on a device and prints the device.
func (p *program) openModel(ctx context.Context, path string, which run.Checkpoint,
	r run.Resources) (*run.Model, error) {
	return run.OpenModel(ctx, path, run.ModelOptions{Checkpoint: which, Run: r, Log: p.log, Message: p.message})
}

// openDevice opens a device and prints it. features is set for nets that do not learn.
func (p *program) openDevice(r *run.Resources, features bool) (kernels.Backend, error) {
	backend, note, err := run.OpenDevice(r, features, p.log)
	if err == nil {
		p.message(run.DeviceMessage(backend, note))
	}
	return backend, err
}
