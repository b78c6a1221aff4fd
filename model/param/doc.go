// Package param holds what all nets share below their layers: named parameters with their gradients on a device,
// and how they stand in weight files. Optimizers keep their state in the same layout, beside them.
package param
