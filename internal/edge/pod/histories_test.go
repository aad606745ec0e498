package pod

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const cluster = entry.Cluster("0a1b2c3d")

// history is pods of StatefulSets on some devices, and all that may happen to them, in some order.
type history struct {
	*testing.T
	r      *rand.Rand
	server *fleetfake.Server
	pods   []*Pod
	// of is the ordinal of each pod that ever was, by its application: of one ordinal no two may run.
	of    map[string]int
	swept map[string]fleet.Device // what the last sweep saw
	now   time.Time
	made  int
	calm  bool // nothing goes wrong any more
	did   []string

	conversions map[string]spec.Conversion
	images      map[string]string
}

const ordinals = 4

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{T: t, r: rand.New(rand.NewPCG(seed, 7)), server: fleetfake.New("pump", "valve"), of: map[string]int{}, swept: map[string]fleet.Device{}, now: createdAt.Time}
	h.conversions, h.images = map[string]spec.Conversion{}, map[string]string{}
	for i := range ordinals {
		h.create(i)
	}
	return h
}

func (h *history) devices() []string { return slices.Sorted(maps.Keys(h.server.Devices)) }

func (h *history) note(format string, args ...any) {
	h.did = append(h.did, fmt.Sprintf(format, args...))
}

func (h *history) fail(format string, args ...any) {
	h.Helper()
	h.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(h.did[max(0, len(h.did)-60):], "\n"))
}

// create is a StatefulSet, whose pod of an ordinal is made anew once the last one is gone, and the scheduler.
func (h *history) create(ordinal int) {
	h.made++
	p := newPod()
	p.Name, p.UID = fmt.Sprintf("web-%d", ordinal), types.UID(fmt.Sprintf("p%d", h.made))
	p.Spec.NodeName = pick(h.r, h.devices()...)
	p.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
	p.CreationTimestamp = metav1.NewTime(h.now)
	h.pods = append(h.pods, p)
	h.of[cluster.Of(p.UID)] = ordinal
	h.note("%s is made on %s", p.UID, p.Spec.NodeName)
}

func (h *history) find(uid types.UID) int {
	return slices.IndexFunc(h.pods, func(p *Pod) bool { return p.UID == uid })
}

// read is what a controller reads before a pass: of most devices what the last sweep saw.
func (h *history) read(p *Pod) Reading {
	ctx, name := h.Context(), p.Spec.NodeName
	r := Reading{Cluster: cluster, Pod: &p.Pod, Others: h.others(p), Conversion: h.built(p), PlaceTimeout: 5 * time.Minute, Blind: h.server.Down}
	live, err := h.server.Get(ctx, name)
	if err != nil {
		return r
	}
	seen, swept := h.swept[name]
	deep := p.Progress.Phase == Leaving || p.known() != p.Spec.Containers[0].Image
	if !swept || deep || h.calm || h.r.IntN(3) == 0 {
		seen = live
		h.swept[name] = live
	}
	r.Device = device.Seen{Sight: presence.Here, Device: seen}
	if deep {
		if rendered, err := h.server.Rendered(ctx, name); err == nil {
			r.Rendered = &rendered
		}
	}
	return r
}

func (h *history) others(p *Pod) (others []*Pod) {
	for _, o := range h.pods {
		if o.Spec.NodeName == p.Spec.NodeName && o.UID != p.UID {
			others = append(others, o)
		}
	}
	return others
}

