// Package audit finds labels that are probably wrong. It ranks every observed label, present or absent, by
// the posterior probability 1 - p(y=z|z,o) that the truth is the opposite, given the out-of-fold score o of
// its bag and the noise rates of its class (package rates). It estimates how many labels to correct for a
// wanted precision, applies a reviewer's decisions, and records every change.
//
// The package has two baselines for comparison: |z - p|, and confident learning for labels of many classes
// (Northcutt, Jiang, Chuang, JAIR 2021; Thyagarajan et al., 2022), implemented from the publication. All
// numbers except scores are float64. The N bags are rows, the K classes are columns.
package audit
