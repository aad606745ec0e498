package pod

import (
	"strconv"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case Send:
		w.App.InSpec, w.App.Image = true, e.Image
		w.Device.Adds = false
	case Remove:
		if w.App.InSpec && !w.App.Found {
			w.App.Mark = strconv.FormatInt(e.At, 10) + " 1"
		}
		w.App.InSpec, w.App.Image = false, ""
		if e.Newcomer == w.Device.Newcomer {
			w.Device.Newcomer = ""
		}
	case Nudge:
		w.Device.NudgedAt, w.App.Mark = e.At, strconv.FormatInt(e.At, 10)
	case Release:
		w.Released = true
	}
	return w
}

func next(version string) string {
	n, _ := strconv.Atoi(version)
	return strconv.Itoa(n + 1)
}

// Settle is what Flight Control and the agent do, one step at a time: an edit is rendered, later applied, and then runs.
func Settle(_ *Pod, w World) World {
	a := &w.App
	switch {
	case !w.Device.Believed:
	case a.edited():
		a.InRendered, a.RenderedImage, a.RenderedMark = a.InSpec, a.Image, a.Mark
		a.RenderedVersion = next(a.RenderedVersion)
		w.Device.Applied = false
	case a.ReportedVersion != a.RenderedVersion && w.Unpullable && a.InSpec:
		a.CannotPull = true
	case a.ReportedVersion != a.RenderedVersion:
		apply(&w)
	case a.Found && a.Status == fleet.AppStarting && w.Failing:
		a.Status = fleet.AppError
	case a.Found && a.Status == fleet.AppStarting:
		a.Status, a.Ready = fleet.AppRunning, 1
	}
	return w
}

// edited says that the spec is not what was rendered.
func (a App) edited() bool {
	return a.InRendered != a.InSpec || a.InSpec && a.RenderedImage != a.Image || a.RenderedMark != a.Mark
}

// apply lets the agent apply what was rendered, and report it.
func apply(w *World) {
	a, d := &w.App, &w.Device
	a.ReportedVersion, d.Applied, a.CannotPull = a.RenderedVersion, true, false
	a.Reported, a.Found, a.Restarts = a.InRendered, a.InRendered, 0
	a.Status, a.Ready, a.Of = "", 0, 0
	if a.InRendered {
		a.Status, a.Of = fleet.AppStarting, 1
	}
	if d.State == device.Behind {
		d.State = device.Connected
	}
	d.Adds = d.Newcomer == "" && d.State == device.Connected
}