// pass is one pass of the controller over a pod, in which something may go wrong.
func (h *history) pass(i int) {
	p := h.pods[i]
	in := input{Obj: p.DeepCopy(), World: h.read(p).World(), Now: h.now}
	s, err := Machine.Step(in)
	if err == nil {
		err = safe(in, s)
	}
	if err != nil {
		h.fail("%s: %v: %+v", p.UID, err, in.World)
	}
	var outcomes []fsm.Outcome
	trouble := h.r.IntN(20)
	if h.calm {
		trouble = 20
	}
	if trouble == 0 { // it crashes before it acts
		return
	}
	for _, e := range s.Decision.Do {
		err := h.act(p, e)
		if trouble == 1 {
			err = errors.New("the answer was lost")
		}
		if outcomes = append(outcomes, fsm.Outcome{Effect: e, Err: err}); err != nil {
			break
		}
	}
	if trouble == 2 { // it crashes before it saves
		return
	}
	next := Machine.Reduce(in, s, outcomes).Obj
	if was, is := p.Progress.Phase, next.Progress.Phase; was != is || len(outcomes) > 0 {
		h.note("%s %s→%s %v", p.UID, was, is, outcomes)
	}
	if i := h.find(p.UID); i >= 0 {
		next.ResourceVersion += "'"
		if len(next.ResourceVersion) > 9 {
			next.ResourceVersion = "7"
		}
		h.pods[i] = next
	}
}

func (h *history) act(p *Pod, e fsm.Effect) error {
	edit := func(decide func(fleet.Device) (fleet.Edit, error)) error {
		err := h.server.Edit(h.Context(), p.Spec.NodeName, decide)
		h.oneByOne(p.Spec.NodeName)
		return err
	}
	switch e := e.(type) {
	case Send:
		return edit(func(now fleet.Device) (fleet.Edit, error) {
			return e.Edit(cluster, now, h.built(p), h.others(p))
		})
	case Remove:
		return edit(func(now fleet.Device) (fleet.Edit, error) { return e.Edit(cluster, now) })
	case Nudge:
		return edit(func(now fleet.Device) (fleet.Edit, error) { return e.Edit(cluster, now) })
	case Release:
		h.release(p)
	}
	return nil
}

// release lets the object go. Nothing may run any more, nor be about to.
func (h *history) release(p *Pod) {
	name, d := cluster.Of(p.UID), h.server.Devices[p.Spec.NodeName]
	if _, runs := d.Agent.Running[name]; runs || d.MayStart(name) {
		h.fail("%s is let go, and runs or may start: %+v", p.UID, d.Agent)
	}
	i := h.find(p.UID)
	if i < 0 {
		return
	}
	h.pods = slices.Delete(h.pods, i, i+1)
	h.note("%s is gone", p.UID)
	h.create(h.of[name])
}

// onlyOne: of no ordinal two run.
func (h *history) onlyOne() {
	runs := map[int]string{}
	for _, name := range h.devices() {
		for app := range h.server.Devices[name].Agent.Running {
			ordinal, ours := h.of[app]
			if other, is := runs[ordinal]; ours && is {
				h.fail("two of ordinal %d run: %s and %s", ordinal, other, app)
			}
			if ours {
				runs[ordinal] = app
			}
		}
	}
}

// oneByOne: a device has one addition on its way.
func (h *history) oneByOne(name string) {
	live, _ := h.server.Get(h.Context(), name)
	var coming []string
	for _, e := range live.Applications {
		if image := h.imageOf(e.Raw); image != "" && h.server.Devices[name].Agent.Running[e.Name] != image {
			coming = append(coming, e.Name)
		}
	}
	if len(coming) > 1 {
		h.fail("%v are on their way to %s at once", coming, name)
	}
}

func (h *history) imageOf(raw json.RawMessage) string {
	image, is := h.images[string(raw)]
	if !is {
		image, _ = spec.ImageOf(raw)
		h.images[string(raw)] = image
	}
	return image
}

// built converts a pod, once for each image.
func (h *history) built(p *Pod) spec.Conversion {
	key := string(p.UID) + p.Spec.Containers[0].Image
	c, is := h.conversions[key]
	if !is {
		c = spec.Build(&p.Pod, cluster, spec.Sources{})
		h.conversions[key] = c
	}
	return c
}

