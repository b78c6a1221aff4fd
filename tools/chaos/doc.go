// Chaos kills nmn at chosen system calls, has its disk fill up and fail, sends it signals, runs it twice at once and
// changes its data behind its back, and holds what is left to a run that nothing has happened to.
//
//	make chaos    or    go run ./tools/chaos --minutes 10 --seed 7 --json chaos.json
//
// A scenario is a command line of nmn with its inputs. Fault number N of a scenario follows from the seed: what
// happens, and at which of the calls that change files. After each fault the files that were there must be whole, the
// exit code one of those documented, and no process left; then the command goes on, undisturbed, and must leave the
// files of the undisturbed run, byte for byte but for times, and no others.
//
// What fails is printed with the command that repeats it: --only SCENARIO --fault N --seed S.
package main
