package train

import (
	"fmt"

	"nmn/kernels"
	"nmn/loader"
	"nmn/model"
)

// Arm is what a stage trains. Which arms there are, and what they are for, package recipe knows.
type Arm struct {
	Name  string // as folders have it, such as nmn-fd or nmn-fd-mil
	MIL   bool
	Stage int // 1, or 2 for arms that start from the checkpoint of stage 1 with the same MIL
	Noise model.NoiseMode
}

// First is the arm of stage 1 that an arm starts from; an arm of stage 1 is its own.
func (a Arm) First() Arm {
	if a.MIL {
		return Arm{Name: "stage1-mil", MIL: true, Stage: 1, Noise: model.NoNoise}
	}
	return Arm{Name: "stage1", MIL: false, Stage: 1, Noise: model.NoNoise}
}

// Model is the arm's network: base with the noise model of the arm. base must have been made for
// the arm's MIL, for that changes its size or its last pool.
func (a Arm) Model(base model.Config) (model.Config, error) {
	if base.MIL != a.MIL {
		return base, fmt.Errorf("training: arm %s needs a network with mil %t, this one has %t",
			a.Name, a.MIL, base.MIL)
	}
	base.Noise = a.Noise
	return base, nil
}

// NewNet makes the arm's network on a device and gives it its start: drawn from the seed, with the
// label means of the training set where the configuration asks for them, and in stage 2 with the
// classifier of the checkpoint from, written by stage 1 on the same words. The noise model starts as
// Config.Noise says. Features come on the standard of the training set, where it has one; stage 2 takes
// that of its checkpoint. The caller must Close the net.
func (a Arm) NewNet(base model.Config, backend kernels.Backend, c Config, data *loader.Set,
	from string) (*model.Net, error) {
	net, _, err := a.StartNet(base, backend, c, data, from)
	return net, err
}

// StartNet is NewNet, and returns the SHA-256 of the checkpoint that was read, for Options.Start; empty for none.
func (a Arm) StartNet(base model.Config, backend kernels.Backend, c Config, data *loader.Set,
	from string) (_ *model.Net, digest string, err error) {
	config, err := a.Model(base)
	if err != nil {
		return nil, "", err
	}
	if (a.Stage == 2) != (from != "") {
		return nil, "", fmt.Errorf("training: arm %s of stage %d with the checkpoint %q: stage 2 needs one, stage 1 none",
			a.Name, a.Stage, from)
	}
	config.Standardised = data.Standard != nil
	net, err := model.New(config, backend)
	if err != nil {
		return nil, "", err
	}
	if err := start(net, c, data); err != nil {
		return nil, "", joined(err, net.Close())
	}
	if from != "" {
		if digest, err = loadClassifier(net, from, data); err != nil {
			return nil, "", joined(err, net.Close())
		}
	}
	return net, digest, nil
}
