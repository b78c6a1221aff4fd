package measure

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"nmn/labels/misplaced"
	"nmn/run"
)

// WitnessFigures are measurements of finding captions that belong to other bags.
type WitnessFigures struct {
	Source     string    `json:"source"` // file of the captions, or generated
	Bags       int       `json:"samples"`
	Captions   int       `json:"captions"`
	Words      int       `json:"words"`    // of the vocabulary
	Mentions   float64   `json:"mentions"` // of each caption
	Scored     bool      `json:"scored"`   // with scores of a classifier
	Threads    int       `json:"threads"`  // 0: one for each processor
	Processors int       `json:"processors"`
	Repeats    int       `json:"repeats"`
	S          float64   `json:"s"` // median; captions and scores are in memory
	MinS       float64   `json:"s_min"`
	MaxS       float64   `json:"s_max"`
	CPUS       float64   `json:"cpu_s,omitempty"` // of all processors; 0 if the system does not report it
	CaptionsS  float64   `json:"captions_per_s"`
	PeakMiB    float64   `json:"peak_memory_mib"` // of the program, captions and scores included
	Replaced   float64   `json:"replaced"`        // share of the captions
	Foreign    float64   `json:"foreign"`         // share that was found
	Low        *float64  `json:"foreign_low,omitempty"`
	High       *float64  `json:"foreign_high,omitempty"`
	AUC        *float64  `json:"auc,omitempty"` // nil where no caption was replaced, or all
	Refusal    string    `json:"refusal,omitempty"`
	Digest     string    `json:"digest"` // of all probabilities that were found: SHA-256 of their bits
	Build      run.Build `json:"build"`
}

// Witness measures how long it takes to find the captions that belong to other bags, and how well they are found.
func Witness(ctx context.Context, c *Captions, o Options) (*WitnessFigures, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	settings := misplaced.DefaultOptions()
	settings.Threads = o.Threads
	var found *misplaced.Result
	var took, cpu []time.Duration
	for i := range o.Warmup + o.Repeats {
		used, began := processorTime(), time.Now()
		r, err := misplaced.Find(ctx, c.Input, settings)
		if err != nil {
			return nil, err
		}
		if found = r; i >= o.Warmup {
			took, cpu = append(took, time.Since(began)), append(cpu, processorTime()-used)
		}
	}
	slices.Sort(took)
	slices.Sort(cpu)
	f := c.figures(found)
	f.Threads, f.Processors, f.Repeats, f.Build = o.Threads, runtime.GOMAXPROCS(0), o.Repeats, run.ThisBuild()
	f.S, f.MinS, f.MaxS, f.CPUS = middle(took).Seconds(), took[0].Seconds(), took[len(took)-1].Seconds(),
		middle(cpu).Seconds()
	f.CaptionsS = rate(float64(f.Captions), middle(took))
	f.PeakMiB = mebibytes(peakMemory())
	return f, nil
}

// figures returns the results without times.
func (c *Captions) figures(found *misplaced.Result) *WitnessFigures {
	f := &WitnessFigures{Source: c.Source, Bags: len(found.Own), Words: c.Input.Classes,
		Scored: c.Input.Scores != nil, Foreign: found.Foreign, Refusal: string(found.Refusal)}
	mentions, replaced := 0, 0
	for n, captions := range c.Input.Captions {
		f.Captions += len(captions)
		for i, caption := range captions {
			mentions += len(caption)
			if c.Foreign != nil && c.Foreign[n][i] {
				replaced++
			}
		}
	}
	f.Mentions = float64(mentions) / float64(max(f.Captions, 1))
	f.Replaced = float64(replaced) / float64(max(f.Captions, 1))
	if !math.IsNaN(found.Interval.Low) {
		f.Low, f.High = &found.Interval.Low, &found.Interval.High
	}
	f.Digest = digest(found)
	if auc := c.AUC(found); !math.IsNaN(auc) {
		f.AUC = &auc
	}
	return f
}

func digest(found *misplaced.Result) string {
	h := sha256.New()
	var data []byte
	for _, own := range found.Own {
		data, _ = binary.Append(data[:0], binary.LittleEndian, own) // numbers have a size
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// AUC is the probability that a replaced caption scores less than one that was not replaced. Ties count half.
// It is NaN unless there are both.
func (c *Captions) AUC(found *misplaced.Result) float64 {
	counts := map[float64][2]float64{} // own and foreign captions of each probability; there are not many probabilities
	for n, of := range c.Foreign {
		for i, replaced := range of {
			at := found.Own[n][i]
			both := counts[at]
			if replaced {
				both[1]++
			} else {
				both[0]++
			}
			counts[at] = both
		}
	}
	below, pairs, own := 0.0, 0.0, 0.0 // foreign captions below, and pairs in order
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		both := counts[p]
		pairs += both[0] * (below + both[1]/2)
		below, own = below+both[1], own+both[0]
	}
	return pairs / own / below
}

// String returns the figures as text.
func (f *WitnessFigures) String() string {
	scores := "text alone"
	if f.Scored {
		scores = "with scores"
	}
	text := fmt.Sprintf("%d captions of %d pictures, %.1f of %d words each, %.0f %% replaced, %s (%s)\n"+
		"%.2f s (%.2f to %.2f), %.0f captions/s, peak memory %.0f MiB\n",
		f.Captions, f.Bags, f.Mentions, f.Words, 100*f.Replaced, scores, f.Source,
		f.S, f.MinS, f.MaxS, f.CaptionsS, f.PeakMiB)
	text += fmt.Sprintf("share of foreign captions found %.3f", f.Foreign)
	if f.Low != nil {
		text += fmt.Sprintf(" (95 %% of resamples: %.3f to %.3f)", *f.Low, *f.High)
	}
	if f.AUC != nil {
		text += fmt.Sprintf(", AUC %.3f", *f.AUC)
	}
	if f.Refusal != "" {
		text += "\nrefused: " + f.Refusal
	}
	return text + "\n"
}
