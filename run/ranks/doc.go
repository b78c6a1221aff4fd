// Package ranks has what the ranks of a job do around a run: they agree on errors, make sure that they work on the same,
// and follow the run folder of rank 0, which alone has one that people see.
//
// All ranks run the same program on the same command line. Rank 0 owns the run folder. The others have a folder of
// their own for what the program writes, made by Follow from the small files of rank 0 and removed at the end, so that
// nothing is written twice and the run folder need not be visible to them.
package ranks
