// Chaos tests nmn against faults. It kills nmn at chosen system calls, fills its disk, makes calls fail,
// sends it signals, runs it twice at once, and changes its data unseen. It compares the resulting files with the
// files of an undisturbed run.
//
//	make chaos    or    go run ./tools/chaos --minutes 10 --seed 7
//
// A scenario is a command line of nmn with its inputs. The seed determines fault number N of a scenario: its
// kind, and at which of the calls that change files it happens. After each fault the earlier files must be
// whole, the exit code must be documented, and no process may be left. Then the command continues,
// undisturbed. It must leave the files of the undisturbed run, byte for byte except for times, and no others.
//
// A failure is printed with the command that repeats it: --only SCENARIO --fault N --seed S.
package main
