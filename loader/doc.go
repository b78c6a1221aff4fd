// Package loader turns files into batches in host memory: the data sets, their labels and label
// noise, decoding, augmentation and prefetch.
package loader
