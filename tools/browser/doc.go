// Package browser only has tests. They open every page that nmn writes in a real browser and use it by keys,
// in light and dark, and on a telephone.
//
//	go -C tools/browser test .
//	go -C tools/browser test . -screenshots "$PWD/build/screenshots"
//
// They need Chromium (NMN_CHROMIUM names another one) and, for the rules of accessibility, axe-core in
// build/axe (NMN_AXE names another axe.min.js). Without them they are skipped.
package browser
