package main

import (
	"cmp"
	"nmn/kernels"
	"nmn/model"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// openedNet is the net of a checkpoint on a device that was opened for it alone.
type openedNet struct {
	*model.Net
	backend    kernels.Backend
	vocabulary *text.Vocabulary
}

func openNet(p *program, r *run.Resources, file string) (*openedNet, error) {
	backend, err := p.openDevice(r)
	if err != nil {
		return nil, err
	}
	net, checkpoint, err := train.OpenNet(file, backend)
	if err != nil {
		return nil, cmp.Or(err, backend.Close())
	}
	o := &openedNet{Net: net, backend: backend}
	if o.vocabulary, err = checkpoint.Vocabulary(); err != nil {
		return nil, cmp.Or(err, o.Close())
	}
	return o, nil
}

// Close gives back the net and its device.
func (o *openedNet) Close() error { return cmp.Or(o.Net.Close(), o.backend.Close()) }

// openDevice opens a device and says which.
func (p *program) openDevice(r *run.Resources) (kernels.Backend, error) {
	backend, note, err := run.OpenDevice(r, p.log)
	if err == nil {
		p.tell(run.DeviceMessage(backend, note))
	}
	return backend, err
}
