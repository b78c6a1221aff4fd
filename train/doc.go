// Package train is for changes of how parameters learn: optimizer, schedule, learning-rate rules, the two stages of
// "Learning from Noisy Labels with Noise Modeling Network" (section 4), checkpoints, and the loop. What happens is
// reported to an [Observer]; the loop itself writes nothing but checkpoints. [Optimizer], [Frame], [CheckpointStore],
// [Limits] and [ObserverOf] serve captioners too, which have a step and a loop of their own.
//
// Words: a batch is what goes through the net at once; a step is one update of the parameters and
// takes [Config.Accumulate] batches; steps are counted from 1 over the whole stage, epochs from 1,
// batches from 0 within their epoch. On a CPU a run that was interrupted and resumed equals the
// unbroken one bit for bit, whatever the number of threads and loader workers.
package train
