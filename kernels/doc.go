// Package kernels joins the families of numerical operations to a [Backend]. Each family has its own package,
// with one implementation for each kind of device.
package kernels
