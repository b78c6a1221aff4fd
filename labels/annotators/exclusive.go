package annotators

import (
	"context"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/labels"
)

// exclusive estimates classes that exclude each other: every answer is one class. It is the model of Dawid
// and Skene with a confusion matrix for each annotator, p(answer k | true class l). Rows of the matrix have a
// Dirichlet prior. Its mean extends the model of Hovy et al. (MACE, NAACL 2013): the annotator answers
// correctly with probability knows_j, confuses the class as others do with probability confuses_j, or else
// guesses from its own distribution, independent of the truth.
//
//	mean_jlk = knows_j [k = l] + confuses_j confusion_lk + (1 - knows_j - confuses_j) guess_jk
//
// An annotator with few answers is thus described by one accuracy and its favourite answers, and one with many by its
// matrix. The strength of the prior of each annotator is the most likely one (empirical Bayes).
type exclusive struct {
	in      *Input
	options Options
	overlap overlap
	answers lists[answer] // different answers of each annotator
	bags    lists[int32]  // per bag: positions in answers.all of its answers that are not copies
	rows    lists[vote]   // per annotator

	rates  []float64 // answers × K: p(answer | true class)
	counts []float64 // answers × K: expected true classes
	truths []float64 // annotators × K: expected true classes
	shares []share   // per annotator
	all    share     // center of their prior
	wrong  []float64 // K × K: p(answer | true class) of an annotator who confuses classes as others do
	rho    []float64 // N×K: p(true class | answers)
	prior  []float64 // K: probability of each class
	a, b   []float64 // with logits: slope and offset of each class
	base   []float64 // with logits, N×K: probability of each class before any answer

	strength  []float64 // per annotator: strength of its matrix's prior, in answers per true class
	objective []float64
	plain     float64 // answers that the first phase does not explain
}

// answer is a class that an annotator gave, and how often it guesses that class when it does not recognise
// the true one.
type answer struct {
	class int32
	guess float64
}

// share holds the probabilities that an annotator recognises the class and that it confuses the class as
// others do. Otherwise it guesses.
type share struct{ knows, confuses float64 }

// vote is a row of an annotator.
type vote struct{ bag, place int32 }

// mostMatrices bounds the numbers of the tables, a GB.
const mostMatrices = 1 << 27

// matrices bounds the numbers of the tables from above.
func (in *Input) matrices() int64 {
	return int64(in.Bags+in.Annotators+in.Classes+len(in.Rows)) * int64(in.Classes)
}

// exclusive reports whether every answer is exactly one of several classes.
func (in *Input) exclusive() bool {
	for i := range in.Rows {
		if r := &in.Rows[i]; len(r.Given) != 1 || len(r.Unknown) > 0 || r.Asked != nil {
			return false
		}
	}
	return in.Classes > 1 && len(in.Rows) > 0
}

func newExclusive(in *Input, o Options, seen overlap, repeats []bool) *exclusive {
	all := share{half, half / 2}
	x := &exclusive{in: in, options: o, overlap: seen, all: all, shares: slices.Repeat([]share{all}, in.Annotators),
		truths: make([]float64, in.Annotators*in.Classes), wrong: make([]float64, in.Classes*in.Classes),
		rho: make([]float64, in.Bags*in.Classes), prior: make([]float64, in.Classes),
		strength: slices.Repeat([]float64{mostStrength}, in.Annotators)}
	rows := in.byAnnotator()
	x.answers.from, x.rows = make([]int32, in.Annotators+1), lists[vote]{rows.from, make([]vote, len(in.Rows))}
	place := make([]int32, len(in.Rows))
	at := make([]int32, in.Classes) // place of each class among the answers of an annotator, counted from 1
	for j := range in.Annotators {
		first := int32(len(x.answers.all))
		for n, row := range rows.of(j) {
			k := in.Rows[row].Given[0]
			if at[k] <= first {
				x.answers.all = append(x.answers.all, answer{k, 1 / float64(in.Classes)})
				at[k] = int32(len(x.answers.all))
			}
			place[row] = at[k] - 1
			x.rows.of(j)[n] = vote{in.Rows[row].Bag, place[row]}
		}
		x.answers.from[j+1] = int32(len(x.answers.all))
	}
	var own []int32 // rows
	for i, repeat := range repeats {
		if !repeat {
			own = append(own, int32(i))
		}
	}
	x.bags = gathered(in.Bags, len(own), func(i int) int { return int(in.Rows[own[i]].Bag) },
		func(i int) int32 { return place[own[i]] })
	x.rates, x.counts = make([]float64, len(x.answers.all)*in.Classes), make([]float64, len(x.answers.all)*in.Classes)
	if in.Logits != nil {
		x.a, x.b, x.base = make([]float64, in.Classes), make([]float64, in.Classes), make([]float64, len(in.Logits))
		for k := range x.a {
			x.a[k] = 1
		}
	}
	x.confuse() // no answer is counted yet: all other classes are alike
	return x
}

