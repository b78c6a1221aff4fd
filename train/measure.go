package train

import "nmn/eval"

// measure is one figure of an evaluation that checkpoints can be judged by.
type measure struct {
	name  string
	lower bool // better when lower
	of    func(*eval.Result) eval.Number
}

func multiLabel(m *eval.MultiLabel, f func(*eval.MultiLabel) eval.Number) eval.Number {
	if m == nil {
		return eval.Undefined()
	}
	return f(m)
}

var measures = func() []measure {
	all := []measure{{"human_ap", false, func(r *eval.Result) eval.Number {
		if r.Human == nil {
			return eval.Undefined()
		}
		return r.Human.AP.All
	}}, {"loss", true, observedLoss}}
	for _, m := range []struct {
		name  string
		lower bool
		of    func(*eval.MultiLabel) eval.Number
	}{
		{"map", false, func(m *eval.MultiLabel) eval.Number { return m.AP.All }},
		{"of1", false, func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.OF1 }},
		{"cf1", false, func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.CF1 }},
		{"brier", true, func(m *eval.MultiLabel) eval.Number { return m.Brier.All }},
		{"ece", true, func(m *eval.MultiLabel) eval.Number { return m.ECE.All }},
		{"accuracy", false, func(m *eval.MultiLabel) eval.Number {
			if m.OneClass == nil {
				return eval.Undefined()
			}
			return m.OneClass.Accuracy
		}},
	} {
		all = append(all,
			measure{m.name, m.lower, func(r *eval.Result) eval.Number { return multiLabel(r.Labels, m.of) }},
			measure{"true_" + m.name, m.lower, func(r *eval.Result) eval.Number { return multiLabel(r.Truth, m.of) }})
	}
	return all
}()

// observedLoss is the loss against observed labels. With a noise model it is the loss of the observed
// prediction, as in training.
func observedLoss(r *eval.Result) eval.Number {
	m := r.Labels
	if r.Observed != nil {
		m = r.Observed.Labels
	}
	return multiLabel(m, func(m *eval.MultiLabel) eval.Number { return m.LogLoss })
}

// Measures lists the figures that Config.BestBy may name. human_ap is average precision with human agreement.
// loss is what training lowers: the negative log-likelihood of the observed labels. map, of1, cf1 (at
// threshold 0.5), brier, ece and, of exclusive classes, accuracy are computed against the observed labels, and with the
// prefix true_ against true labels. loss, brier and ece are better when lower, all others when higher.
func Measures() []string {
	names := make([]string, len(measures))
	for i, m := range measures {
		names[i] = m.name
	}
	return names
}

// Measure returns a figure of an evaluation by its name, over all classes. It is undefined if the data lacks
// what the figure needs.
func Measure(name string, r *eval.Result) eval.Number {
	for _, m := range measures {
		if m.name == name {
			return m.of(r)
		}
	}
	return eval.Undefined()
}

// lowerIsBetter reports the direction of a measure.
func lowerIsBetter(name string) bool {
	for _, m := range measures {
		if m.name == name {
			return m.lower
		}
	}
	return false
}
