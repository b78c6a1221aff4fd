// Package audit finds labels that are probably wrong: it ranks every observed label, present or
// absent, by the posterior probability 1 - p(y=z|z,o) that the truth is the other one, given the
// out-of-fold score o of its bag and the noise rates of its class (package rates). It estimates how many to
// correct for a wanted precision, applies the decisions of people, and keeps a record of every
// change.
//
// Two baselines stand beside it for comparison: |z - p|, and confident learning for labels of many
// classes (Northcutt, Jiang, Chuang, JAIR 2021; Thyagarajan et al., 2022), written from its
// publication. Everything but scores is float64; N bags are rows, K classes are columns.
package audit
