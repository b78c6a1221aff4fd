// Package ranks joins several processes as the ranks of one job. A Group moves numbers and bytes between
// them. It is independent of nets and data.
package ranks
