package train

import "math"

// LearningRateSweep are the learning rates of a range test (Smith, *Cyclical Learning Rates for Training Neural
// Networks*, 2017): from First to Last, each step at the same multiple of the rate of the step before.
type LearningRateSweep struct {
	First, Last float64
	Steps       int // at least 2
}

// DefaultSweep goes over eight decades, with fifteen steps in each.
func DefaultSweep() LearningRateSweep { return LearningRateSweep{First: 1e-7, Last: 10, Steps: 121} }

// at is the rate of a step, from 1.
func (s *LearningRateSweep) at(step int) float64 {
	return s.First * math.Pow(s.Last/s.First, float64(step-1)/float64(s.Steps-1))
}

// LearningRatePoint is one step of a sweep.
type LearningRatePoint struct {
	Step         int     `json:"step"`
	LearningRate float64 `json:"rate"`
	Start        float64 `json:"start"`    // loss of the step's batch with the weights of the start
	Loss         float64 `json:"loss"`     // and with those that the steps before have made
	Smoothed     float64 `json:"smoothed"` // mean loss of the start, and mean of the changes around
}

// LearningRateSearch is the result of a sweep.
type LearningRateSearch struct {
	Points []LearningRatePoint `json:"-"`
	// Start is the mean loss of the batches of all points with the starting weights.
	Start float64 `json:"-"`
	// Diverged reports whether the sweep ended before its last rate because the loss had grown out of bounds.
	Diverged bool `json:"diverged"`
	// Steepest is the rate at which the smoothed loss falls fastest against the logarithm of the rate, or 0
	// if it does not fall.
	Steepest float64 `json:"steepest"`
	// Edge is the rate from which the loss is no longer below its start, or 0 if that did not happen.
	Edge float64 `json:"edge"`
	// Lowest is the rate of the lowest smoothed loss, or 0 if the loss does not fall.
	Lowest float64 `json:"lowest"`
	// Suggested is a third of Lowest: rates about the lowest loss still learn, but no longer settle.
	Suggested float64 `json:"suggested"`
}

// The changes are smoothed, not the losses: one batch is harder than another by more than a few steps learn. The mean
// loss of the start makes them losses again.

// Shapes of the smoothing and of the end of a sweep.
const (
	smoothedAround = 5    // steps on each side of the mean: a third of a decade of DefaultSweep
	trailing       = .8   // share that the mean that ends a sweep keeps of itself at each step
	outOfBounds    = 4.0  // a sweep ends at this multiple of the lowest mean
	belowLowest    = 3    // how far below the rate of the lowest loss the suggestion is
	leastFall      = .003 // of the loss of the start: less is no fall
)

// learningRateFinder takes the losses of a sweep as they come.
type learningRateFinder struct {
	starts      []float64 // losses of the steps' batches with the weights of the start
	points      []LearningRatePoint
	mean, least float64 // of the trailing mean
}

// add records a step, and reports whether the loss has grown out of bounds.
func (f *learningRateFinder) add(step int, rate, loss float64) (over bool) {
	if math.IsNaN(loss) || math.IsInf(loss, 0) || step > len(f.starts) {
		return true
	}
	if len(f.points) == 0 {
		f.mean, f.least = loss, loss
	}
	f.points = append(f.points, LearningRatePoint{Step: step, LearningRate: rate, Start: f.starts[step-1], Loss: loss})
	f.mean += (1 - trailing) * (loss - f.mean)
	f.least = min(f.least, f.mean)
	return f.mean > outOfBounds*f.least
}

// search smooths the losses and looks for the rates.
func (f *learningRateFinder) search(diverged bool) *LearningRateSearch {
	s := &LearningRateSearch{Points: f.points, Diverged: diverged}
	if len(s.Points) < 2 {
		return s
	}
	for _, p := range s.Points {
		s.Start += p.Start / float64(len(s.Points))
	}
	for i := range s.Points {
		around := min(smoothedAround, i, len(s.Points)-1-i)
		sum := 0.0
		for _, p := range s.Points[i-around : i+around+1] {
			sum += p.Loss - p.Start
		}
		s.Points[i].Smoothed = s.Start + sum/float64(2*around+1)
	}
	lowest := s.lowest()
	if s.Start-s.Points[lowest].Smoothed < leastFall*math.Abs(s.Start) {
		return s
	}
	s.Lowest, s.Steepest = s.Points[lowest].LearningRate, s.Points[s.steepest(lowest)].LearningRate
	s.Suggested = s.Lowest / belowLowest
	for _, p := range s.Points[lowest:] {
		if p.Smoothed >= s.Start {
			s.Edge = p.LearningRate
			break
		}
	}
	if s.Edge == 0 && diverged {
		s.Edge = s.Points[len(s.Points)-1].LearningRate
	}
	return s
}

// lowest is the point with the least smoothed loss.
func (s *LearningRateSearch) lowest() int {
	lowest := 0
	for i, p := range s.Points {
		if p.Smoothed < s.Points[lowest].Smoothed {
			lowest = i
		}
	}
	return lowest
}

// steepest returns the point at which the smoothed loss falls most, compared over equal numbers of steps on
// both sides. It looks no further than the lowest point.
func (s *LearningRateSearch) steepest(lowest int) int {
	best, most := lowest, 0.0
	for i := smoothedAround; i <= min(lowest, len(s.Points)-1-smoothedAround); i++ {
		if fall := s.Points[i-smoothedAround].Smoothed - s.Points[i+smoothedAround].Smoothed; fall > most {
			best, most = i, fall
		}
	}
	return best
}
