package leaks

// How the machines of the area name and mark what they make.
const (
	holderPrefix     = "detached-"
	intentPrefix     = "restore-"
	intentLabel      = "capture.statecraft.dev/restorer"
	detachedBy       = "capture.statecraft.dev/detached-by"
	originAnnotation = "capture.statecraft.dev/origin"
)
