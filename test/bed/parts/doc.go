// Package parts builds the programs of the test bed from source, once, into a cache outside the checkout.
//
// The cache is $STATECRAFT_CACHE, or statecraft below the user's cache directory. A part's directory there
// is named after its version and a hash of everything that decides what is built, so that a changed recipe
// is a new directory and an old checkout still finds its own. A directory appears by one rename: one that is
// there is whole.
//
// To add a part: a line in the table of table.go and, if it does not build by `go install`, a nested module
// in a folder of its own beside this file. One that only LEVEL=full needs says so there.
package parts
