// Package runfeatures is for package run, whose nets may learn the features of a pretrained net instead of pictures. It
// takes features of the pictures of a data set, keeps them in a folder, and writes what any net's layers say of pictures
// to files.
package runfeatures