// estimateExclusive starts from the shares of votes. In its first phase the matrices are the means of their
// priors, without shared confusions. Later phases are discarded if they leave many more answers unexplained:
// if annotators err alike, the matrices may explain the answers by swapped classes.
func estimateExclusive(ctx context.Context, in *Input, o Options) (*Result, error) {
	seen := in.overlap()
	if err := in.identifiable(seen); err != nil {
		return nil, err
	}
	repeats, copiers := in.copies(nil)
	run := func(phases int) (*exclusive, error) {
		x := newExclusive(in, o, seen, repeats)
		x.vote()
		err := x.climb(ctx)
		x.plain = x.unexplained()
		for range phases - 1 {
			if err == nil {
				x.shrink()
				err = x.climb(ctx)
			}
		}
		return x, err
	}
	x, err := run(phases)
	if err == nil && contradicts(x.unexplained(), x.plain, leastMatrices) {
		x, err = run(1)
	}
	if err != nil {
		return nil, err
	}
	x.temper()
	r := x.result()
	if copiers > 0 {
		r.Notes = append(r.Notes, copiesNote(copiers))
	}
	return r, nil
}

// unexplained are the answers that are not the most probable class.
func (x *exclusive) unexplained() (sum float64) {
	for i := range x.in.Bags {
		for _, at := range x.bags.of(i) {
			if int(x.answers.all[at].class) != x.likely(i) {
				sum++
			}
		}
	}
	return sum
}

// vote makes the first expectation.
func (x *exclusive) vote() {
	for i := range x.in.Bags {
		places := x.bags.of(i)
		for _, at := range places {
			x.of(i)[x.answers.all[at].class] += 1 / float64(len(places))
		}
	}
}

// of returns the posterior of a bag.
func (x *exclusive) of(bag int) []float64 { return x.rho[bag*x.in.Classes : (bag+1)*x.in.Classes] }

func (x *exclusive) likely(bag int) int {
	return labels.Largest(x.of(bag))
}

// climb alternates maximisation and expectation until the log likelihood settles.
func (x *exclusive) climb(ctx context.Context) error {
	last := math.Inf(-1)
	for range x.options.Iterations {
		x.maximise()
		likelihood := x.expect()
		x.objective = append(x.objective, likelihood)
		if err := ctx.Err(); err != nil {
			return err
		}
		if math.Abs(likelihood-last) <= max(1e-7, x.options.Tolerance)*(1+math.Abs(likelihood)) {
			break
		}
		last = likelihood
	}
	return nil
}

// someBags and someAnnotators are how many an item of work has. Sums are taken by item: they do not depend on the
// number of processors.
const (
	someBags       = 512
	someAnnotators = 16
	someClasses    = 8
	someAnswers    = 8 // are multiplied before a number could become too small
)

// expect computes the posterior of every bag, and returns the log likelihood of the answers.
func (x *exclusive) expect() float64 {
	sums := make([]float64, (x.in.Bags+someBags-1)/someBags)
	parallel.Blocks(x.in.Bags, someBags, func(from, to int) {
		p := from / someBags
		for i := from; i < to; i++ {
			rho := x.of(i)
			copy(rho, x.before(i))
			for n, place := range x.bags.of(i) {
				at := int(place) * len(rho)
				for k, q := range x.rates[at : at+len(rho)] {
					rho[k] *= q
				}
				if n%someAnswers == 0 {
					sums[p] += normalise(rho)
				}
			}
			sums[p] += normalise(rho)
		}
	})
	total := 0.
	for _, sum := range sums {
		total += sum
	}
	return total
}

// before are the probabilities of the classes of a bag without its answers.
func (x *exclusive) before(bag int) []float64 {
	if n := x.in.Classes; x.base != nil {
		return x.base[bag*n : (bag+1)*n]
	}
	return x.prior
}

// normalise scales p to the sum 1, and returns the log of the old sum.
func normalise(p []float64) float64 {
	sum := 0.
	for _, v := range p {
		sum += v
	}
	for k := range p {
		p[k] /= sum
	}
	return math.Log(sum)
}

// Weights of the priors of the shares, of guesses and of confusions, in answers.
const (
	shareWeight = 2.
	guessWeight = 2.
)

// leastCount is the least expected count that shares and strengths are computed from: with many classes nearly all
// counts are lower.
const leastCount = 1e-3

