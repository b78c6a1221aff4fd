package annotators

import "fmt"

// overlap describes which annotators looked at the same bags.
type overlap struct {
	shared []int // per annotator: bags that another one looked at too
	bags   []int // per annotator
	most   int   // annotators of a bag
	groups int   // groups of annotators whose bags are connected
	named  int   // classes that at least one annotator gave
}

func (in *Input) overlap() overlap {
	o := overlap{shared: make([]int, in.Annotators), bags: make([]int, in.Annotators)}
	rows := gathered(in.Bags, len(in.Rows), func(i int) int { return int(in.Rows[i].Bag) },
		func(i int) int32 { return in.Rows[i].Annotator })
	parent := make([]int32, in.Annotators)
	for j := range parent {
		parent[j] = int32(j)
	}
	root := func(j int32) int32 {
		for parent[j] != j {
			parent[j] = parent[parent[j]]
			j = parent[j]
		}
		return j
	}
	for i := range in.Bags {
		list := rows.of(i)
		o.most = max(o.most, len(list))
		for _, j := range list {
			if o.bags[j]++; len(list) > 1 {
				o.shared[j]++
			}
			parent[root(j)] = root(list[0])
		}
	}
	for j := range parent {
		if o.bags[j] > 0 && root(int32(j)) == int32(j) {
			o.groups++
		}
	}
	named := make([]bool, in.Classes)
	for _, r := range in.Rows {
		for _, k := range r.Given {
			if !named[k] {
				named[k] = true
				o.named++
			}
		}
	}
	return o
}

// identifiable returns an error if the reliabilities of annotators cannot be estimated, nil if they can.
// Errors wrap ErrUnidentified.
func (in *Input) identifiable(o overlap) error {
	active := 0
	for _, n := range o.bags {
		if n > 0 {
			active++
		}
	}
	switch {
	case o.named == 0:
		return fmt.Errorf("annotators: no annotator gave a label to any of %d samples: %w", in.Bags, ErrUnidentified)
	case in.Logits != nil:
		return nil
	case o.most < 2:
		return fmt.Errorf("annotators: each sample has one annotator, so labels cannot be compared: give out-of-fold "+
			"scores of a classifier (`annotators.scores`), or have some samples labelled by others too: %w", ErrUnidentified)
	case active == 2 && o.named < 2:
		return fmt.Errorf("annotators: two annotators and one label do not show which annotator is right when they differ: "+
			"give out-of-fold scores of a classifier (`annotators.scores`), or labels of a third: %w", ErrUnidentified)
	}
	return nil
}
