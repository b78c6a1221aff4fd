package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nmn/format/safetensors"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model/param"
)

// ErrOtherModel is wrapped when a weight file does not belong to a network of this configuration.
var ErrOtherModel = errors.New("the weights belong to another model")

// Source are the named tensors of a file. A *safetensors.File is one.
type Source = param.Source

// Need is whether a file must set a parameter.
type Need int

const (
	Required Need = iota // an error if the file lacks it or has another shape
	Optional             // left as it is then
	Unwanted             // left as it is, whatever the file has
)

// LoadReport lists which tensors of a file set which parameters.
type LoadReport struct {
	// Arch names a residual net of ResNets; empty for other nets. Folded is set if batch normalisation was
	// folded into its convolutions on reading.
	Arch    string   `json:"arch,omitempty"`
	Folded  bool     `json:"folded,omitempty"`
	Taken   []Match  `json:"taken"`
	Missing []Match  `json:"missing"` // not required and left as they were
	Unused  []string `json:"unused"`  // tensors of the file that are no parameter
}

// Match is a parameter and the tensor of a file that sets it, or would if it had its shape.
type Match struct {
	Param  string            `json:"param"`            // nmn's name: backbone.conv3_2.weight
	Tensor string            `json:"tensor,omitempty"` // name in the file, empty where it has none
	DType  safetensors.DType `json:"dtype,omitempty"`
	Shape  []int             `json:"shape,omitempty"` // in the file
	As     []int             `json:"as"`              // here: K×C×R×S, or the length of a bias
}

// Load sets parameters from a file. Every parameter must be there in its shape, except the parameters that
// optional accepts (nil: none). So must the standard of features if the net has one. Weights that are not
// finite are an error. After an error of reading some parameters have been set.
func (n *Net) Load(f Source, optional func(*Param) bool) (LoadReport, error) {
	return n.LoadAs(f, func(p *Param) Need {
		if optional != nil && optional(p) {
			return Optional
		}
		return Required
	})
}

// LoadAs is Load with a choice for each parameter. Names and shapes of all are checked before anything is
// set. Then the parameters are read one after the other, in blocks.
func (n *Net) LoadAs(f Source, need func(*Param) Need) (LoadReport, error) {
	f, err := n.source(f)
	if err != nil {
		return LoadReport{}, err
	}
	report, err := n.match(f, need)
	if err != nil {
		return report, err
	}
	if err := n.loadStandard(f); err != nil {
		return report, err
	}
	for _, m := range report.Taken {
		p := n.all[slices.IndexFunc(n.all, func(p *Param) bool { return p.Name == m.Param })]
		if err := p.Read(f, m.Tensor, n.backend, p.W); err != nil {
			return report, wrapped(err)
		}
	}
	return report, nil
}

// MatchFile reports what LoadAs would load into a network of a configuration, by names and shapes alone. It
// reads no values, and the parameters of the network need no memory.
func MatchFile(config Config, backend kernels.Backend, f Source, need func(*Param) Need) (_ LoadReport, err error) {
	if err := config.Validate(); err != nil {
		return LoadReport{}, err
	}
	n := &Net{config: config, backend: backend, maps: config.maps(backend), params: tensor.NewArena(counter{backend})}
	if err := n.build(); err != nil {
		return LoadReport{}, err
	}
	if f, err = n.source(f); err != nil {
		return LoadReport{}, err
	}
	return n.match(f, need)
}

// source returns a file as this network reads it: a residual net's batch normalisations are folded.
func (n *Net) source(f Source) (Source, error) {
	if n.config.Residual == Plain {
		return f, nil
	}
	if err := n.checkVariant(f); err != nil {
		return nil, err
	}
	return n.fold(f)
}

// match finds the tensor for each parameter, and checks the shape.
func (n *Net) match(f Source, need func(*Param) Need) (report LoadReport, err error) {
	report.Arch = n.config.ResNetName()
	_, report.Folded = f.(*folded)
	unused := map[string]bool{}
	for _, name := range f.Names() {
		unused[name] = !n.config.Standardised || name != meanName && name != scaleName
	}
	for _, p := range n.all {
		m := Match{Param: p.Name, As: p.FilterShape()}
		for _, name := range namesOf(p) {
			if _, there := unused[name]; there {
				m.Tensor = name
				break
			}
		}
		needed := need(p)
		if m.Tensor != "" {
			unused[m.Tensor] = false
			if m.DType, m.Shape, err = f.Info(m.Tensor); err != nil {
				return report, err
			}
			if needed != Unwanted && fits(p, m.Shape) {
				report.Taken = append(report.Taken, m)
				continue
			}
		}
		if needed == Required {
			return report, refuse(p, m, f.Names())
		}
		report.Missing = append(report.Missing, m)
	}
	for _, name := range f.Names() {
		if unused[name] {
			report.Unused = append(report.Unused, name)
		}
	}
	return report, nil
}

// refuse returns an error with the reason why a parameter cannot be set.
func refuse(p *Param, m Match, there []string) error {
	if m.Tensor != "" {
		return fmt.Errorf("model: %s is %v in the file and %v in this network: %w",
			m.Tensor, m.Shape, p.Shape, ErrOtherModel)
	}
	hint := ""
	if ofResNet(m.Param) && p.Bias {
		hint = "; it has no batch normalisation that would give one: save the whole state_dict() of the net"
	} else if slices.ContainsFunc(there, func(name string) bool { return strings.HasSuffix(name, "running_mean") }) {
		hint = "; it belongs to a network with batch normalisation, and this one has none"
	}
	return fmt.Errorf("model: the file has no %s (%s here)%s: %w", p.File, p.Name, hint, ErrOtherModel)
}

// fits accepts the file's shape, and for a fully connected layer also the same filter with four
// dimensions, as fully convolutional nets store it.
func fits(p *Param, shape []int) bool {
	if slices.Equal(shape, p.Shape) {
		return true
	}
	w := p.W.Shape()
	return p.CHW && len(w) == 4 && slices.Equal(shape, []int{w[0], p.Channels(), w[1], w[2]})
}
