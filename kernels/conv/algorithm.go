package conv

// Pass is one of the operations that take nearly all time of a step.
type Pass uint8

// Forward is Conv, DataGradient ConvGradData and FilterGradient ConvGradFilter.
const (
	Forward Pass = iota
	DataGradient
	FilterGradient
)

// String is the name as reports have it.
func (p Pass) String() string { return [...]string{"forward", "data gradient", "filter gradient"}[p] }

// Explainer is an Ops that can describe how it computes. Ask a backend by a type assertion.
type Explainer interface {
	// Algorithm names how a pass over a shape is computed, for reports of speed. It is empty for a shape that
	// has not been run yet, if the first run makes the choice.
	Algorithm(pass Pass, g Geometry) string
}
