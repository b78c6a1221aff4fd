package weights

import (
	"strings"

	"nmn/format/safetensors"
)

// storage is a row of elements in the file that tensors are views of.
type storage struct {
	key      string
	dtype    safetensors.DType
	elements int64
}

// pickledTensor is a view of a storage. offset and strides count elements.
type pickledTensor struct {
	storage        *storage
	offset         int64
	shape, strides []int64
}

// storageTypes are PyTorch's classes of storages, in the module torch.
var storageTypes = map[global]safetensors.DType{
	"torch.FloatStorage": safetensors.F32, "torch.DoubleStorage": safetensors.F64, "torch.HalfStorage": safetensors.F16,
	"torch.BFloat16Storage": safetensors.BF16, "torch.LongStorage": safetensors.I64,
	"torch.IntStorage":   safetensors.I32,
	"torch.ShortStorage": safetensors.I16, "torch.CharStorage": safetensors.I8, "torch.ByteStorage": safetensors.U8,
	"torch.BoolStorage": safetensors.Bool,
}

// pickleCalls are the functions that a pickle may call. They make data of their arguments.
var pickleCalls = map[global]func(arguments tuple) (any, error){
	"collections.OrderedDict":         orderedDict,
	"torch._utils._rebuild_tensor":    rebuildTensor,
	"torch._utils._rebuild_tensor_v2": rebuildTensor,
	"torch._utils._rebuild_parameter": rebuildParameter,
}

// named pushes a class or function, whose module and name follow.
func named(u *unpickler) {
	module := u.line()
	u.global(module, u.line())
}

func namedOnStack(u *unpickler) {
	names := u.several(2)
	module, ok := names[0].(string)
	name, ok2 := names[1].(string)
	if !ok || !ok2 {
		u.failf("the name of a global is a %s and a %s", kind(names[0]), kind(names[1]))
	}
	u.global(module, name)
}

func (u *unpickler) global(module, name string) {
	g := global(module + "." + name)
	if _, ok := storageTypes[g]; !ok && pickleCalls[g] == nil {
		u.failf("it asks for %q, which is not among the names that tensors are made with; nothing of it was run. "+
			"In PyTorch, save the weights alone: torch.save(net.state_dict(), FILE)", clip(string(g)))
	}
	u.push(g)
}

// reduce calls a function.
func reduce(u *unpickler) {
	call := u.several(2)
	name, _ := call[0].(global)
	arguments, ok := call[1].(tuple)
	f := pickleCalls[name]
	if f == nil || !ok {
		u.failf("it calls a %s with a %s", kind(call[0]), kind(call[1]))
		return
	}
	v, err := f(arguments)
	u.check(err)
	u.push(v)
}

// build sets attributes of an object. A dictionary of weights has some, with version numbers: they are
// not needed.
func build(u *unpickler) {
	state := u.pop()
	v := u.top()
	if _, ok := v.(*dict); !ok {
		u.failf("it sets attributes (%s) of a %s", kind(state), kind(v))
	}
}

// persistent asks for a storage by its identifier.
func persistent(u *unpickler) {
	if id := u.pop(); u.err == nil {
		v, err := u.storage(id)
		u.check(err)
		u.push(v)
	}
}

func orderedDict(arguments tuple) (any, error) {
	if len(arguments) != 0 {
		return nil, faultf("an OrderedDict made of %d arguments, want none", len(arguments))
	}
	return &dict{}, nil
}

// rebuildTensor has the arguments storage, offset, shape and strides. Whether it needs a gradient, and hooks,
// may follow.
func rebuildTensor(arguments tuple) (any, error) {
	if len(arguments) < 4 {
		return nil, faultf("a tensor of %d arguments, want a storage, its offset, shape and strides", len(arguments))
	}
	s, isStorage := arguments[0].(*storage)
	offset, isOffset := arguments[1].(int64)
	shape, isShape := integers(arguments[2])
	strides, areStrides := integers(arguments[3])
	if !isStorage || !isOffset || !isShape || !areStrides || offset < 0 || len(shape) != len(strides) {
		return nil, faultf("a tensor of %s, %s, %s and %s, want a storage, an offset, and as many sizes as strides",
			kind(arguments[0]), kind(arguments[1]), kind(arguments[2]), kind(arguments[3]))
	}
	return &pickledTensor{storage: s, offset: offset, shape: shape, strides: strides}, nil
}

// rebuildParameter marks a tensor as one that learns.
func rebuildParameter(arguments tuple) (any, error) {
	if len(arguments) > 0 {
		if t, ok := arguments[0].(*pickledTensor); ok {
			return t, nil
		}
	}
	return nil, faultf("a parameter without a tensor")
}

// integers takes a tuple of integers that are 0 or more.
func integers(v any) ([]int64, bool) {
	items, ok := v.(tuple)
	list := make([]int64, len(items))
	for i, item := range items {
		n, isInt := item.(int64)
		if !isInt || n < 0 {
			return nil, false
		}
		list[i] = n
	}
	return list, ok
}

// parseStorage parses the identifier of a storage, which is a tuple of "storage", its class, key, device and
// number of elements. A view of it may follow the last.
func parseStorage(id any) (*storage, error) {
	parts, ok := id.(tuple)
	if !ok || len(parts) < 5 || parts[0] != any("storage") {
		return nil, faultf("a persistent identifier that is a %s of no storage", kind(id))
	}
	class, isClass := parts[1].(global)
	key, isKey := parts[2].(string)
	elements, isCount := parts[4].(int64)
	dtype := storageTypes[class]
	switch {
	case !isClass || !isKey || !isCount || dtype == "" || elements < 0:
		return nil, faultf("a storage of %s, %s and %s, want a class, a key and a number of elements",
			kind(parts[1]), kind(parts[2]), kind(parts[4]))
	case strings.ContainsAny(key, "/\\\x00"):
		return nil, faultf("a storage with the key %q", clip(key))
	case len(parts) > 5 && parts[5] != nil:
		return nil, faultf("storage %q is a view of another, as PyTorch before 0.4 saved them: load and save it with "+
			"a newer one", clip(key))
	}
	return &storage{key, dtype, elements}, nil
}
