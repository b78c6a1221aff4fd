package train

import (
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/loader"
	"nmn/model"
)

// Arm is the kind of net that a stage trains. Package recipe lists the arms and their purposes.
type Arm struct {
	Name  string // as folders have it, such as nmn-fd or nmn-fd-mil
	MIL   bool
	Stage int // 1, or 2 for arms that start from the checkpoint of stage 1 with the same MIL
	Noise model.NoiseMode
}

// First returns the arm of stage 1 that an arm starts from. An arm of stage 1 returns itself.
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

// NewNet makes the arm's network on a device and initialises it. Weights are drawn from the seed. If
// configured, the biases start at the label means of the training set. In stage 2 the classifier comes from
// the checkpoint from, written by stage 1 for the same vocabulary. The noise model starts as Config.Noise
// describes. Features are standardised as in the training set, if it has a standard. Stage 2 takes the
// standard of its checkpoint. NewNet also returns the SHA-256 of the checkpoint, for Options.Start, which is
// empty if there was none. The caller must Close the net.
func (a Arm) NewNet(base model.Config, backend kernels.Backend, c Config, data *loader.Set,
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
		return nil, "", errors.Join(err, net.Close())
	}
	if from != "" {
		if digest, err = loadClassifier(net, from, data); err != nil {
			return nil, "", errors.Join(err, net.Close())
		}
	}
	return net, digest, nil
}
