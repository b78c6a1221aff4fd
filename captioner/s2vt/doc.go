// Package s2vt is the captioner of Venugopalan et al., "Sequence to Sequence - Video to Text" (ICCV 2015),
// on the features of frames. Two stacked LSTMs first read the frames of a clip and then generate its caption word by
// word:
//
//	x_t  = embed.w f_t + embed.b        for the frames t = 1..T, and 0 for the words t = T+1..T+L
//	h1_t = LSTM1(x_t, h1_(t-1))
//	h2_t = LSTM2([h1_t, v_t], h2_(t-1)) with v_t = 0 for frames and word.w[word before] for words, BOS first
//	p    = softmax(out.w h2_t + out.b)  of the words 1..L, where word L is EOS
//
// The gates of an LSTM are in the order i, f, g, o. Arrays are time-major: step, then clip. Zeros are never
// multiplied: the weights over [h1, v] are two parameters, the steps of frames have no words, the steps of words
// have no frames, and logits are computed only for steps with a word.
//
// A clip with fewer frames than another of its batch begins later. The states of both LSTMs stay at 0 until
// its first frame, so that captions do not depend on the rest of a batch.
//
// The loss of a caption is the sum over its words, including EOS. The loss of a batch is the mean over its
// captions. Dropout applies to embedded frames, to the words that LSTM 2 reads, and to the states that generate
// words. It is drawn by (seed, epoch, sample, step). Products over all rows are 1×1 convolutions. Package
// recurrent computes the recurrent part.
package s2vt
