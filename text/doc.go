// Package text turns captions into words: the Penn Treebank tokenizer, parts of speech, and the vocabulary
// whose words are the classes.
package text
