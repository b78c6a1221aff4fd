// Package ledger is a backend that computes nothing. It writes down what a graphics card would do for each call: the
// kernels that are launched, the bytes that each of them must read and write, its arithmetic, and the memory that is
// held. A net trains on it as on any device, at the sizes of VGG16 in milliseconds, so that the cost of a step is that
// of the code's own plan.
//
// What it writes is held against the implementations for graphics cards: tests on the emulator compare the kernels of
// whole steps by name and in their order (run/bench).
package ledger
