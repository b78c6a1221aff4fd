package weights

import (
	"bytes"
	"slices"
	"testing"

	"nmn/format/safetensors"
)

// A prefix from a training loop is removed only if all names have it.
func TestNames_LosePrefixesThatAllOfThemHave(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"module.a", "module.b"}, []string{"a", "b"}},
		{[]string{"module.model.a", "module.model.b"}, []string{"a", "b"}},
		{[]string{"model.module.a", "model.module.b"}, []string{"a", "b"}},
		{[]string{"model.module.a", "model.b"}, []string{"module.a", "b"}},
		{[]string{"module.a", "step"}, []string{"module.a", "step"}},
		{[]string{"step", "zoo.module.a"}, []string{"step", "zoo.module.a"}},
		{[]string{"model.a", "module.b"}, []string{"model.a", "module.b"}},
	} {
		var tensors []safetensors.Tensor
		for _, name := range c.in {
			tensors = append(tensors, safetensors.Tensor{Name: name, Shape: []int{6}, Data: sixth})
		}
		var b bytes.Buffer
		check(t, safetensors.Write(&b, nil, tensors))
		f, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "w.safetensors")
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if names := f.Names(); !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%q are called %q, want %q", c.in, names, c.want)
		}
	}
}
