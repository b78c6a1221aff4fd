package weights

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"

	"google.golang.org/protobuf/encoding/protowire"
)

// field appends a field of bytes, number one of a number.
func field(b []byte, n protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), content)
}

func number(b []byte, n protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

func packedFloats(values []float32) []byte {
	var b []byte
	for _, v := range values {
		b = protowire.AppendFixed32(b, math.Float32bits(v))
	}
	return b
}

// oldBlob has the shape of Caffe before BlobShape.
func oldBlob(values []float32, num, channels, height, width int) []byte {
	var b []byte
	for i, d := range []int{num, channels, height, width} {
		b = number(b, protowire.Number(i+1), d)
	}
	return field(b, blobData, packedFloats(values))
}

func blob(values []float32, dims ...int) []byte {
	var shape, b []byte
	for _, d := range dims {
		shape = protowire.AppendVarint(shape, uint64(d))
	}
	b = field(b, blobShape, field(nil, shapeDim, shape))
	return field(b, blobData, packedFloats(values))
}

// layerV1 and layerV2 are layers of the two forms, with fields that are not of interest around the blobs.
func layerV1(name string, blobs ...[]byte) []byte {
	b := field(nil, 2, []byte("data")) // bottom
	b = field(number(b, 5, 4), layerNameV1, []byte(name))
	for _, blob := range blobs {
		b = field(b, layerBlobsV1, blob)
	}
	return field(nil, netLayersV1, b)
}

func layerV2(name string, blobs ...[]byte) []byte {
	b := field(field(nil, layerName, []byte(name)), 2, []byte("Convolution"))
	for _, blob := range blobs {
		b = field(b, layerBlobs, blob)
	}
	return field(nil, netLayers, b)
}

func counted(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	return values
}

func readModel(content []byte) (*File, error) {
	return Read(bytes.NewReader(content), int64(len(content)), "net.caffemodel")
}

func TestCaffe_BothFormsOfLayers(t *testing.T) {
	const k, cells = 2, 9
	filters := counted(k * 3 * cells)
	rgb := slices.Concat(filters[18:27], filters[9:18], filters[0:9], filters[45:54], filters[36:45], filters[27:36])
	for name, content := range map[string][]byte{
		"V1": slices.Concat(field(nil, 1, []byte("VGG")), layerV1("relu1"),
			layerV1("conv1_1", oldBlob(filters, k, 3, 3, 3), oldBlob([]float32{7, 8}, 1, 1, 1, k)),
			layerV1("fc6", oldBlob(counted(6), 1, 1, 2, 3), oldBlob([]float32{1, 2}, 1, 1, 1, 2))),
		"V2": slices.Concat(layerV2("relu1"), layerV2("conv1_1", blob(filters, k, 3, 3, 3), blob([]float32{7, 8}, k)),
			layerV2("fc6", blob(counted(6), 2, 3), blob([]float32{1, 2}, 2))),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := readModel(content)
			check(t, err)
			if f.Format != "Caffe" || !f.BGR ||
				!slices.Equal(f.Names(), []string{"conv1_1.weight", "conv1_1.bias", "fc6.weight", "fc6.bias"}) {
				t.Errorf("%s, BGR %t, %q", f.Format, f.BGR, f.Names())
			}
			for _, w := range []want{
				{"conv1_1.weight", safetensors.F32, []int{k, 3, 3, 3}, rgb},
				{"conv1_1.bias", safetensors.F32, []int{k}, []float32{7, 8}},
				{"fc6.weight", safetensors.F32, []int{2, 3}, counted(6)},
				{"fc6.bias", safetensors.F32, []int{2}, []float32{1, 2}},
			} {
				w.hold(t, f)
			}
		})
	}
}

