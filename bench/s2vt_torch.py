#!/usr/bin/env python3
"""A training step of nmn's captioner (S2VT) in PyTorch, to measure against: forward, backward, clipping by
the norm of all gradients and SGD with momentum, on a batch that is in memory already.

    bench/s2vt_torch.py --batch 32 --logits words

Two LSTM layers run over the frames and then over the words; nn.LSTM is given padding where there is nothing to see, as
S2VT is written, or is called for the frames and for the words in turn (--form parts), which spares layer 2 the zeros
of the words while frames are seen. --logits words computes logits for the words that are to be said alone, all for
every step of every caption. Batches are time-major unless --layout batch. Lengths of captions are those of nmn bench
step --model s2vt. Prints one JSON line.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

# Words of a caption without the end: the middles of 32 equal shares of the captions of MSR-VTT's training clips.
LENGTHS = (4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 13, 13, 14, 16, 18, 22)
PAD, BOS, EOS, RESERVED = 0, 1, 2, 3


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--batch", type=int, default=32, help="captions of a step")
    p.add_argument("--frames", type=int, default=26)
    p.add_argument("--features", type=int, default=1087, help="of a frame")
    p.add_argument("--embedding", type=int, default=700)
    p.add_argument("--words", type=int, default=300, help="width of word vectors")
    p.add_argument("--hidden", type=int, default=700)
    p.add_argument("--vocabulary", type=int, default=23647)
    p.add_argument("--dropout", type=float, default=0.5)
    p.add_argument("--form", choices=["padded", "parts"], default="parts")
    p.add_argument("--logits", choices=["words", "all"], default="words")
    p.add_argument("--layout", choices=["time", "batch"], default="time")
    p.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--repeats", type=int, default=10)
    return p.parse_args()


class S2VT(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.a, first = a, a.layout == "batch"
        self.time = 1 if first else 0
        self.embed = nn.Linear(a.features, a.embedding)
        self.word = nn.Embedding(a.vocabulary, a.words)
        self.lower = nn.LSTM(a.embedding, a.hidden, batch_first=first)
        self.upper = nn.LSTM(a.hidden + a.words, a.hidden, batch_first=first)
        self.out = nn.Linear(a.hidden, a.vocabulary)
        self.drop = nn.Dropout(a.dropout)

    def zeros(self, like, steps, width):
        shape = list(like.shape)
        shape[self.time], shape[2] = steps, width
        return like.new_zeros(shape)

    def states(self, features, words):
        """States of layer 2 at the steps of the words."""
        seen, said = self.drop(self.embed(features)), self.drop(self.word(words))
        steps = said.shape[self.time]
        nothing = self.zeros(seen, steps, self.a.embedding)
        if self.a.form == "padded":
            lower, _ = self.lower(torch.cat([seen, nothing], self.time))
            silence = self.zeros(seen, self.a.frames, self.a.words)
            upper, _ = self.upper(torch.cat([lower, torch.cat([silence, said], self.time)], 2))
            return upper.narrow(self.time, self.a.frames, steps)
        lower, state = self.lower(seen)
        silence = self.zeros(seen, self.a.frames, self.a.words)
        _, upper = self.upper(torch.cat([lower, silence], 2))
        lower, _ = self.lower(nothing, state)
        return self.upper(torch.cat([lower, said], 2), upper)[0]

    def forward(self, features, words, targets):
        h, targets = self.drop(self.states(features, words)).flatten(0, 1), targets.flatten()
        if self.a.logits == "words":
            kept = targets != PAD
            h, targets = h[kept], targets[kept]
        return functional.cross_entropy(self.out(h), targets, ignore_index=PAD, reduction="sum") / self.a.batch


def batch(a):
    """Features, input words and target words, with steps first by default."""
    lengths = [LENGTHS[i % len(LENGTHS)] for i in range(a.batch)]
    steps = max(lengths) + 1
    features = torch.rand(a.frames, a.batch, a.features)
    seen, said = torch.full((steps, a.batch), PAD), torch.full((steps, a.batch), PAD)
    for i, n in enumerate(lengths):
        words = torch.randint(RESERVED, a.vocabulary, (n,))
        seen[0, i], said[n, i] = BOS, EOS
        seen[1 : n + 1, i], said[:n, i] = words, words
    tensors = (features, seen, said)
    return tuple(t.transpose(0, 1).contiguous() for t in tensors) if a.layout == "batch" else tensors


def main():
    a = arguments()
    torch.manual_seed(0)
    if a.threads:
        torch.set_num_threads(a.threads)
    net, data = S2VT(a), batch(a)
    if a.optimizer == "sgd":
        optimizer = torch.optim.SGD(net.parameters(), 1e-12, momentum=0.9, weight_decay=0, fused=True)
    else:
        optimizer = torch.optim.Adam(net.parameters(), 1e-12, fused=True)
    all, cpu = [], time.process_time()
    for i in range(a.warmup + a.repeats):
        began = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = net(*data)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        if i + 1 == a.warmup:
            cpu = time.process_time()
        if i >= a.warmup:
            all.append((time.perf_counter() - began) * 1e3)
    cpu = time.process_time() - cpu  # of all threads, those that wait for others too
    print(json.dumps({
        "peer": "pytorch " + torch.__version__, **vars(a), "threads": torch.get_num_threads(), "loss": loss.item(),
        "words_said": int((data[2] != PAD).sum()), "step_ms": statistics.median(all), "step_min_ms": min(all), "step_max_ms": max(all),
        "step_cpu_ms": cpu * 1e3 / a.repeats,
        "captions_per_s": a.batch / statistics.median(all) * 1e3,
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }))


if __name__ == "__main__":
    main()
