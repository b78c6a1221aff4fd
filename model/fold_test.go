package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/tools/conform"
)

// weightsOf are the tensors of a file by their names.
func weightsOf(t testing.TB, path string) map[string]safetensors.Tensor {
	t.Helper()
	f, all := openTensors(t, path), map[string]safetensors.Tensor{}
	for _, name := range f.Names() {
		dtype, shape, err := f.Info(name)
		expect.OK(t, err)
		if dtype == safetensors.I64 { // num_batches_tracked, whose values are not read
			all[name] = safetensors.Tensor{Name: name, Shape: []int{1}, Data: []float32{0}}
			continue
		}
		values, _, err := f.Float32(name)
		expect.OK(t, err)
		all[name] = safetensors.Tensor{Name: name, Shape: shape, Data: values}
	}
	return all
}

func sorted(tensors map[string]safetensors.Tensor) (list []safetensors.Tensor) {
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		tensor := tensors[name]
		tensor.Name = name
		list = append(list, tensor)
	}
	return list
}

// Loaded filters and biases follow the equation, also for a convolution with a bias of its own.
func TestFold_IsTheEquation(t *testing.T) {
	tensors := weightsOf(t, "testdata/resnet_basic.safetensors")
	own := []float32{1, -2, 3, -4}
	tensors["conv1.bias"] = safetensors.Tensor{Shape: []int{4}, Data: own}
	n := newNet(t, conform.OpenCPU(t, 1), smallResNet(Basic, NoNoise))
	expect.OK(t, expect.ErrorOf(n.Load(fileOf(t, sorted(tensors)), nil)))
	data := func(name string) []float32 { return tensors[name].Data.([]float32) }
	for _, u := range n.units {
		if u.Kind != Convolution {
			continue
		}
		norm := map[string]string{"conv1": "bn1", "layer2.0.downsample.0": "layer2.0.downsample.1",
			"layer2.1.conv2": "layer2.1.bn2"}[u.Name]
		if norm == "" {
			continue
		}
		weight, bias := values(t, n, u.w.W), values(t, n, u.b.W)
		size := len(weight) / u.C
		filters := make([]float32, len(weight))
		u.w.Encode(filters, weight)
		for k := range u.C {
			s := float64(data(norm + ".weight")[k]) / math.Sqrt(float64(data(norm + ".running_var")[k])+1e-5)
			before := 0.0
			if u.Name == "conv1" {
				before = float64(own[k])
			}
			want := float64(data(norm + ".bias")[k]) + (before-float64(data(norm + ".running_mean")[k]))*s
			if math.Abs(float64(bias[k])-want) > 1e-6 {
				t.Errorf("%s: bias %d is %v, want %v", u.Name, k, bias[k], want)
			}
			for i := range size {
				want := float64(data(u.Name + ".weight")[k*size+i]) * s
				if math.Abs(float64(filters[k*size+i])-want) > 1e-6 {
					t.Fatalf("%s: weight %d of channel %d is %v, want %v", u.Name, i, k, filters[k*size+i], want)
				}
			}
		}
	}
}

