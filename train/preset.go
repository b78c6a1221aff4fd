package train

import "nmn/internal/setting"

// paperFlip is the probability that the paper's form of the noise model starts to flip a label with:
// the softmax of log-odds -6.58 and -9.87 (Misra et al., "Seeing through the Human Reporting Bias").
const paperFlip = .03592

// Paper is the training of the paper (section 4): 3 epochs of the classifier, 2 more in the second stage, SGD
// with momentum at a learning rate of 1.5e-4. The paper leaves some settings open. They are chosen here as 32
// pictures in a batch without MIL and 1 bag with it, momentum .9, and weight decay 5e-4 but not on biases.
// The last layer and the noise model learn at 10 (weights) and 20 (biases) times the rate, as in Fang et al.
func Paper() Config {
	return Config{
		Seed: 1, Stage1Epochs: 3, Stage2Epochs: 2, BatchSize: 32, BatchSizeMIL: 1, Accumulate: 1,
		UpdateConfig:       UpdateConfig{Optimizer: SGD, Momentum: .9, Beta1: .9, Beta2: .999, Epsilon: 1e-8},
		LearningRateConfig: LearningRateConfig{LearningRate: 1.5e-4, Schedule: Constant, StepEvery: 10000, StepFactor: .1},
		WeightDecay:        5e-4,
		LearningRates:      ClassifierRates("head.fc8"),
		ClassifierStart:    baseRate, BaseRateLogit: -6.58, ClassifierDeviation: .001,
		Noise:    PaperNoise(),
		LogSteps: 20, EvaluateEpochs: 1, CheckpointEpochs: 1,
		CheckpointMinutes: DefaultCheckpointMinutes, KeepBest: 1, BestBy: "map",
	}
}

// ClassifierRates are the rules of Paper for the last layer of the classifier, by its name.
func ClassifierRates(layer string) []Rule {
	return []Rule{{Pattern: layer + ".weight", Multiplier: 10}, {Pattern: layer + ".bias", Multiplier: 20}}
}

// PaperNoise is the plain form of the noise model: a small start that flips either label with
// probability .036, learned at the pace of the last layer.
func PaperNoise() NoiseConfig {
	return NoiseConfig{Q01: []float32{paperFlip}, Q10: []float32{paperFlip}, Deviation: .001,
		WeightMultiplier: 10, BiasMultiplier: 20}
}

// InformedNoise starts near the mean rates of the scenes at 40 % noise, with U = 0, and lets U learn
// at a tenth of the rate. Its rates are prior knowledge of that data, not a fact about other data.
func InformedNoise() NoiseConfig {
	return NoiseConfig{Q01: []float32{.35}, Q10: []float32{.16}, WeightMultiplier: .1, BiasMultiplier: 1}
}

// ScenesPreset is the training of the scenes data set at full size: 3 and 3 epochs of AdamW on batches of 32.
// Mirroring, averages of the weights and decay keep it from memorising noisy labels. They were chosen by the
// loss on held-out noisy labels (docs/guide/training.md). The noise model starts informed, near the mean
// rates of 40 % noise. U learns at a tenth of the rate, because at the full rate the noise model takes over
// the classification.
func ScenesPreset() Config {
	c := Paper()
	c.Stage2Epochs, c.BatchSizeMIL = 3, 32
	c.Optimizer, c.LearningRate, c.WeightDecay, c.WarmupSteps = AdamW, 1e-3, .2, 100
	c.Flip, c.EMA = true, .99
	c.LearningRates = nil
	c.ClassifierStart, c.ClassifierDeviation = labelMeans, .01
	c.Noise = InformedNoise()
	return c
}

// ScenesQuick is ScenesPreset for the small training split of 4,000 pictures: 6 and 4 epochs.
func ScenesQuick() Config {
	c := ScenesPreset()
	c.Stage1Epochs, c.Stage2Epochs = 6, 4
	return c
}

// MovingPreset is the training of the moving scenes. It is ScenesPreset with 5 and 3 epochs and 8 videos in a
// batch with MIL. The noise model starts near the mean rates of 40 % noise there: a caption describes one
// frame, and so leaves out more of a video than of a still picture. Frames of a clip look alike and are soon
// memorised, so the decay is larger.
func MovingPreset() Config {
	c := ScenesPreset()
	c.Stage1Epochs, c.Stage2Epochs, c.BatchSizeMIL, c.WeightDecay = 5, 3, 8, .5
	c.Noise.Q01, c.Noise.Q10 = []float32{.46}, []float32{.12}
	return c
}

// FeaturesPreset is the training of a head on features: batches of 64, Adam at 1e-3, and epochs for as long
// as the loss on held-out noisy labels falls.
func FeaturesPreset() Config {
	c := Paper()
	c.Stage1Epochs, c.Stage2Epochs, c.BatchSize, c.BatchSizeMIL = 100, 100, 64, 64
	c.Optimizer, c.LearningRate, c.WeightDecay = Adam, 1e-3, 0
	c.LearningRates = nil
	c.ClassifierStart, c.ClassifierDeviation = labelMeans, .01
	c.BestBy, c.Patience = "loss", 3
	return c
}

// UnmarshalYAML reads the settings, or the name of a start: scenes is InformedNoise and paper PaperNoise.
func (n *NoiseConfig) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) != nil {
		type settings NoiseConfig
		return unmarshal((*settings)(n))
	}
	switch name {
	case "scenes":
		*n = InformedNoise()
	case "paper":
		*n = PaperNoise()
	default:
		return setting.Errorf("train.noise", "train.noise is %q, want scenes, paper, or settings of its own", name)
	}
	return nil
}
