package rates

import (
	"context"
	"slices"
)

// StandIn holds the rates and the calibration of a class that is not Usable. They come from the other classes. The fields
// are those of Class.
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
	// leastPooled is the least pooled rate of a small class. Other classes without noise do not make its labels certain.
	leastPooled = .01
)

// others sums up the noise of the classes with rates of their own. incorrect is the expected share of wrong labels among
// labels 1, missing the expected share among labels 0.
type others struct {
	q01, q10           float64 // of all classes together
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

// standIns sets StandIn for each class that is not Usable and has labels of both kinds.
//
// Classes may share their noise rates, or the share of labels that are wrong. The two assumptions differ most for a rare
// class: if one bag in ten carries a label, a q10 of .1 makes every such label wrong. standIns takes the smaller rate of
// the two, and fits slope and shift to it.
//
// A class with few labels gets the pooled rates and uncalibrated scores, if the scores predict it or predict the other
// classes well. Few labels cannot calibrate anything.
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
