//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"bytes"
	"errors"
	"fmt"
)

// Described makes plans for an absent device, from its description. So cuDNN's offers for it can be checked
// on a host without a device or driver.
type Described struct {
	builder
	properties descriptor
}

// Describe reads a device's description, the JSON of CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION.
func Describe(description []byte) (*Described, error) {
	if err := library(); err != nil {
		return nil, err
	}
	if len(description) == 0 {
		return nil, errors.New("cudnn: the description of the device is empty")
	}
	d := &Described{}
	d.properties = d.create("a device's description", C.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)
	set(&d.builder, d.properties, C.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, C.CUDNN_TYPE_CHAR,
		append(description[:len(description):len(description)], 0)...)
	d.finalize("a device's description", d.properties)
	if d.err != nil {
		d.close()
		return nil, d.err
	}
	return d, nil
}

// Description is cuDNN's description of the handle's device, for Describe on another host.
func (h *Handle) Description() (description []byte, err error) {
	err = h.device.Do(func() error {
		var b builder
		defer b.close()
		properties, err := describeHandle(&b, h.target().handle)
		if err == nil {
			description, err = writeDescription(properties)
		}
		return err
	})
	return description, err
}

// describeHandle has cuDNN describe the device of a handle.
func describeHandle(b *builder, handle C.cudnnHandle_t) (descriptor, error) {
	properties := b.create("a device's description", C.CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)
	set(b, properties, C.CUDNN_ATTR_DEVICEPROP_HANDLE, C.CUDNN_TYPE_HANDLE, handle)
	b.finalize("a device's description", properties)
	return properties, b.err
}

// writeDescription reads the JSON of a device's description.
func writeDescription(properties descriptor) ([]byte, error) {
	text := make([]byte, 64<<10) // a description has about one kilobyte
	n, err := get("a device's description", properties, C.CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
		C.CUDNN_TYPE_CHAR, text)
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(text[:n], "\x00"), nil
}

// Close frees the description.
func (d *Described) Close() error {
	d.close()
	return nil
}

// Plans returns the engines that can be built for a pass, at most limit of them. Those that cuDNN expects to
// be fast come first.
func (d *Described) Plans(pass Pass, c Conv, limit int) ([]Choice, error) {
	g, err := newGraph(pass, c, target{properties: d.properties})
	defer g.close()
	if err != nil {
		return nil, err
	}
	candidates, err := g.candidates()
	if err != nil {
		return nil, err
	}
	var built []Choice
	var last error
	for i := range candidates {
		if last = g.finish(&candidates[i]); last == nil {
			built = append(built, Choice{Engine: candidates[i].Engine, Workspace: candidates[i].workspace})
		}
		if len(built) == limit {
			break
		}
	}
	if len(built) == 0 {
		return nil, fmt.Errorf("cudnn: %v of %v: none of %d engines can be built, the last: %w: %w", pass, c, len(candidates),
			last, ErrUnsupported)
	}
	return built, nil
}

// Restore builds the plan of an engine that was chosen before.
func (d *Described) Restore(pass Pass, c Conv, e Engine) (Choice, error) {
	g, err := newGraph(pass, c, target{properties: d.properties})
	defer g.close()
	if err != nil {
		return Choice{}, err
	}
	chosen, err := g.restore(e)
	if err == nil {
		err = g.finish(&chosen)
	}
	return Choice{Engine: chosen.Engine, Workspace: chosen.workspace}, err
}
