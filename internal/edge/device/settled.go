package device

import (
	"regexp"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// Settled says that nothing is on its way to a device: it has applied the version that was rendered last, and reports the very
// applications of ours that its spec has. Versions alone would not tell: an edit is rendered later, by another process.
func Settled(c entry.Cluster, d fleet.Device) bool {
	if !applied(d.RenderedVersion, d.Status.ReportedVersion) {
		return d.RenderedVersion == "" && len(ours(c, d)) == 0 && len(reported(c, d)) == 0 // nothing was ever sent
	}
	in, out := ours(c, d), reported(c, d)
	if len(in) != len(out) {
		return false
	}
	for name := range in {
		if !out[name] {
			return false
		}
	}
	return true
}

// applied says that the agent has applied what was rendered last.
func applied(rendered, reported string) bool { return rendered != "" && rendered == reported }

func ours(c entry.Cluster, d fleet.Device) map[string]bool {
	names := map[string]bool{}
	for _, e := range d.Applications {
		if _, is := c.Pod(e.Name); is {
			names[e.Name] = true
		}
	}
	return names
}

func reported(c entry.Cluster, d fleet.Device) map[string]bool {
	names := map[string]bool{}
	for _, a := range d.Status.Applications {
		if _, is := c.Pod(a.Name); is {
			names[a.Name] = true
		}
	}
	return names
}

// Unasked are applications of ours that a device reports although its spec has none of that name, and it has applied the last
// version: a version of an older spec was rendered late, and nothing would ever correct that but a new version.
func Unasked(c entry.Cluster, d fleet.Device) (names []string) {
	if !applied(d.RenderedVersion, d.Status.ReportedVersion) {
		return nil
	}
	for _, a := range d.Status.Applications {
		if _, is := c.Pod(a.Name); is && !fleet.Has(d.Applications, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// moment is the time that agents put before their words: it is another one in every try.
var moment = regexp.MustCompile(`^\[[-0-9: ]+\] *`)

// Says is what the agent says of the version that it applies, without the time; "" while it says nothing but that it goes on.
func Says(d fleet.Device) string {
	u := d.Status.Updating
	if u.Reason == updated || !moment.MatchString(u.Message) { // other words tell of progress, with versions and counts
		return ""
	}
	return strings.TrimSpace(moment.ReplaceAllString(u.Message, ""))
}

// updated is the reason of an agent that has applied a version.
const updated = "Updated"

// postponed are what an agent says fails while it only waits: for its window of updates, or for its machine to recover.
var postponed = []string{"update policy failed", "download policy failed", "resources failed"}

// Waits says that the agent puts off its updates, and in which words. Nothing is wrong with what was sent.
func Waits(d fleet.Device) (why string, is bool) {
	says := Says(d)
	for _, words := range postponed {
		if strings.Contains(says, words) {
			return says, true
		}
	}
	return "", false
}

// GaveUp says that the agent has failed to apply the last version, and does not try it again.
func GaveUp(d fleet.Device) bool { return d.Status.Updating.Reason == failed }

// failed is the reason of an agent that has given a version up.
const failed = "Error"

// CannotPull says that the agent fails to pull this image. It names images by their ends, if they are long.
func CannotPull(d fleet.Device, image string) bool {
	_, rest, is := strings.Cut(Says(d), "prefetch failed for ")
	if !is {
		return false
	}
	named, _, _ := strings.Cut(rest, ": ")
	if end, cut := strings.CutPrefix(named, "..."); cut {
		return strings.HasSuffix(image, end)
	}
	return named == image
}

// Unrendered is why the server cannot render the spec of a device, so that nothing reaches it; "" if it can.
func Unrendered(d fleet.Device) string {
	if d.Status.SpecValid.Status == "False" {
		return d.Status.SpecValid.Message
	}
	return ""
}