// The error names a missing tensor, an unknown one or one of another shape, and gives advice.
func TestFold_NamesTheTensorAtFault(t *testing.T) {
	type tensors = map[string]safetensors.Tensor
	vector := func(values ...float32) safetensors.Tensor {
		return safetensors.Tensor{Shape: []int{len(values)}, Data: values}
	}
	for name, c := range map[string]struct {
		edit  func(tensors)
		other bool // wraps ErrOtherModel
		want  []string
	}{
		"no variance": {func(f tensors) { delete(f, "layer2.0.bn1.running_var") }, true,
			[]string{"no layer2.0.bn1.running_var", "state_dict()"}},
		"no gain": {func(f tensors) { delete(f, "bn1.weight") }, true, []string{"no bn1.weight"}},
		"no convolution": {func(f tensors) { delete(f, "layer1.0.conv2.weight") }, true,
			[]string{"no layer1.0.conv2.weight"}},
		"a normalisation too few": {func(f tensors) {
			for _, part := range []string{"weight", "bias", "running_mean", "running_var"} {
				delete(f, "layer2.0.downsample.1."+part)
			}
		}, true, []string{"no layer2.0.downsample.1.weight"}},
		"no normalisation at all": {func(f tensors) {
			for name := range f {
				if strings.Contains(name, "bn") || strings.Contains(name, "downsample.1") {
					delete(f, name)
				}
			}
		}, true, []string{"no conv1.bias", "state_dict()"}},
		"a mean of another length": {func(f tensors) { f["bn1.running_mean"] = vector(1, 2, 3) }, true,
			[]string{"bn1.running_mean is [3]", "want [4]"}},
		"a filter of another shape": {func(f tensors) {
			f["layer2.0.conv1.weight"] = safetensors.Tensor{Shape: []int{6, 4, 1, 1}, Data: make([]float32, 24)}
		}, true, []string{"layer2.0.conv1.weight is [6 4 1 1]", "[6 4 3 3]"}},
		"a variance below 0": {func(f tensors) { f["bn1.running_var"] = vector(1, 2, -1, 4) }, false,
			[]string{"element 2 of bn1.running_var is -1", "damaged"}},
		"a variance that is no number": {func(f tensors) {
			f["bn1.running_var"] = vector(1, float32(math.NaN()), 1, 4)
		}, false, []string{"element 1 of bn1.running_var is NaN", "damaged"}},
		"an infinite mean": {func(f tensors) { f["bn1.running_mean"] = vector(1, 1, 1, float32(math.Inf(1))) }, false,
			[]string{"element 3 of bn1.running_mean is +Inf"}},
		"squeeze and excitation": {func(f tensors) { f["layer1.0.se.fc1.weight"] = vector(1) }, true,
			[]string{"layer1.0.se.fc1.weight", "seresnet50", "torchvision"}},
		"a deep stem": {func(f tensors) {
			f["conv1.0.weight"] = f["conv1.weight"]
			delete(f, "conv1.weight")
		}, true, []string{"conv1.0.weight", "resnet50d"}},
		"a pool in the shortcut": {func(f tensors) { f["layer2.0.downsample.2.weight"] = vector(1) }, true,
			[]string{"layer2.0.downsample.2.weight", "resnet50d"}},
		"a block more": {func(f tensors) { f["layer1.1.conv1.weight"] = f["layer1.0.conv1.weight"] }, true,
			[]string{"layer1.1.conv1.weight"}},
	} {
		t.Run(name, func(t *testing.T) {
			tensors := weightsOf(t, "testdata/resnet_basic.safetensors")
			c.edit(tensors)
			n := newNet(t, conform.OpenCPU(t, 1), smallResNet(Basic, NoNoise))
			_, err := n.Load(fileOf(t, sorted(tensors)), nil)
			if err == nil || errors.Is(err, ErrOtherModel) != c.other {
				t.Fatalf("error %v", err)
			}
			for _, part := range c.want {
				expect.Refusal(t, err, part)
			}
		})
	}
}

// names is a file of tensors without contents.
type named struct {
	safetensors.File
	names []string
}

func (n *named) Names() []string { return n.names }

func blockNames(c Config) *named {
	f := &named{}
	for _, node := range c.Backbone() {
		if node.Kind == Convolution {
			f.names = append(f.names, node.File+".weight")
		}
	}
	return f
}

func TestRecogniseResNet(t *testing.T) {
	for _, name := range ResNets() {
		c, _ := ResNet(name, 2, false)
		f := blockNames(c)
		if got := RecogniseResNet(f); got != name {
			t.Errorf("the layers of %s are taken for %q", name, got)
		}
		slices.Reverse(f.names)
		for i := range f.names {
			f.names[i] = "backbone." + f.names[i]
		}
		if got := RecogniseResNet(f); got != name {
			t.Errorf("the layers of %s as nmn calls them are taken for %q", name, got)
		}
	}
	c, _ := ResNet("resnet34", 2, false)
	f := blockNames(c)
	n := newNet(t, conform.OpenCPU(t, 1), func() Config { c, _ := ResNet("resnet18", 2, false); return c.Narrow(.1) }())
	expect.Refusal(t, expect.ErrorOf(n.source(f)), "`net.arch` to resnet34", ErrOtherModel)
	f.names = slices.DeleteFunc(f.names, func(name string) bool { return strings.HasPrefix(name, "layer2.1.") })
	if got := RecogniseResNet(f); got != "" {
		t.Errorf("a net without one of its blocks is taken for %s", got)
	}
	if got := RecogniseResNet(blockNames(VGG16(2, false))); got != "" {
		t.Errorf("VGG16 is taken for %s", got)
	}
}

