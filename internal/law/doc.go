// Package law checks which package may import which. The rules are one table,
// in rules.go; the rest loads packages and says who breaks them.
//
// What is pure is found, not listed: every package directly below internal that is
// no area and not the adapter, every package with a phases.go (a machine), every
// folder named spec (builders), and, because purity that is only skin-deep is worth
// nothing, every package of ours that one of them imports.
package law
