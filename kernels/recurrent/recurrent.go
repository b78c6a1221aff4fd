// Package recurrent holds the operations of nets over words and time other than convolutions: the recurrent
// part of an LSTM layer over all steps of a sequence, embeddings of words, and the softmax over a vocabulary.
// All tensors of floats are float32, on every device and in every precision.
package recurrent

import "nmn/kernels/tensor"

// Ops is the family. Sequences are time-major: x[t] holds step t of all N sequences of a batch, so that a
// step is contiguous. Products of all steps at once are 1×1 convolutions over T·N pictures, which conv.Ops
// computes: the projection Wx x + b that LSTM starts from, and the gradients of Wx, Wh and b from the results
// of LSTMGrad. M counts rows, D the features of a row, V the words.
//
// Destinations are overwritten and must not overlap anything else unless the operation allows it. Shapes that
// do not fit give an error that wraps tensor.ErrShape. Results do not depend on the number of threads.
//
// A word is an int32 from 0 to V-1. A negative one stands for no word. A device that can read its memory
// cheaply refuses words from V on with an error that wraps ErrWord. Other devices give NaN for them, so that
// the loss is not finite.
type Ops interface {
	// LSTM runs a layer over T steps. gates, T×N×4H in the order i, f, g, o, holds the projected inputs
	// on entry, without the part of h, and the activations of the gates on return:
	//
	//	a[t] = gates[t] + h[t-1] Whᵀ
	//	i = sigmoid(a_i), f = sigmoid(a_f), g = tanh(a_g), o = sigmoid(a_o)
	//	c[t] = f c[t-1] + i g
	//	h[t] = o tanh(c[t])
	//
	// h and c are T×N×H, wh is 4H×H. h0 and c0, N×H, are the state before the first step, nil for 0.
	LSTM(h, c, gates, wh, h0, c0 *tensor.Tensor) error
	// LSTMGrad goes back through time. gates holds the activations from LSTM on entry, and the gradient of a
	// on return. dh, T×N×H, is the gradient that reaches every h from above, without the gradient through
	// time, and is only read. c is LSTM's c, and c0 the c0 given to LSTM. dcLast, N×H, is the gradient of the
	// last c, nil for 0. dh0 and dc0, N×H, receive the gradients of the state before the first step. Each may
	// be nil if it is not wanted.
	LSTMGrad(gates, dh, c, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error
	// Embed looks words up: y[m] = table[words[m]], 0 for no word. y is M×D, table V×D, words has M
	// elements.
	Embed(y, table, words *tensor.Tensor) error
	// EmbedGrad computes dtable[v] = sum of dy[m] over the rows m with words[m] = v, in ascending order of m.
	// Rows of words that do not occur become 0.
	EmbedGrad(dtable, dy, words *tensor.Tensor) error
	// CrossEntropy computes the loss of a softmax over V words and its gradients,
	//
	//	l[m,v] = h[m]·w[v] + b[v]
	//	loss[m] = log sum over v of exp(l[m,v]) - l[m,target[m]]
	//	dl[m,v] = scale · (exp(l[m,v]) / sum over u of exp(l[m,u]) - (1 if v = target[m], else 0))
	//	dh = dl w, dw = dlᵀ h, db[v] = sum over m of dl[m,v]
	//
	// h and dh are M×D, w and dw V×D, b and db V, targets and loss M. A row without a target has neither loss
	// nor gradient: loss and dh are 0 there, and h may hold anything. dh, dw and db are all nil if no
	// gradient is wanted. The logits are computed for a block of words at a time and are never in memory as a
	// whole.
	CrossEntropy(loss, dh, dw, db, h, w, b, targets *tensor.Tensor, scale float32) error
	// LogSoftmax subtracts from each row of x, M×V, the logarithm of the sum of its exponentials, in place.
	LogSoftmax(x *tensor.Tensor) error
	// Add computes dst = dst + src for tensors of one shape.
	Add(dst, src *tensor.Tensor) error
}