// foldSeed is a file of a net with two blocks of one channel each, with normalisations, in half floats.
func foldSeed(f *testing.F) []byte {
	f.Helper()
	var header, data bytes.Buffer
	add := func(name string, value uint16, shape ...int) {
		if header.Len() > 0 {
			header.WriteByte(',')
		}
		n, from := 1, data.Len()
		for _, side := range shape {
			n *= side
		}
		for range n {
			data.Write([]byte{byte(value), byte(value >> 8)})
		}
		list, _ := json.Marshal(shape) // numbers
		fmt.Fprintf(&header, `"%s":{"dtype":"F16","shape":%s,"data_offsets":[%d,%d]}`, name, list, from, data.Len())
	}
	for _, c := range []struct {
		name, norm string
		in, side   int
	}{{"conv1", "bn1", 3, 7}, {"layer1.0.conv1", "layer1.0.bn1", 1, 3}, {"layer1.0.conv2", "layer1.0.bn2", 1, 3},
		{"layer2.0.conv1", "layer2.0.bn1", 1, 3}, {"layer2.0.conv2", "layer2.0.bn2", 1, 3},
		{"layer2.0.downsample.0", "layer2.0.downsample.1", 1, 1}} {
		const half, one = 0x3800, 0x3c00
		add(c.name+".weight", half, 1, c.in, c.side, c.side)
		for _, part := range []string{"weight", "bias", "running_mean", "running_var"} {
			add(c.norm+"."+part, one, 1)
		}
	}
	add("fc.weight", 0, 1, 1)
	add("fc.bias", 0, 1)
	text := "{" + header.String() + "}"
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), []byte(text), data.Bytes())
}

func FuzzFold(f *testing.F) {
	seed := foldSeed(f)
	n := newNet(f, conform.OpenCPU(f, 1), Config{Classes: 1, Size: 16, Residual: Basic, Depths: []int{1, 1},
		Widths: []int{1, 1}, Noise: NoNoise, NoisePool: "mean", Scale: [3]float32{1, 1, 1}})
	file, err := safetensors.NewReader(bytes.NewReader(seed), int64(len(seed)))
	if err != nil {
		f.Fatal(err)
	}
	if report, err := n.Load(file, nil); err != nil || !report.Folded {
		f.Fatalf("the seed of %d bytes belongs to another net: %+v, %v", len(seed), report, err)
	}
	f.Add(seed, "layer2.0.downsample.1.running_var", uint32(0))
	f.Add(seed, "bn1.weight", math.Float32bits(float32(math.NaN())))
	f.Add(seed, "layer1.0.conv1.weight", uint32(1))
	f.Fuzz(func(t *testing.T, data []byte, name string, bits uint32) {
		file, err := safetensors.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil || len(file.Names()) > 1000 {
			return
		}
		RecogniseResNet(file)
		if _, err := n.Load(&altered{file, name, math.Float32frombits(bits)}, nil); err != nil {
			return
		}
		for _, p := range n.Params() {
			if slices.ContainsFunc(values(t, n, p.W), func(v float32) bool { return v-v != 0 }) {
				t.Fatalf("%s has numbers that are not finite", p.Name)
			}
		}
	})
}

// altered is a file in which a number replaces the first element of a tensor.
type altered struct {
	Source
	name  string
	value float32
}

func (a *altered) Elements(name string) (func(dst []float32) error, error) {
	next, err := a.Source.Elements(name)
	if err != nil || name != a.name {
		return next, err
	}
	first := true
	return func(dst []float32) error {
		err := next(dst)
		if err == nil && first && len(dst) > 0 {
			dst[0], first = a.value, false
		}
		return err
	}, nil
}
