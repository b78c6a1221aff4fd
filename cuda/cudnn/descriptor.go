//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"slices"
	"unsafe"
)

type descriptor = C.cudnnBackendDescriptor_t

// builder makes backend descriptors. After the first failure, which err holds, it does nothing more.
type builder struct {
	made []descriptor
	err  error
}

// close destroys the descriptors, the latest first.
func (b *builder) close() {
	for i := len(b.made) - 1; i >= 0; i-- {
		C.cudnnBackendDestroyDescriptor(b.made[i]) // fails only for a pointer that is none
	}
	b.made = nil
}

// abandon destroys one that was made: a plan holds code on the device.
func (b *builder) abandon(d descriptor) {
	if i := slices.Index(b.made, d); i >= 0 {
		b.made = slices.Delete(b.made, i, i+1)
		C.cudnnBackendDestroyDescriptor(d)
	}
}

// create makes a descriptor.
func (b *builder) create(what string, kind C.cudnnBackendDescriptorType_t) (d descriptor) {
	if b.err != nil {
		return nil
	}
	if b.err = check("create "+what, C.cudnnBackendCreateDescriptor(kind, &d)); b.err == nil {
		b.made = append(b.made, d)
	}
	return d
}

// list makes this number of descriptors, to read others into.
func (b *builder) list(what string, kind C.cudnnBackendDescriptorType_t, count int) []descriptor {
	list := make([]descriptor, count)
	for i := range list {
		list[i] = b.create(what, kind)
	}
	return list
}

func (b *builder) finalize(what string, d descriptor) {
	if b.err == nil {
		b.err = check("finalize "+what, C.cudnnBackendFinalize(d))
	}
}

// set gives an attribute of a descriptor values of a type that is C's for kind.
func set[T any](b *builder, d descriptor, attribute C.cudnnBackendAttributeName_t, kind C.cudnnBackendAttributeType_t,
	values ...T) {
	if b.err != nil {
		return
	}
	b.err = check("set an attribute", C.cudnnBackendSetAttribute(d, attribute, kind, C.int64_t(len(values)),
		unsafe.Pointer(&values[0])))
}

func (b *builder) integers(d descriptor, attribute C.cudnnBackendAttributeName_t, values ...int64) {
	set(b, d, attribute, C.CUDNN_TYPE_INT64, values...)
}

func (b *builder) floats(d descriptor, attribute C.cudnnBackendAttributeName_t, values ...float32) {
	set(b, d, attribute, C.CUDNN_TYPE_FLOAT, values...)
}

func (b *builder) dataType(d descriptor, attribute C.cudnnBackendAttributeName_t, t C.cudnnDataType_t) {
	set(b, d, attribute, C.CUDNN_TYPE_DATA_TYPE, t)
}

func (b *builder) descriptors(d descriptor, attribute C.cudnnBackendAttributeName_t, values ...descriptor) {
	set(b, d, attribute, C.CUDNN_TYPE_BACKEND_DESCRIPTOR, values...)
}

// get reads an attribute into values and returns how many there are.
func get[T any](what string, d descriptor, attribute C.cudnnBackendAttributeName_t, kind C.cudnnBackendAttributeType_t,
	values []T) (int, error) {
	var count C.int64_t
	err := check("read "+what, C.cudnnBackendGetAttribute(d, attribute, kind, C.int64_t(len(values)), &count,
		unsafe.Pointer(&values[0])))
	return min(int(count), len(values)), err
}

// one reads an attribute of one value.
func one[T any](what string, d descriptor, attribute C.cudnnBackendAttributeName_t,
	kind C.cudnnBackendAttributeType_t) (T, error) {
	value := make([]T, 1)
	_, err := get(what, d, attribute, kind, value)
	return value[0], err
}