// maximise sets the parameters from the posterior.
func (x *exclusive) maximise() {
	x.eachAnnotator(x.count)
	x.eachAnnotator(x.matrix)
	sum, n := share{half, half / 2}, 2*half // every annotator counts about the same, whatever it answered
	for j, s := range x.shares {
		if w := float64(len(x.rows.of(j))); w > 0 {
			w /= w + shareWeight
			sum.knows, sum.confuses, n = sum.knows+w*s.knows, sum.confuses+w*s.confuses, n+w
		}
	}
	x.all = share{sum.knows / n, sum.confuses / n}
	if x.base != nil {
		x.calibrate()
		return
	}
	answered := 0.
	clear(x.prior)
	for i := range x.in.Bags {
		if len(x.bags.of(i)) > 0 {
			answered++
			for k, p := range x.of(i) {
				x.prior[k] += p
			}
		}
	}
	for k := range x.prior {
		x.prior[k] = (x.prior[k] + half) / (answered + half*float64(len(x.prior)))
	}
}

func (x *exclusive) count(j int) {
	classes := x.in.Classes
	truths := x.truths[j*classes : (j+1)*classes]
	clear(truths)
	clear(x.counts[int(x.answers.from[j])*classes : int(x.answers.from[j+1])*classes])
	for _, row := range x.rows.of(j) {
		counts := x.counts[int(row.place)*classes:][:classes]
		for l, p := range x.of(int(row.bag)) {
			counts[l] += p
		}
	}
	for n := range x.answers.of(j) {
		for l, c := range x.counts[(int(x.answers.from[j])+n)*classes:][:classes] {
			truths[l] += c
		}
	}
}

// confuse sums the wrong answers of all annotators, each weighted by the probability that the annotator
// recognises the class.
func (x *exclusive) confuse() {
	classes := x.in.Classes
	parallel.Blocks(classes, someClasses, func(from, to int) {
		clear(x.wrong[from*classes : to*classes])
		for j, s := range x.shares {
			for n, a := range x.answers.of(j) {
				counts := x.counts[(int(x.answers.from[j])+n)*classes:]
				for l := from; l < to; l++ {
					if l != int(a.class) {
						x.wrong[l*classes+int(a.class)] += s.knows * counts[l]
					}
				}
			}
		}
		for l := from; l < to; l++ {
			row, sum := x.wrong[l*classes:(l+1)*classes], 0.
			for _, n := range row {
				sum += n
			}
			for k := range row {
				if k != l {
					row[k] = (row[k] + guessWeight/float64(classes-1)) / (sum + guessWeight)
				}
			}
		}
	})
}

// matrix estimates the prior of an annotator's matrix, and the matrix.
func (x *exclusive) matrix(j int) {
	classes := x.in.Classes
	list, first := x.answers.of(j), int(x.answers.from[j])
	guesses := make([]float64, len(list))
	for range 3 {
		var sum share
		all, guessed := 0., 0.
		for n, a := range list {
			guesses[n] = 0
			for l, c := range x.counts[(first+n)*classes:][:classes] {
				if c < leastCount {
					continue
				}
				of := x.parts(j, a, l)
				c /= of.knows + of.confuses + of.guess
				sum.knows += c * of.knows
				sum.confuses += c * of.confuses
				guesses[n] += c * of.guess
			}
			guessed += guesses[n]
		}
		all = sum.knows + sum.confuses + guessed + shareWeight
		x.shares[j] = share{(sum.knows + shareWeight*x.all.knows) / all, (sum.confuses + shareWeight*x.all.confuses) / all}
		for n := range list {
			list[n].guess = (guesses[n] + guessWeight/float64(classes)) / (guessed + guessWeight)
		}
	}
	for n, a := range list {
		for l := range classes {
			at := (first+n)*classes + l
			x.rates[at] = x.rate(j, x.counts[at], x.truths[j*classes+l], x.mean(j, a, l))
		}
	}
}

// parts are the terms of the mean of the prior of p(answer | true class).
func (x *exclusive) parts(j int, a answer, class int) (of struct{ knows, confuses, guess float64 }) {
	s := x.shares[j]
	if of.guess = (1 - s.knows - s.confuses) * a.guess; class == int(a.class) {
		of.knows = s.knows
	}
	of.confuses = s.confuses * x.wrong[class*x.in.Classes+int(a.class)]
	return of
}

func (x *exclusive) mean(j int, a answer, class int) float64 {
	of := x.parts(j, a, class)
	return of.knows + of.confuses + of.guess
}