// happen lets one thing happen.
func (h *history) happen() {
	name := pick(h.r, h.devices()...)
	d := h.server.Devices[name]
	switch h.r.IntN(25) {
	case 24:
		h.fleet(name, d)
	case 0, 1, 2, 3, 4:
		if len(h.pods) > 0 {
			h.pass(h.r.IntN(len(h.pods)))
		}
	case 5, 6, 7:
		d.Render(0)
	case 8, 9, 10:
		d.Apply()
		h.onlyOne()
	case 11, 12, 13:
		d.Report()
	case 14:
		h.now = h.now.Add(pick(h.r, time.Second, 10*time.Second, 40*time.Second, 6*time.Minute))
	case 15:
		if p := h.pods[h.r.IntN(len(h.pods))]; p.DeletionTimestamp == nil && h.r.IntN(3) == 0 {
			p.DeletionTimestamp = &metav1.Time{Time: h.now}
			h.note("%s is deleted", p.UID)
		}
	case 16:
		d.Restart()
		h.note("the agent of %s restarts", name)
	case 17:
		if d.Agent.Connected = h.r.IntN(3) > 0; !d.Agent.Connected && h.r.IntN(2) == 0 {
			d.Status.Silent = true
		}
		h.note("%s is connected: %t", name, d.Agent.Connected)
	case 18:
		broken := pick(h.r, image, "imagehub.example.com/web:2")
		d.Agent.Unpullable[broken] = !d.Agent.Unpullable[broken] && h.r.IntN(2) == 0
	case 19:
		p := pick(h.r, h.pods...)
		app := cluster.Of(p.UID)
		d.Agent.Unstoppable[app] = !d.Agent.Unstoppable[app] && h.r.IntN(2) == 0
	case 20:
		h.server.Down = !h.server.Down && h.r.IntN(2) == 0
	case 21:
		if p := pick(h.r, h.pods...); h.r.IntN(4) == 0 {
			p.Spec.Containers[0].Image = pick(h.r, image, "imagehub.example.com/web:2")
		}
	case 22:
		if p := pick(h.r, h.pods...); h.r.IntN(3) == 0 {
			p.Progress = meta.Progress{}
			h.note("%s loses its progress", p.UID)
		}
	case 23:
		h.person(name, d)
	}
}

// fleet captures a device, and replaces its whole spec; or lets it go.
func (h *history) fleet(name string, d *fleetfake.Device) {
	switch {
	case d.Owner != "":
		d.Owner = ""
		h.note("%s is free", name)
	case h.r.IntN(6) == 0:
		h.server.Replace(name, "Fleet/pumps", `{"applications":[{"name":"theirs","image":"quay.io/example/theirs:1"}]}`)
		h.note("%s is captured", name)
	}
}

// person edits a device that we edit as well.
func (h *history) person(name string, d *fleetfake.Device) {
	decide := func(fleet.Device) (fleet.Edit, error) {
		app := json.RawMessage(`{"name":"logger","image":"quay.io/example/logger:` + fmt.Sprint(h.r.IntN(100)) + `"}`)
		return fleet.Edit{Applications: map[string]json.RawMessage{"logger": app}}, nil
	}
	switch h.r.IntN(6) {
	case 0:
		d.Crash(cluster.Of(pick(h.r, h.pods...).UID))
		return
	case 1:
		p := pick(h.r, h.pods...)
		decide = func(fleet.Device) (fleet.Edit, error) { return fleet.Edit{Remove: []string{cluster.Of(p.UID)}}, nil }
		if _, runs := d.Agent.Running[cluster.Of(p.UID)]; !runs || h.r.IntN(3) > 0 {
			return // one that was never rendered, and is taken out by others, leaves no mark
		}
		h.note("a person takes %s off %s", p.UID, name)
	}
	if d.Owner != "" {
		return
	}
	down := h.server.Down
	h.server.Down = false
	if err := h.server.Edit(h.Context(), name, decide); err != nil {
		h.fail("%v", err)
	}
	h.server.Down = down
}

// Whatever happens, in whatever order: of no ordinal of a StatefulSet two run, no object goes while its containers run or may
// still start, one pod at a time is on its way to a device, and once the trouble is over every pod runs.
func TestHistories(t *testing.T) {
	for seed := range uint64(histories) {
		h := newHistory(t, seed)
		h.note("seed %d", seed)
		for range 300 {
			h.happen()
		}
		h.settle()
	}
}
