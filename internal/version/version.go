// Package version says which build of the product a program is. The linker sets it (hack/images):
// a program that is built without that is "dev".
package version

var (
	version = "dev"
	commit  = ""
)

// Version is that of the release, as images and chart bear it.
func Version() string { return version }

// Commit is what the program was built from, or empty.
func Commit() string { return commit }

// String is the version, and the commit if it is known.
func String() string {
	if commit == "" {
		return version
	}
	return version + " (" + commit + ")"
}

// UserAgent is how a program introduces itself to the API server. What is before the slash is
// the name under which the server notes who wrote a field, so it never changes.
func UserAgent(program string) string { return program + "/" + String() }
