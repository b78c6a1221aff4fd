// Package kernels is for adding operations and devices: a [Backend] joins the families of operations, which have a
// package each, and has one implementation for each kind of device.
package kernels
