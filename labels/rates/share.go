package rates

import (
	"errors"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/group"
)

// share are the classes from one up to another that fall to a rank.
type share struct {
	g        group.Group
	from, to int
}

// shareOf gives each rank whole tiles.
func shareOf(g group.Group, classes int) share {
	g = group.Of(g)
	from, to := group.Share(g, (classes+tile-1)/tile)
	return share{g, min(from*tile, classes), min(to*tile, classes)}
}

// checkOnAll reports what is wrong with the input or the options of any rank, and ranks with other sizes.
func checkOnAll(in *Input, o Options) error {
	return group.Alike(group.Of(o.Group), fmt.Sprintf("%d bags × %d classes", in.Bags, in.Classes),
		firstOf(o.Validate(), in.check))
}

// firstOf is err, or else that of what comes next.
func firstOf(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// diagnoses are all there are, in the order in which those of a class are told.
var diagnoses = [...]Diagnosis{TooFew, NotPredicted, AtLimit, WeaklyPredicted, MostlyPooled, MaybeNoMissing,
	MaybeNoIncorrect}

// A class takes classNumbers numbers, of which the last counts its beliefs, and beliefNumbers more for each belief.
const (
	classNumbers  = 14
	beliefNumbers = 5
)

// numbers say all of a class but its word, exactly.
func (c *Class) numbers() []float64 {
	said := 0
	for i, d := range diagnoses {
		if slices.Contains(c.Diagnoses, d) {
			said |= 1 << i
		}
	}
	out := []float64{float64(c.Positives), c.TruePositives, c.Q01, c.Q10, c.Q01Interval.Low, c.Q01Interval.High,
		c.Q10Interval.Low, c.Q10Interval.High, c.A, c.B, float64(c.AUC), float64(said), float64(c.Unknown),
		float64(len(c.Beliefs))}
	for _, b := range c.Beliefs {
		out = append(out, b.Weight, b.Q01, b.Q10, b.A, b.B)
	}
	return out
}

// setNumbers takes what numbers has said, and returns what follows it.
func (c *Class) setNumbers(n []float64) []float64 {
	*c = Class{Word: c.Word, Positives: int(n[0]), TruePositives: n[1], Q01: n[2], Q10: n[3],
		Q01Interval: Interval{n[4], n[5]}, Q10Interval: Interval{n[6], n[7]}, A: n[8], B: n[9], AUC: eval.Number(n[10]),
		Unknown: int(n[12]), Diagnoses: []Diagnosis{}}
	for i, d := range diagnoses {
		if int(n[11])>>i&1 == 1 {
			c.Diagnoses = append(c.Diagnoses, d)
		}
	}
	rest := n[classNumbers:]
	for left := int(n[classNumbers-1]); left > 0 && len(rest) >= beliefNumbers; left-- {
		c.Beliefs = append(c.Beliefs, Belief{rest[0], rest[1], rest[2], rest[3], rest[4]})
		rest = rest[beliefNumbers:]
	}
	return rest
}

// gather gives every rank the classes of all; err is this rank's failure, if any.
func (s share) gather(classes []Class, err error) error {
	if s.g.Size() == 1 {
		return err
	}
	var data []byte
	for c := s.from; c < s.to && err == nil; c++ {
		data = group.AppendFloat64s(data, classes[c].numbers()...)
	}
	all, err := group.Exchange(s.g, data, err)
	if err != nil {
		return err
	}
	at := 0
	for _, data := range all {
		numbers, err := group.Float64s(data)
		if err != nil {
			return err
		}
		for ; len(numbers) >= classNumbers && at < len(classes); at++ {
			numbers = classes[at].setNumbers(numbers)
		}
	}
	if at != len(classes) {
		return errors.New("noise rates: the ranks together have fewer classes than each")
	}
	return nil
}
