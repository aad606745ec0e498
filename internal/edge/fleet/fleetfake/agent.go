package fleetfake

import (
	"maps"
	"slices"
	"strconv"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
)

// Agent is what runs on a device: on one of this package, or on a device that a real server has.
type Agent struct {
	Connected bool
	// Running are the containers, by application, with their images: the truth.
	Running map[string]string
	// Version is the last version that was applied, and gaveUp one that has failed, which is not tried again.
	Version, gaveUp int
	// returned says that the agent has just started: it knows nothing of its containers yet.
	returned bool
	// Unpullable are images that cannot be pulled, and Unstoppable applications that cannot be stopped.
	Unpullable, Unstoppable map[string]bool
	restarts                map[string]int
	tries                   int
	words                   string
	failed                  bool
}

// Report is what an agent says of itself.
type Report struct {
	Version      int
	Applications []fleet.Application
	// Says is why the version that it was given is not applied, with the time; GaveUp that it has stopped trying.
	Says   string
	GaveUp bool
}

// Updating is the condition by which an agent says how it stands with the last version.
func (r Report) Updating() fleet.Condition {
	switch {
	case r.GaveUp:
		return fleet.Condition{Status: "False", Reason: "Error", Message: r.Says}
	case r.Says != "":
		return fleet.Condition{Status: "True", Reason: "ApplyingUpdate", Message: r.Says}
	}
	return fleet.Condition{Status: "False", Reason: "Updated", Message: "Updated"}
}

// NewAgent makes an agent that is connected and runs nothing.
func NewAgent() Agent {
	return Agent{Connected: true, Running: map[string]string{}, Unpullable: map[string]bool{}, Unstoppable: map[string]bool{}, restarts: map[string]int{}}
}

// Restart restarts the agent, which tries again what it gave up. Containers go on.
func (a *Agent) Restart() { a.returned, a.gaveUp = true, 0 }

// Crash lets a container end, which is restarted.
func (a *Agent) Crash(application string) {
	if _, is := a.Running[application]; is {
		a.restarts[application]++
	}
}

// Wanted are the images of applications, as they were rendered.
func Wanted(rendered []fleet.Entry) map[string]string {
	wanted := map[string]string{}
	for _, e := range rendered {
		wanted[e.Name], _ = spec.ImageOf(e.Raw)
	}
	return wanted
}

// Take applies a version, all or nothing: an image that cannot be pulled stops all starts and all removals, and a removal that
// fails is rolled back, which starts again what was stopped.
func (a *Agent) Take(version int, wanted map[string]string) {
	if !a.Connected || a.Version == version || a.gaveUp == version {
		return
	}
	a.tries++
	a.words, a.failed = "", false
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if image := wanted[name]; a.Unpullable[image] {
			a.words = a.says("While Preparing: prefetch failed for " + image + ": service unavailable (network issue)")
			return
		}
	}
	for name := range a.Running {
		if _, stays := wanted[name]; !stays && a.Unstoppable[name] {
			a.gaveUp, a.failed = version, true
			a.words = a.says("While ApplyingUpdate: applications failed: an error occurred")
			return
		}
	}
	for name := range a.Running {
		if wanted[name] != a.Running[name] {
			delete(a.restarts, name)
		}
	}
	a.Running, a.Version = wanted, version
}

// says are the words of the agent, with a time that is another one in every try.
func (a *Agent) says(words string) string {
	return "[2026-11-17 09:00:" + strconv.Itoa(10+a.tries%50) + "] " + words
}

// Report is what the agent says now. One that has just returned reports no application.
func (a *Agent) Report() Report {
	r := Report{Version: a.Version, Says: a.words, GaveUp: a.failed}
	if a.returned {
		a.returned = false
		return r
	}
	for _, name := range slices.Sorted(maps.Keys(a.Running)) {
		r.Applications = append(r.Applications, fleet.Application{Name: name, Status: fleet.AppRunning, Ready: 1, Of: 1, Restarts: a.restarts[name]})
	}
	return r
}
