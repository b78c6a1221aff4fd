package rates

// Calibrated returns the logits of p(y=1) of all cells, a o + b with the slope and shift of each class. Use
// them if you do not train on. Probabilities from them are well calibrated, but a slope above 1 also
// amplifies memorised noise, so a second stage starts from the net as it is.
func (r *Result) Calibrated(scores []float32) []float32 {
	out := make([]float32, len(scores))
	for i, o := range scores {
		out[i] = float32(r.Classes[i%len(r.Classes)].Calibrate(float64(o)))
	}
	return out
}
