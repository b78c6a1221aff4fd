// Package appendix compares joint training with expectation-maximisation (EM), the subject of the paper's appendix.
//
// According to the appendix, both maximise one likelihood of the noisy labels, and the classifier gets equal gradients
// from both. Solve checks this with numbers, on a small problem whose optimum both can reach. It compares the gradient
// of the operation that trains nets with the gradient of EM's auxiliary function and with differences of the
// likelihood, and it compares the noise rates of both optima. The paper also claims, without a figure, that joint
// training converges earlier. Package paper tests that on nets.
package appendix
