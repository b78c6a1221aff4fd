// Package runfeatures is for package run, whose nets may learn the features of a pretrained net instead of pictures. It
// takes features of a data set's pictures, keeps them in a folder, and writes to files what a net's layers say of
// pictures.
package runfeatures
