package bench

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"nmn/internal/setting"
	"nmn/kernels/ledger"
	"nmn/kernels/tensor"
)

// Card is a graphics card as far as the floor of a step goes: the two rates that nothing on it exceeds.
type Card struct {
	Name string `json:"name"`
	// Bandwidth is the rate of memory in TB/s that a kernel which only moves data can reach; Published is that of the
	// data sheet, 0 where Bandwidth was given.
	Bandwidth float64 `json:"tb_per_s"`
	Published float64 `json:"tb_per_s_published,omitempty"`
	// TFLOPS are the products of the data sheet for each second, without sparsity, by precision.
	TFLOPS map[tensor.Precision]float64 `json:"tflops"`
}

// reached is the share of the published bandwidth that kernels reach.
const reached = .9

// cards are those of the data sheets that NVIDIA publishes, in the form SXM.
var cards = []Card{
	hopper("h200", 4.8),
	hopper("h100", 3.35),
}

func hopper(name string, published float64) Card {
	return Card{Name: name, Bandwidth: reached * published, Published: published,
		TFLOPS: map[tensor.Precision]float64{tensor.BF16: 989, tensor.TF32: 494, tensor.FP32: 67}}
}

// CardNames lists the cards that are known, the default first.
func CardNames() []string {
	var names []string
	for _, c := range cards {
		names = append(names, c.Name)
	}
	return names
}

// CardOf is a known card. Rates above 0, in TB/s and TFLOP/s, take the place of its own, the second in all precisions.
func CardOf(name string, bandwidth, tflops float64) (Card, error) {
	i := slices.IndexFunc(cards, func(c Card) bool { return c.Name == name })
	if i < 0 {
		return Card{}, fmt.Errorf("bench: card %q: want %s", name, setting.Alternatives(CardNames()))
	}
	c := cards[i]
	if bandwidth > 0 {
		c.Bandwidth, c.Published = bandwidth, 0
	}
	if tflops > 0 {
		c.TFLOPS = map[tensor.Precision]float64{tensor.BF16: tflops, tensor.TF32: tflops, tensor.FP32: tflops}
	}
	return c, nil
}

// CardNamed is the known card that the name of a device speaks of; ok is false for any other, among them the slower
// forms of a known one.
func CardNamed(device string) (card Card, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(device), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, c := range cards {
		if slices.Contains(words, c.Name) && !slices.Contains(words, "pcie") && !slices.Contains(words, "nvl") {
			return c, true
		}
	}
	return Card{}, false
}

// String tells the rates to people.
func (c Card) String() string {
	published := ""
	if c.Published > 0 {
		published = fmt.Sprintf(", nine tenths of the data sheet's %g", c.Published)
	}
	return fmt.Sprintf("%s: memory at %.2f TB/s%s; products at %g TFLOP/s in bf16, %g in tf32, %g in fp32",
		c.Name, c.Bandwidth, published, c.TFLOPS[tensor.BF16], c.TFLOPS[tensor.TF32], c.TFLOPS[tensor.FP32])
}

// Bounds of a launch.
const (
	byBytes = "bytes"
	byFLOP  = "FLOP"
)

// floor is how long a launch takes at least, in milliseconds: as long as its bytes or its products, whichever take
// longer, for both go on at the same time.
func (c Card) floor(l ledger.Launch) (ms float64, bound string) {
	memory := float64(l.Bytes()) / (c.Bandwidth * 1e9)
	products := 0.0
	if l.FLOP > 0 {
		products = l.FLOP / (c.TFLOPS[l.Math] * 1e9)
	}
	if products > memory {
		return products, byFLOP
	}
	return memory, byBytes
}
