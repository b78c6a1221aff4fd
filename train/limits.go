package train

// Limits end the training of a classifier or a captioner: after this number of epochs, steps, or validations
// without a new best. 0 sets no limit.
type Limits struct{ Epochs, Steps, Patience int }

// Total is the number of steps of the whole training, if patience does not end it.
func (l Limits) Total(stepsPerEpoch int) int {
	steps := l.Epochs * stepsPerEpoch
	if l.Steps > 0 && (steps == 0 || l.Steps < steps) {
		return l.Steps
	}
	return steps
}

// Reached reports whether training ends at this step of an epoch. stale is the number of validations since
// the best one. An epoch that has used all of its batches is still to be ended.
func (l Limits) Reached(epoch, step, stale int) bool {
	return l.Steps > 0 && step >= l.Steps || l.Epochs > 0 && epoch > l.Epochs || l.Patience > 0 && stale >= l.Patience
}
