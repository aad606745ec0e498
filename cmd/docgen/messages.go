package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const messagesHead = "# Messages\n\n" + generated +
	"What conditions, events and the history say, by reason: of each an example for every phase in which it differs. Transcripts have met them;\n" +
	"where they show no message of a reason, a generated world has. *event* is the type of the event that a move to the phase is.\n" +
	"An event says the message, or else what is awaited, what Ready says, or what the phase is for; the way that was taken stands behind it in brackets.\n" +
	"What a reason means is on the page of its kind; what any kind can say besides is in [kernel](kernel.md).\n"

// messages are the examples that the tests of a machine have written. Every reason must be among them.
func (m machine) messages(root string, reasons []constant) (string, error) {
	file := filepath.Join(root, m.Folders[0], "testdata", "messages.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read messages of %s, which hack/scenario writes: %w", m.Kind, err)
	}
	return string(text), m.unsaid(string(text), reasons)
}

// unsaid names the reasons of which there is no example, and those that are excused without need.
func (m machine) unsaid(text string, reasons []constant) error {
	var errs []error
	for _, c := range reasons {
		shown, excused := strings.Contains(text, "`"+c.value+"`"), slices.Contains(excused[m.Kind], c.value)
		switch {
		case slices.Contains(everywhere, c.value):
		case !shown && !excused:
			errs = append(errs, fmt.Errorf("%s: no example of what is said with the reason %s: add a transcript, or a world to Any", m.Kind, c.value))
		case shown && excused:
			errs = append(errs, fmt.Errorf("%s: %s needs no excuse: there is an example", m.Kind, c.value))
		}
	}
	return errors.Join(errs...)
}

// everywhere are reasons of the kernel that say the same of every kind: see its own page.
var everywhere = []string{"Circling", "Reset"}

// excused are reasons without an example here.
var excused = map[string][]string{
	// They say in status.results what became of one object.
	"ManifestRestoreRequest": {
		"Controlled", "OwnKind", "ClusterScoped", "Unserved", "OwnerNotRestored", "Invalid", "Vanished", "NotReached",
	},
	// They say in status.skipped why objects were left out.
	"ManifestCaptureRequest": {
		"Controlled", "Derived", "Token", "Finished", "Terminating", "OwnRequest", "OwnAccount", "NotAsked", "NotAllowed", "NotAtOneTime",
	},
	// They say in status.nfrRecommendations what a number leaves open, and of lanes what a class says before it asks them.
	"ClassRuntime": {"CapacityUnknown", "LatencyNotLoadBound", "NoRequestsSeen", "NFRNotEnforced", "NFRStale"},
	// EditUndone is an event of an effect. For the others it takes worlds that only their own tests make.
	"ValkeyCluster": {"EditUndone", "UpgradeAbandoned", "Spreading", "TooLittleMemory", "NoCandidate", "FailingOver"},
}
