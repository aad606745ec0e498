package fsmtest

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestMessagesAreHeldAgainstTheirFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "messages.md")
	met := newMessages()
	met.note("Dark", "Off", "")
	met.note("Dark", "Off", "The lamp | is off.")
	met.note("Dark", "Off", "The first message stands.")
	met.note("Pressed", "On", "")
	met.events[said{"Dark", "Off"}] = "Normal"
	if err := met.check(file, true); err != nil {
		t.Fatal(err)
	}
	want := "| reason | phase | event | message |\n|---|---|---|---|\n| `Dark` | Off | Normal | The lamp \\| is off. |\n\nThese have no message of their own: `Pressed`.\n"
	if got := met.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	others := newMessages()
	others.note("Dark", "On", "Transcripts have shown another.")
	others.note("Pressed", "On", "Somebody pressed the switch.")
	met.fill(others)
	if err := met.check(file, false); err == nil || !strings.Contains(err.Error(), "not what the machine says") {
		t.Errorf("a file that lacks a message is current: %v", err)
	}
	if text := met.String(); !strings.Contains(text, "Somebody pressed") || strings.Contains(text, "shown another") {
		t.Error(text)
	}
	met.note("Broken", "Off", "no light")
	if err := met.check(file, true); err == nil || !strings.Contains(err.Error(), "told by no sentence") {
		t.Errorf("words that are no sentence pass: %v", err)
	}
}
