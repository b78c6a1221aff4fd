// Package ranks is for changes of how several processes join as the ranks of one job. A Group moves numbers and bytes
// between them; it knows nothing of nets or data.
package ranks
