// Package runweights is for programs that show or load pretrained weights. It recognises which network the tensors of a
// file belong to, lists them for people, and loads them into a net.
package runweights
