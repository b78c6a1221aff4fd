package rates

import (
	"context"
	"slices"
)

// StandIn are rates and calibration, as those of a Class, for a class that has none of its own that can be believed.
type StandIn struct {
	Q01 float64 `json:"q01"`
	Q10 float64 `json:"q10"`
	A   float64 `json:"a"`
	B   float64 `json:"b"`
}

const (
	// smallBelow is the number of labels of the rarer kind below which a class may be too small for rates of its own
	// although the scores predict it.
	smallBelow = 50
	// goodAUC is the median over classes with rates of their own from which scores are taken to predict small classes
	// too: in these a few wrong labels bring the AUC down to that of chance.
	goodAUC = .8
	// leastPooled is the least of the rates that stand in for those of a class: that the others have no noise does not
	// make its labels certain.
	leastPooled = .01
)

// others are what the classes with rates of their own say of noise: the pair of rates of all, and the shares of their
// labels that are expected to be incorrect, and of their bags without the label that are expected to miss it.
type others struct {
	q01, q10           float64
	incorrect, missing float64
	some, good         bool // whether there are such classes, and scores predict them well
}

func (r *Result) others() others {
	o := others{q01: max(r.PooledQ01, leastPooled), q10: max(r.PooledQ10, leastPooled)}
	var present, absent, incorrect, missing float64
	var areas []float64
	for _, c := range r.Classes {
		if !c.Usable() {
			continue
		}
		known := float64(r.Bags - c.Unknown)
		present, absent = present+float64(c.Positives), absent+known-float64(c.Positives)
		incorrect, missing = incorrect+c.Q10*(known-c.TruePositives), missing+c.Q01*c.TruePositives
		areas = append(areas, float64(c.AUC))
	}
	slices.Sort(areas)
	if o.some = len(areas) > 0; o.some {
		o.incorrect, o.missing, o.good = incorrect/present, missing/absent, areas[len(areas)/2] >= goodAUC
	}
	return o
}

// standIns gives classes without rates of their own what the others have, where they have labels of both kinds.
//
// Noise may be alike across classes in two ways: in its rates, or in the share of labels that are wrong. They are far
// apart where a class is rarer than most: a q10 of .1 makes each label of a class wrong that one bag in ten carries. So
// the lesser of both is taken. Slope and shift are fitted to it.
//
// Where the labels are few and the scores predict the class, or predict the other classes well, the rates of all are
// taken, and the scores as they are: so few labels calibrate nothing.
func (r *Result) standIns(ctx context.Context, e *estimator, summaries []summary) error {
	o := r.others()
	err := e.eachClass(ctx, func(c int, _ []float64) {
		class := &r.Classes[c]
		known := r.Bags - class.Unknown
		rarer := min(class.Positives, known-class.Positives)
		switch {
		case class.Usable() || rarer == 0:
		case rarer < smallBelow && (o.good || float64(class.AUC) >= leastAUC):
			class.StandIn = &StandIn{o.q01, o.q10, 1, 0}
		case o.some:
			present := float64(class.Positives) / float64(known)
			truly := (1-o.incorrect)*present + o.missing*(1-present)
			s := &StandIn{Q01: max(min(o.q01, o.missing*(1-present)/truly), zeroRate),
				Q10: max(min(o.q10, o.incorrect*present/(1-truly)), zeroRate)}
			z := evidence{summaries[c].cells, e.options.MinSlope, e.options.Confidence}
			at := e.models[c].parameters()
			at[rate01], at[rate10] = logit(s.Q01), logit(s.Q10)
			at, _ = z.climb(at, held{rate01: true, rate10: true})
			s.A, s.B = at[slope], at[shift]
			class.StandIn = s
		}
	})
	return e.own.gather(r.Classes, err)
}
