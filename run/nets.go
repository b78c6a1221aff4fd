package run

import (
	"cmp"

	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/train"
)

// nets makes the nets of arms for a configuration and its data.
type nets struct {
	config  Config
	data    *dataset.Splits
	backend kernels.Backend
	weights *WeightLoader
}

// open makes the net of an arm that learns by settings on a set. An arm of stage 2 starts from a checkpoint, whose
// digest open returns. If initial is set, the net takes the weights of the file in Net.Weights.
func (n *nets) open(arm train.Arm, settings train.Config, set *loader.Set, from string, initial bool) (net *model.Net,
	digest string, err error) {
	c := &n.config
	net, digest, err = arm.NewNet(c.model(set.Vocabulary.Len(), n.data.Width(), arm.Noise), n.backend, settings, set, from)
	if err == nil && initial {
		err = n.load(net)
	}
	return net, digest, err
}

// load takes the weights of the file in Net.Weights, if there is one. It closes a net that does not take them.
func (n *nets) load(net *model.Net) error {
	c := &n.config.Net
	if c.Weights == "" {
		return nil
	}
	err := n.weights.Load(net, c, n.data.Train.Vocabulary)
	if err != nil {
		return cmp.Or(err, net.Close())
	}
	return nil
}

// fresh makes the net of an arm without a checkpoint: its speed does not depend on its start. That of stage 1 takes the
// weights of the file in Net.Weights, so that a file that a run would refuse is refused now.
func (n *nets) fresh(arm train.Arm) (*model.Net, error) {
	initial := arm.Stage == 1
	arm.Stage = 1
	net, _, err := n.open(arm, n.config.Train, n.data.Train, "", initial)
	return net, err
}

// blank makes the net of an arm with weights of 0, for what follows from its shape: of a large net drawing weights
// takes longer than everything else. That of stage 1 reads the file in Net.Weights, so that a file that a run would
// refuse is refused now.
func (n *nets) blank(arm train.Arm) (*model.Net, error) {
	set := n.data.Train
	config, err := arm.Model(n.config.model(set.Vocabulary.Len(), n.data.Width(), arm.Noise))
	if err != nil {
		return nil, err
	}
	config.Standardised = set.Standard != nil
	net, err := model.New(config, n.backend)
	if err == nil && arm.Stage == 1 {
		err = n.load(net)
	}
	return net, err
}
