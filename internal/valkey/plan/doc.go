// Package plan works out what to do to a cluster and what allows it: which slots go
// from where to where, in which order the parts of an edit follow each other, and the
// evidence without which nothing that destroys is done. It is pure.
package plan
