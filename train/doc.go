// Package train makes parameters learn: optimizer, schedule, learning-rate rules, checkpoints, the training
// loop, and the two stages of "Learning from Noisy Labels with Noise Modeling Network" (section 4). It
// reports events to an [Observer]. The loop itself writes nothing but checkpoints. Captioners also use
// [Optimizer], [Frame], [CheckpointStore], [Limits] and [ObserverOf]. They have their own step and loop.
//
// A batch is the bags that go through the net together. A step is one update of the parameters and takes
// [Config.Accumulate] batches. Steps are counted from 1 over the whole stage, epochs from 1, and batches from
// 0 within their epoch. On a CPU an interrupted and resumed run equals the unbroken run bit for bit, for any
// number of threads and loader workers.
package train
