package misplaced

// sums are the contributions of a block of bags to the next rates, for each class.
type sums struct {
	holds      []float64 // rho, weighted by votes
	mentions   []float64 // votes that mention the word, weighted by rho
	mistakes   []float64 // votes that mention the word, weighted by 1-rho
	votes      float64
	nodes      []float64 // votes of bags without scores, at the nodes of the grid
	regression []newton  // regression of rho on scores; nil without scores
}

func (f *finder) newSums() *sums {
	k := f.in.Classes
	s := &sums{holds: make([]float64, k), mentions: make([]float64, k), mistakes: make([]float64, k),
		nodes: make([]float64, len(f.table.unsaid))}
	if f.rows != nil {
		s.regression = make([]newton, k)
	}
	return s
}

// add adds the sums of another block.
func (s *sums) add(o *sums) {
	for _, pair := range [][2][]float64{{s.holds, o.holds}, {s.mentions, o.mentions}, {s.mistakes, o.mistakes},
		{s.nodes, o.nodes}} {
		for i, v := range pair[1] {
			pair[0][i] += v
		}
	}
	s.votes += o.votes
	for c := range s.regression {
		s.regression[c].plus(&o.regression[c])
	}
}

// learn finds the rates from the sums.
func (f *finder) updateRates(s *sums) {
	w := f.words
	for j, votes := range s.nodes {
		if votes == 0 {
			continue
		}
		for c, prior := range f.table.prior {
			s.holds[c] += votes * sigmoid(prior+nodeVotes(j)*w.absent[c])
		}
	}
	for c := range w.a {
		a := (s.mentions[c] + .5) / (s.holds[c] + 1)
		e := (s.mistakes[c] + .1) / (s.votes - s.holds[c] + 10)
		w.a[c] = min(max(a, leastRate), mostRate)
		w.e[c] = min(max(e, leastChance), w.a[c]/2)
	}
	for c := range s.regression { // toward alpha = 1 and beta = 0
		const ridgeA, ridgeB = 50, 5
		n := &s.regression[c]
		n.a, n.b = n.a-ridgeA*(w.alpha[c]-1), n.b-ridgeB*w.beta[c]
		n.aa, n.bb = n.aa+ridgeA, n.bb+ridgeB
		n.step(&w.alpha[c], &w.beta[c])
	}
}
