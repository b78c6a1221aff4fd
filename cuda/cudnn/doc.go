// Package cudnn is NVIDIA's library of convolutions on a device of package cuda. It is built with the
// tag cuda; in other builds only the errors exist.
//
// Tensors are NHWC, filters KRSC. Convolutions in TF32 and bfloat16 go through the library's backend
// graphs, which fuse bias and ReLU; those in float32 through gorgonia.org/cu/dnn. For every shape all
// plans that are deterministic and precise enough are measured once, and the choice is kept in a file
// by device and version.
//
// libcudnn is opened when the program runs, by Open.
package cudnn