// rate is p(answer | true class) from expected counts and the mean of the prior.
func (x *exclusive) rate(j int, count, all, mean float64) float64 {
	return (count + x.strength[j]*mean) / (all + x.strength[j])
}

// shrink finds what annotators confuse, and the most likely strength of the prior of the matrix of each.
func (x *exclusive) shrink() {
	x.confuse()
	x.eachAnnotator(func(j int) {
		if x.strength[j] = x.options.Strength01; x.strength[j] == 0 {
			const steps = 10 // to a tenth
			x.strength[j] = mostLikely(steps, func(strength float64) float64 { return x.evidence(j, strength) })
		}
	})
}

func (x *exclusive) eachAnnotator(f func(j int)) {
	parallel.Blocks(x.in.Annotators, someAnnotators, func(from, to int) {
		for j := from; j < to; j++ {
			f(j)
		}
	})
}

// evidence is the log likelihood of an annotator's expected counts, a Dirichlet-multinomial distribution for each
// class.
func (x *exclusive) evidence(j int, strength float64) float64 {
	classes := x.in.Classes
	sum := 0.
	none := logGamma(strength)
	for _, n := range x.truths[j*classes : (j+1)*classes] {
		if n >= leastCount {
			sum += none - logGamma(n+strength)
		}
	}
	for n, a := range x.answers.of(j) {
		for l, c := range x.counts[(int(x.answers.from[j])+n)*classes:][:classes] {
			if c >= leastCount {
				mean := strength * x.mean(j, a, l)
				sum += logGamma(c+mean) - logGamma(mean)
			}
		}
	}
	return sum
}

// calibrate turns the logits of a classifier into probabilities of classes, class by class as for labels that do not
// exclude each other, and normalised.
func (x *exclusive) calibrate() {
	classes := x.in.Classes
	parallel.Blocks(classes, 1, func(k, _ int) {
		for range 2 {
			var s labels.Logistic
			for i := range x.in.Bags {
				if len(x.bags.of(i)) > 0 {
					o := float64(x.in.Logits[i*classes+k])
					p, _ := sigmoidSoftplus(x.a[k]*o + x.b[k])
					s.Add(x.rho[i*classes+k]-p, p*(1-p), o)
				}
			}
			da, db := ridged(s, x.a[k], x.b[k])
			x.a[k], x.b[k] = x.a[k]+da, x.b[k]+db
		}
	})
	for i := range x.in.Bags {
		base := x.before(i)
		for k, o := range x.in.Logits[i*classes : (i+1)*classes] {
			p, _ := sigmoidSoftplus(x.a[k]*float64(o) + x.b[k])
			base[k] = max(p, 1e-300)
		}
		normalise(base)
	}
}

// each calls f for the classes of a bag that an answer names, and for the most probable one.
func (x *exclusive) each(bag int, f func(Cell)) {
	places, likely := x.bags.of(bag), x.likely(bag)
	if len(places) == 0 {
		return
	}
	given, evidence := make([]int, x.in.Classes), make([]float64, x.in.Classes)
	for _, at := range places {
		given[x.answers.all[at].class]++
	}
	x.evidences(bag, evidence)
	for k, n := range given {
		if n > 0 || k == likely {
			f(Cell{Class: k, P: x.of(bag)[k], Evidence: evidence[k], Given: n, Asked: len(places), Holds: k == likely, at: -1})
		}
	}
}

func (x *exclusive) posterior(bag int, p []float64) { copy(p, x.of(bag)) }

// evidences are by how much the answers raise the log-odds of each class: the log likelihood ratio of the class and of
// all others together.
func (x *exclusive) evidences(bag int, evidence []float64) {
	before := make([]float64, len(evidence))
	for k, p := range x.before(bag) {
		before[k] = math.Log(p)
		evidence[k] = before[k]
		for _, place := range x.bags.of(bag) {
			evidence[k] += math.Log(x.rates[int(place)*len(evidence)+k])
		}
	}
	logOdds(before)
	logOdds(evidence)
	for k := range evidence {
		evidence[k] -= before[k]
	}
}

// logOdds turns log probabilities, less any constant, into log-odds. For the largest one it sums over all
// other classes, because 1 - p would lose precision close to 0.
func logOdds(logs []float64) {
	most := labels.Largest(logs)
	top, second, sum := logs[most], math.Inf(-1), 0.
	for k, v := range logs {
		if k != most {
			second = max(second, v)
			sum += math.Exp(v - top)
		}
	}
	rest := 0.
	for k, v := range logs {
		if k != most {
			rest += math.Exp(v - second)
			logs[k] = v - top - math.Log1p(max(sum-math.Exp(v-top), 0))
		}
	}
	logs[most] = top - second - math.Log(rest)
}
