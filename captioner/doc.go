// Package captioner is for changes of how captioners learn: the vocabulary of captions, clips with the features of
// their frames and captions of people, training with its checkpoints, and the captions that are generated.
package captioner
