package rates

// Calibrated are the logits of p(y=1) of all cells, a o + b with the slope and shift of each class.
// They are for those who do not train on: probabilities from them are honest, but a slope above 1 also
// amplifies what a net has learnt by heart, so that a second stage starts from the net as it is.
func (r *Result) Calibrated(scores []float32) []float32 {
	out := make([]float32, len(scores))
	for i, o := range scores {
		out[i] = float32(r.Classes[i%len(r.Classes)].Calibrate(float64(o)))
	}
	return out
}
