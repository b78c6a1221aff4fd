// Package suite holds every implementation of group.Group to its contract. Its cases are run by each rank of a group,
// be it a goroutine or a process.
package ranksuite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"nmn/ranks"
)

// Case is a program that all ranks of a group run at the same time. Run returns the fault that this rank
// found.
type Case struct {
	Name string
	Run  func(ranks.Group) error
	// Ends is set if the group cannot be used after the case.
	Ends bool
}

// Cases leave a group intact. They are in the order in which all ranks run them.
func Cases() []Case {
	return []Case{
		{Name: "Identity", Run: identity},
		{Name: "Sum", Run: sums},
		{Name: "SumsBegunTogether", Run: sumsBegunTogether},
		{Name: "SumIsTheSameTwice", Run: sumTwice},
		{Name: "SumOfNaNAndInfinity", Run: sumOfStrangers},
		{Name: "SumInBFloat16", Run: sumInBFloat16},
		{Name: "SumBesideOthers", Run: sumBesideOthers},
		{Name: "WaitForNothing", Run: func(g ranks.Group) error { return g.Wait() }},
		{Name: "Gather", Run: gather},
		{Name: "GatherMuch", Run: gatherMuch},
		{Name: "Broadcast", Run: broadcast},
		{Name: "Agree", Run: agree},
		{Name: "AgreeOnInterrupt", Run: agreeOnInterrupt},
	}
}

// Run makes a rank run the cases that leave the group intact, and returns the first error of each that fails,
// by name. All ranks run all cases, so a rank that finds a fault leaves no rank waiting.
func Run(g ranks.Group) map[string]error {
	wrong := map[string]error{}
	for _, c := range Cases() {
		if err := c.Run(g); err != nil {
			wrong[c.Name] = err
		}
	}
	return wrong
}

// value is element i of a rank's numbers in the cases: of both signs, of magnitudes that show the order of a
// sum.
func value(rank, i int) float32 {
	h := uint32(i)*2654435761 + uint32(rank)*40503 + 12345
	h ^= h >> 15
	h *= 2246822519
	h ^= h >> 13
	return float32(int32(h)) / (1 << 31) * float32(int(1)<<(h%12))
}

func numbers(rank, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = value(rank, i)
	}
	return x
}

// digest is a short name of the bits of x (FNV-1a, by numbers).
func digest(x []float32) []byte {
	h := uint64(14695981039346656037)
	for _, v := range x {
		h = (h ^ uint64(math.Float32bits(v))) * 1099511628211
	}
	return binary.LittleEndian.AppendUint64(nil, h)
}

// equalEverywhere returns an error unless the ranks hold equal bits.
func equalEverywhere(g ranks.Group, x []float32) error {
	all, err := g.Gather(digest(x))
	if err != nil {
		return err
	}
	for rank, theirs := range all {
		if !bytes.Equal(theirs, all[0]) {
			return fmt.Errorf("ranks 0 and %d get other bits", rank)
		}
	}
	return nil
}

func identity(g ranks.Group) error {
	names := g.Names()
	switch {
	case g.Size() < 1 || g.Rank() < 0 || g.Rank() >= g.Size():
		return fmt.Errorf("rank %d of %d", g.Rank(), g.Size())
	case g.Local() < 0 || g.Local() >= g.LocalSize() || g.LocalSize() > g.Size():
		return fmt.Errorf("rank %d of %d on its host", g.Local(), g.LocalSize())
	case len(names) != g.Size():
		return fmt.Errorf("%d names for %d ranks", len(names), g.Size())
	}
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("rank %d has no name", i)
		}
	}
	all, err := g.Gather([]byte{byte(g.Rank()), byte(g.Size())})
	if err != nil {
		return err
	}
	for i, b := range all {
		if !bytes.Equal(b, []byte{byte(i), byte(g.Size())}) {
			return fmt.Errorf("rank %d claims to be rank %d of %d", i, b[0], b[1])
		}
	}
	return nil
}
