// Package captioning is what a captioner learns from, how it learns, and what it says: the vocabulary of
// captions, clips with features of their frames and captions of people, training with its checkpoints, and
// the captions that are generated.
package captioner