func TestCaffe_DataInPartsAndDouble(t *testing.T) {
	parts := field(field(blob(nil, 4), blobData, packedFloats(counted(3))), blobData, packedFloats([]float32{3}))
	double := field(field(nil, blobShape, number(nil, shapeDim, 1)), blobDouble,
		protowire.AppendFixed64(nil, math.Float64bits(.5)))
	f, err := readModel(slices.Concat(layerV2("a", parts), layerV2("b", double)))
	check(t, err)
	want{"a.weight", safetensors.F32, []int{4}, counted(4)}.hold(t, f)
	want{"b.weight", safetensors.F64, []int{1}, []float32{.5}}.hold(t, f)
}

func TestCaffe_BrokenModelsAreRefused(t *testing.T) {
	good := layerV2("conv1_1", blob(counted(27), 1, 3, 3, 3), blob(counted(1), 1))
	single := field(nil, blobShape, number(nil, shapeDim, 1))
	single = protowire.AppendFixed32(protowire.AppendTag(single, blobData, protowire.Fixed32Type), 0)
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"cut short":       {good[:len(good)-9], "byte 0: a field that is longer than what it is in"},
		"text":            {[]byte("name: \"VGG_ILSVRC_16_layers\"\ninput: \"data\"\n"), "no .caffemodel"},
		"no weights":      {layerV2("relu"), "no layers with weights"},
		"too little data": {layerV2("conv1_1", blob(counted(26), 1, 3, 3, 3)), `layer "conv1_1", blob 0 at byte`},
		"no shape":        {layerV2("fc", field(nil, blobData, packedFloats(counted(2)))), "no shape"},
		"negative":        {layerV2("fc", blob(counted(1), -1)), "not a size"},
		"overflow":        {layerV2("fc", blob(counted(1), math.MaxInt, math.MaxInt, math.MaxInt)), "too large"},
		"overflow of old": {layerV1("fc", oldBlob(counted(1), 1, 1, 1, 1), oldBlob(counted(1), 1<<30, 1<<30, 1, 1)),
			"the shape"},
		"many dimensions": {layerV2("fc", blob(counted(1), slices.Repeat([]int{1}, 40)...)), "more than 32 dimensions"},
		"name twice":      {slices.Concat(good, good), `"conv1_1.weight" occurs twice`},
		"no name":         {layerV2("", blob(counted(1), 1)), `layer ""`},
		"not packed":      {layerV2("fc", single), "want them packed"},
		"before both forms": {field(nil, netLayersV1, field(field(nil, layerNameV1, []byte("x")), layerV0, []byte{})),
			"upgrade_net_proto_binary"},
		"group":             {protowire.AppendTag(nil, 1, protowire.StartGroupType), "unknown kind"},
		"many fields":       {bytes.Repeat(number(nil, 1, 1), maxFields+1), "more fields"},
		"filters of a size": {layerV2("fc", blob(counted(0), 0, 3, 1<<10, 1<<10)), "filters of 1024×1024"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readModel(c.content)
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "net.caffemodel") {
				t.Errorf("%v, want %q in it", err, c.says)
			}
		})
	}
}

func FuzzCaffe(f *testing.F) {
	f.Add(slices.Concat(layerV1("a", oldBlob(counted(27), 1, 3, 3, 3), oldBlob(counted(1), 1, 1, 1, 1)),
		layerV2("b", blob(counted(2), 2))))
	f.Fuzz(func(t *testing.T, content []byte) { readAll(t, content, "fuzz.caffemodel") })
}

// readAll reads all elements of a file that may be broken, and compares their size with the file's.
func readAll(t *testing.T, content []byte, name string) {
	f, err := Read(bytes.NewReader(content), int64(len(content)), name)
	if err != nil {
		return
	}
	for _, name := range f.Names() {
		dtype, shape, err := f.Info(name)
		check(t, err)
		n, err := count(shape)
		if !floating(dtype) || err != nil || n > 1<<16 {
			continue // elements of unknown tensors are never read
		}
		next, err := f.Elements(name)
		if err != nil {
			continue
		}
		_ = next(make([]float32, n)) // data may be cut short or damaged
		if err := next(make([]float32, 1)); err == nil {
			t.Fatalf("tensor %q %v has more elements than its shape", name, shape)
		}
	}
}
