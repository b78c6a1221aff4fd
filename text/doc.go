// Package text is for changes of how captions become words: the Penn Treebank tokenizer, parts of speech and the
// vocabulary whose words are the classes.
package text
