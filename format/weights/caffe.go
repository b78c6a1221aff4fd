package weights

import (
	"fmt"
	"io"
	"slices"

	"nmn/format/safetensors"
)

// Fields of Caffe's messages that matter here.
const (
	netLayersV1 = 2   // NetParameter: layers of the first form
	netLayers   = 100 // and of the second

	layerNameV1, layerBlobsV1 = 4, 6
	layerName, layerBlobs     = 1, 7
	layerV0                   = 1 // inside one of the first form: a form before it

	blobNum, blobWidth = 1, 4 // num, channels, height, width: the shape before blobShape
	blobData           = 5    // floats
	blobShape          = 7
	blobDouble         = 8
	shapeDim           = 1
)

// readCaffe reads the layers of a .caffemodel: a NetParameter whose layers have blobs, the weight first and
// then the bias, named here <layer>.weight and <layer>.bias. Data is read only when needed. Caffe's pictures
// are BGR. The channels of the filters over them are reordered to RGB.
func readCaffe(r io.ReaderAt, size int64) (*File, error) {
	f := &File{Format: "Caffe", BGR: true}
	m := newMessage(r, size)
	for m.next() {
		form := layerForm{name: layerName, blobs: layerBlobs}
		switch m.field {
		case netLayersV1:
			form = layerForm{name: layerNameV1, blobs: layerBlobsV1, old: true}
		case netLayers:
		default:
			continue
		}
		arrays, err := caffeLayer(m.inner(), form)
		if err != nil {
			return nil, err
		}
		f.arrays = append(f.arrays, arrays...)
	}
	if m.err != nil {
		return nil, m.err
	}
	if len(f.arrays) == 0 {
		return nil, faultf("it has no layers with weights: is it a .caffemodel?")
	}
	return f, f.reverseChannels()
}

// layerForm are the fields of a form of layers.
type layerForm struct {
	name, blobs int32
	old         bool
}

// maxBlobs is more than any layer has: batch normalisation has three.
const maxBlobs = 16

func caffeLayer(m message, form layerForm) ([]array, error) {
	at := m.at
	name := ""
	var blobs []message
	for m.next() {
		switch {
		case m.field == form.name && m.isBytes():
			text, err := m.text()
			if err != nil {
				return nil, err
			}
			name = text
		case m.field == form.blobs && m.isBytes():
			blobs = append(blobs, m.inner())
		case form.old && m.field == layerV0 && m.isBytes():
			return nil, faultf("byte %d: a layer in Caffe's first form: convert the file with its "+
				"upgrade_net_proto_binary", at)
		}
	}
	if m.err != nil || len(blobs) == 0 {
		return nil, m.err
	}
	if name == "" || len(blobs) > maxBlobs {
		return nil, faultf("byte %d: layer %q with %d blobs", at, clip(name), len(blobs))
	}
	arrays := make([]array, len(blobs))
	for i, b := range blobs {
		var err error
		if arrays[i], err = caffeBlob(b, i == 0); err != nil {
			return nil, fmt.Errorf("layer %q, blob %d at byte %d: %w", clip(name), i, b.at, err)
		}
		arrays[i].name = name + [...]string{".weight", ".bias"}[min(i, 1)]
		if i > 1 {
			arrays[i].name = fmt.Sprintf("%s.%d", name, i)
		}
	}
	return arrays, nil
}

// caffeBlob finds shape and data of a blob. Blobs before BlobShape have four dimensions. Matrices use the
// last two of them, and biases the last one.
func caffeBlob(m message, weight bool) (array, error) {
	old := []int64{1, 1, 1, 1}
	var dims []int64
	shaped, legacy := false, false
	var data []section
	dtype := safetensors.F32
	for m.next() {
		switch {
		case m.field >= blobNum && m.field <= blobWidth && m.isVarint():
			old[m.field-blobNum], legacy = int64(m.value), true
		case m.field == blobShape && m.isBytes():
			shaped = true
			inner := m.inner()
			if dims = inner.varints(shapeDim); inner.err != nil {
				return array{}, inner.err
			}
		case m.field == blobData && m.isBytes():
			data = append(data, m.section())
		case m.field == blobDouble && m.isBytes():
			data, dtype = append(data, m.section()), safetensors.F64
		case m.field == blobData || m.field == blobDouble:
			return array{}, faultf("byte %d: numbers one by one, want them packed", m.at)
		}
	}
	switch {
	case m.err != nil:
		return array{}, m.err
	case shaped:
	case !legacy:
		return array{}, faultf("it has no shape")
	case weight && old[0] == 1 && old[1] == 1:
		dims = old[2:]
	case weight:
		dims = old
	default:
		dims = []int64{1}
		for _, d := range old {
			if dims[0] *= d; d < 1 || dims[0] > 1<<40 {
				return array{}, faultf("the shape %v", old)
			}
		}
	}
	return caffeArray(m.r, dims, dtype, data)
}

// caffeArray checks the data of a blob against its shape.
func caffeArray(r io.ReaderAt, dims []int64, dtype safetensors.DType, data []section) (array, error) {
	shape, err := sizes(dims)
	if err != nil {
		return array{}, err
	}
	n, err := count(shape)
	if err != nil {
		return array{}, err
	}
	size, ok := byteCount(n, dtype.Size())
	held := int64(0)
	for _, s := range data {
		held += s.length
	}
	if !ok || held != size {
		return array{}, faultf("%d bytes of %s for the shape %v", held, dtype, shape)
	}
	return array{dtype: dtype, shape: shape, open: func() (elements, error) {
		var parts []io.Reader
		for _, s := range data {
			parts = append(parts, io.NewSectionReader(r, s.at, s.length))
		}
		return stream(io.MultiReader(parts...), dtype.Size(), dtype.Float32Decoder()), nil
	}}, nil
}

// SetBGR sets the order of the channels of input pictures, if the format does not show it or the caller
// overrides it: weights converted from Caffe's keep its order. Filters are returned in the order RGB.
func (f *File) SetBGR(bgr bool) error {
	if f.BGR == bgr {
		return nil
	}
	f.BGR = bgr
	return f.reverseChannels()
}

// reverseChannels puts the channels of the filters over the picture, the only ones with three, into the
// opposite order: BGR into RGB.
func (f *File) reverseChannels() error {
	const channels = 3
	overPicture := func(a array) bool { return len(a.shape) == 4 && a.shape[1] == channels }
	first := slices.IndexFunc(f.arrays, overPicture)
	if first < 0 {
		return nil // features of another layer go in
	}
	a := f.arrays[first]
	plane := int64(a.shape[2]) * int64(a.shape[3])
	const most = 1 << 16 // cells: filters have few
	if plane > most {
		return faultf("tensor %q: filters of %d×%d cells over a picture", clip(a.name), a.shape[2], a.shape[3])
	}
	f.arrays[first].open = func() (elements, error) {
		next, err := a.open()
		return reversed(next, channels, int(plane)), err
	}
	return nil
}

// reversed gives filters whose planes are in the opposite order.
func reversed(next elements, channels, plane int) elements {
	read, filter := make([]float32, channels*plane), []float32(nil)
	return func(dst []float32) error {
		for len(dst) > 0 {
			if len(filter) == 0 {
				if err := next(read); err != nil {
					return err
				}
				filter = filter[:0]
				for c := channels - 1; c >= 0; c-- {
					filter = append(filter, read[c*plane:(c+1)*plane]...)
				}
			}
			n := copy(dst, filter)
			dst, filter = dst[n:], filter[n:]
		}
		return nil
	}
}
