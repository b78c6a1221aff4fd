package backbone

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nmn/format/weights"
	"nmn/kernels"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/vit"

	dense "gorgonia.org/tensor"
)

// ErrOther is wrapped by errors about files with weights of an unknown network.
var ErrOther = errors.New("weights of no network that features are taken from")

// Net takes features of pictures. It serves one goroutine at a time, and must be closed.
type Net interface {
	// Info describes it.
	Info() *Info
	// Features writes the outputs of layers for N pictures: row i holds N×width numbers of layers[i]. pixels
	// are N×S×S×3 of uint8, prepared as Info describes.
	Features(pixels *dense.Dense, layers []model.Layer, rows [][]float32) error
	// Close gives the memory on the device back.
	Close() error
}

// Info describes a net and the preparation of its pictures.
type Info struct {
	Name     string                // for display, such as ViT-S/14 or VGG16
	Pictures picture.Preprocessing // preparation of the input
	Layers   []Layer               // layers with features; the first is the default
	// GELU and Heads describe a transformer; empty and 0 for other nets.
	GELU  vit.GELU
	Heads int
}

// Layer is a layer that features can be taken of.
type Layer struct {
	Name  model.Layer
	Width int // numbers for each picture
}

// Width is how many numbers a layer has for each picture.
func (i *Info) Width(name model.Layer) (int, error) {
	var known []string
	for _, l := range i.Layers {
		if l.Name == name {
			return l.Width, nil
		}
		known = append(known, string(l.Name))
	}
	return 0, fmt.Errorf("%s has no layer %q to take features of; it has %s", i.Name, name, strings.Join(known, ", "))
}

// Default returns the layer to use if none is named.
func (i *Info) Default() model.Layer { return i.Layers[0].Name }

// String describes the net in one line.
func (i *Info) String() string {
	var layers []string
	for _, l := range i.Layers {
		layers = append(layers, fmt.Sprintf("%s (%d)", l.Name, l.Width))
	}
	attention := ""
	if i.Heads > 0 {
		attention = fmt.Sprintf(", %d heads, GELU %s", i.Heads, i.GELU)
	}
	return fmt.Sprintf("%s at %d pixels%s; layers %s; pictures: %s", i.Name, i.Pictures.Crop, attention,
		strings.Join(layers, ", "), i.Pictures)
}

// kind is a net that a file was recognised as.
type kind struct {
	info Info
	open func(file *weights.File, backend kernels.Backend) (Net, error)
}

// recognise finds out which net a file holds. If it is another kind of net, the error wraps ErrOther, and the
// other kinds are tried.
type recognise func(file *weights.File, o *Options, backend kernels.Backend) (*kind, error)

// Recognise returns which network a file of weights holds, by its tensors' names and shapes alone. It reads
// no element.
func Recognise(path string, o Options, backend kernels.Backend) (info *Info, err error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	k, err := find(file, path, &o, backend)
	if err != nil {
		return nil, err
	}
	return &k.info, nil
}

// Open makes the network of a file on a device.
func Open(path string, o Options, backend kernels.Backend) (net Net, err error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	k, err := find(file, path, &o, backend)
	if err != nil {
		return nil, err
	}
	net, err = k.open(file, backend)
	if err != nil {
		return nil, fmt.Errorf("weights %s, of %s: %w", path, k.info.Name, err)
	}
	return net, nil
}

func openFile(path string) (*weights.File, error) {
	file, err := weights.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the weights of the backbone: %w", err)
	}
	return file, nil
}

func find(file *weights.File, path string, o *Options, backend kernels.Backend) (*kind, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	for _, try := range []recognise{transformer, convolutional} {
		k, err := try(file, o, backend)
		if err == nil {
			if err := k.info.Pictures.Validate(); err != nil {
				return nil, fmt.Errorf("weights %s: %w", path, err)
			}
			return k, nil
		}
		if !errors.Is(err, ErrOther) {
			return nil, fmt.Errorf("weights %s: %w", path, err)
		}
	}
	names := file.Names()
	slices.Sort(names)
	return nil, fmt.Errorf("weights %s: %d tensors, as %s: want a vision transformer (torchvision, timm, DINOv2 "+
		"or CLIP of Hugging Face), a ResNet or a VGG16: %w", path, len(names),
		strings.Join(names[:min(3, len(names))], ", "), ErrOther)
}
