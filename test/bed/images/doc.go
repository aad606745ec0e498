// Package images makes the container images of the bed from nothing: programs of this repository on an empty
// base, and file systems assembled from Debian packages. There is no registry; archives are imported.
package images
