// Package runfeatures serves package run, whose nets may learn the features of a pretrained net instead of
// pictures. It computes the features of a data set's pictures, keeps them in a folder, and writes the outputs
// of a net's layers to files.
package runfeatures
