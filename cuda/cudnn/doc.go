// Package cudnn calls NVIDIA's library of convolutions on a device of package cuda. It is built with the tag
// cuda. In other builds only the errors exist.
//
// Tensors are NHWC, filters KRSC. Convolutions in TF32 and bfloat16 go through the library's backend graphs,
// which fuse bias and ReLU. Convolutions in float32 go through gorgonia.org/cu/dnn. For every shape all plans
// that are deterministic and precise enough are measured once. A file for each device and version stores the
// choice.
//
// Open opens libcudnn when the program runs.
package cudnn
