// Package claim divides work among processes on several hosts that share nothing but a folder. Locks of files do not
// reach over every network file system, so that a claim is a file that one process alone can make, and whose time of
// change its holder moves on for as long as it lives. Who waits sees that time stand still for longer than a lease, by a
// clock of its own, and takes the claim over: clocks of hosts are never compared. Between processes of one running
// system a lock of the file says at once that its holder has died.
package claim
