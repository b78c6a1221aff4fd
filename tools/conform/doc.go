// Package conform is the suite that every backend of the kernels must pass, and the loader of the golden
// fixtures, which the tests of networks and training also read.
//
// One case serves four uses: value against the float64 reference of package ref, gradient against central
// differences, repeatability (run twice, and with another number of threads, bit for bit), and speed. The
// suite calls only the methods of kernels.Backend, with Upload and Download, so that it judges any device.
package conform
