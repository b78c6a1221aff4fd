// Package param holds what all nets share below their layers: named parameters with their gradients on a
// device, their layout in weight files, the seeds of dropout, and views of a net's memory. Optimizers keep
// their state in the layout of parameters.
package param
