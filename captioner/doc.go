// Package captioner trains captioners and generates captions. It holds the vocabulary, clips with the features of
// their frames and their reference captions, training with checkpoints, and generation.
package captioner
