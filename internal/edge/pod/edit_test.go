package pod

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// pump is a device that runs the pod and another one.
func pump(t *testing.T) fleet.Device {
	t.Helper()
	return fleet.Device{
		Name: "pump", ResourceVersion: "91", RenderedVersion: "2",
		Applications: []fleet.Entry{{Name: "logger"}, entryOf(t, "p1", image), entryOf(t, "p2", image)},
		Status: fleet.Status{
			ReportedVersion: "2", Summary: fleet.Word{Status: fleet.Online},
			Applications: []fleet.Application{{Name: application, Status: fleet.AppRunning, Ready: 1, Of: 1}, {Name: other, Status: fleet.AppRunning, Ready: 1, Of: 1}},
		},
	}
}

func podOf(uid, of string) *Pod {
	p := newPod()
	p.UID = types.UID(uid)
	p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = of, corev1.PullIfNotPresent
	return p
}

func entryOf(t *testing.T, uid, of string) fleet.Entry {
	t.Helper()
	raw, err := json.Marshal(spec.Build(&podOf(uid, of).Pod, cluster, spec.Sources{}).Application)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Entry{Name: cluster.Of(types.UID(uid)), Raw: raw}
}

func without(d fleet.Device, name string) fleet.Device {
	gone := func(n string) bool { return n == name }
	d.Applications = slices.DeleteFunc(slices.Clone(d.Applications), func(e fleet.Entry) bool { return gone(e.Name) })
	d.Status.Applications = slices.DeleteFunc(slices.Clone(d.Status.Applications), func(a fleet.Application) bool { return gone(a.Name) })
	return d
}

// ranPod is a pod whose status says that it ran with an image.
func ranPod(uid, of, ran string) *Pod {
	p := podOf(uid, of)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", Image: ran, Started: new(true)}}
	return p
}

func TestWhatSendingDoes(t *testing.T) {
	built := func(p *Pod) spec.Conversion { return spec.Build(&p.Pod, cluster, spec.Sources{}) }
	second := "imagehub.example.com/web:2"
	for what, c := range map[string]struct {
		now    fleet.Device
		image  string
		built  spec.Conversion
		others []*Pod
		sends  bool
		doubt  string
	}{
		"a device that has applied everything":    {without(pump(t), application), image, built(podOf("p1", image)), []*Pod{ranPod("p2", image, image)}, true, ""},
		"it is there, because an answer was lost": {pump(t), image, built(podOf("p1", image)), []*Pod{ranPod("p2", image, image)}, false, ""},
		"another image":                        {pump(t), second, built(podOf("p1", second)), []*Pod{ranPod("p2", image, image)}, true, ""},
		"another pod came in between":          {func() fleet.Device { d := without(pump(t), application); d.Status.Applications = nil; return d }(), image, built(podOf("p1", image)), nil, false, "it is Behind"},
		"a version is not applied":             {func() fleet.Device { d := without(pump(t), application); d.RenderedVersion = "3"; return d }(), image, built(podOf("p1", image)), nil, false, "it is Behind"},
		"a fleet has captured it":              {func() fleet.Device { d := without(pump(t), application); d.Owner = "Fleet/a"; return d }(), image, built(podOf("p1", image)), nil, false, "it is Captured"},
		"another pod has not been seen to run": {without(pump(t), application), image, built(podOf("p1", image)), []*Pod{podOf("p2", image)}, false, "is on its way"},
		"another pod's image is replaced":      {without(pump(t), application), image, built(podOf("p1", image)), []*Pod{ranPod("p2", image, second)}, false, "is on its way"},
		"the image was edited since":           {without(pump(t), application), image, built(podOf("p1", second)), []*Pod{ranPod("p2", image, image)}, false, "has changed"},
		"a ConfigMap was deleted since":        {without(pump(t), application), image, spec.Conversion{Missing: []string{"x"}}, []*Pod{ranPod("p2", image, image)}, false, "has changed"},
		"what was built is another pod's":      {without(pump(t), application), image, built(podOf("p9", image)), []*Pod{ranPod("p2", image, image)}, false, "has changed"},
	} {
		edit, err := Send{application, c.image}.Edit(cluster, c.now, c.built, c.others)
		if (c.doubt != "") != (err != nil) || err != nil && (!strings.Contains(err.Error(), c.doubt) || fsm.ClassOf(err) != fsm.Changed) {
			t.Errorf("%s: %v", what, err)
		}
		if sent, is := spec.ImageOf(edit.Applications[application]); is != c.sends || is && sent != c.image || len(edit.Applications) > 1 {
			t.Errorf("%s: %s, %+v", what, sent, edit)
		}
	}
}

func TestWhatRemovingDoes(t *testing.T) {
	unreported := func(d fleet.Device, name string) fleet.Device {
		d.Status.Applications = slices.DeleteFunc(slices.Clone(d.Status.Applications), func(a fleet.Application) bool { return a.Name == name })
		return d
	}
	behind := func(d fleet.Device) fleet.Device { d.RenderedVersion = "3"; return d }
	nudge := cluster.Nudge()
	for what, c := range map[string]struct {
		e       Remove
		now     fleet.Device
		removes []string
		mark    string
	}{
		"one of two":                              {Remove{Application: application}, pump(t), []string{application}, ""},
		"the last, and the mark with it":          {Remove{Application: application}, without(pump(t), other), []string{application, nudge}, ""},
		"one that is not reported":                {Remove{Application: application, At: 7}, unreported(pump(t), application), []string{application}, "7 91"},
		"the last, not reported":                  {Remove{Application: application, At: 7}, unreported(without(pump(t), other), application), []string{application}, "7 91"},
		"one that is gone":                        {Remove{Application: application, At: 7}, without(pump(t), application), []string{application}, ""},
		"with a newcomer":                         {Remove{Application: application, Newcomer: other, At: 7}, behind(unreported(pump(t), other)), []string{application, other}, "7 91"},
		"with a newcomer that has arrived":        {Remove{Application: application, Newcomer: other}, behind(pump(t)), []string{application}, ""},
		"with another image that is on its way":   {Remove{Application: application, Newcomer: other, Replaces: true}, behind(pump(t)), []string{application, other, nudge}, ""},
		"with another image that has arrived":     {Remove{Application: application, Newcomer: other, Replaces: true}, pump(t), []string{application}, ""},
		"from a silent device":                    {Remove{Application: application}, func() fleet.Device { d := pump(t); d.Status.Summary.Status = fleet.Unknown; return d }(), []string{application}, ""},
		"from a device that a fleet has captured": {Remove{Application: application}, func() fleet.Device { d := pump(t); d.Owner = "Fleet/a"; return d }(), nil, ""},
		"from one that waits since a restore":     {Remove{Application: application}, func() fleet.Device { d := pump(t); d.AwaitingReconnect = true; return d }(), nil, ""},
	} {
		edit, err := c.e.Edit(cluster, c.now)
		if (c.removes == nil) != (err != nil) || !slices.Equal(edit.Remove, c.removes) {
			t.Errorf("%s: %v, removes %v", what, err, edit.Remove)
		}
		if mark := device.MarkOf(cluster, []fleet.Entry{{Raw: edit.Config[nudge]}}); mark != c.mark || len(edit.Applications) > 0 {
			t.Errorf("%s: mark %q", what, mark)
		}
	}
}

func TestWhatANudgeDoes(t *testing.T) {
	edit, err := Nudge{At: 1_700_000_000}.Edit(cluster, pump(t))
	if err != nil || len(edit.Config) != 1 || len(edit.Remove)+len(edit.Applications) > 0 {
		t.Fatalf("%+v, %v", edit, err)
	}
	d := pump(t)
	d.Config = []fleet.Entry{{Name: cluster.Nudge(), Raw: edit.Config[cluster.Nudge()]}}
	if at := nudgedAt(cluster, d); at != 1_700_000_000 {
		t.Errorf("it is read as %d", at)
	}
	captured := pump(t)
	captured.Owner = "Fleet/a"
	if _, err := (Nudge{}).Edit(cluster, captured); fsm.ClassOf(err) != fsm.Changed {
		t.Error(err)
	}
	for _, raw := range []string{``, `{}`, `{"inline":[{"path":"/var/lib/statecraft/nudge-0a1b2c3d","content":"soon"}]}`, `{"inline":[{"path":"/var/lib/statecraft/nudge-0a1b2c3d","content":"-5"}]}`} {
		d.Config[0].Raw = json.RawMessage(raw)
		if at := nudgedAt(cluster, d); at != 0 {
			t.Errorf("%s is read as %d", raw, at)
		}
	}
}

func TestWhatAReadingSays(t *testing.T) {
	d := pump(t)
	d.Status.Applications[0].Restarts = 3
	d.Status.Updating = fleet.Condition{Reason: "ApplyingUpdate", Message: "[2026-11-17 09:00:00] While Preparing: prefetch failed for " + image + ": service unavailable"}
	rendered := fleet.Rendered(pump(t))
	p := ranPod("p1", image, image)
	r := Reading{
		Cluster: cluster, Pod: &p.Pod, Device: device.Seen{Sight: presence.Here, Device: d}, Rendered: &rendered, Others: []*Pod{p, podOf("p2", image)},
		LastSeen: time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC), PlaceTimeout: 5 * time.Minute,
	}
	w := r.World()
	a := w.App
	if !w.Looked || w.PlaceTimeout != 300 || w.Wanted.Name != application || w.Wanted.Containers != 1 || w.Device.Newcomer != other || w.Device.LastSeen != "2026-11-17 09:00:00Z" {
		t.Errorf("%+v", w)
	}
	if !a.InSpec || !a.InRendered || !a.Found || a.Image != image || a.RenderedImage != image || a.Restarts != 3 || !a.CannotPull || !w.Device.Applied || !w.runs("") {
		t.Errorf("%+v", a)
	}
	r.Blind = true
	if w = r.World(); !w.Blind || w.Device.State != "" || w.App.InSpec || w.Wanted.Name != application {
		t.Errorf("%+v", w)
	}
	r.Blind, r.Device, r.Rendered = false, device.Seen{Sight: presence.Gone}, nil
	if w = r.World(); w.Device.State != device.Gone || w.App.Rendered {
		t.Errorf("%+v", w)
	}
	if r.Device.Sight = presence.Unknown; r.World().Device.State != "" {
		t.Error("a device that was not read is in some state")
	}
}

// Of the metadata and of conditions of others nothing is changed, and a readiness gate keeps a pod from being Ready.
func TestStatusAsAKubeletWritesIt(t *testing.T) {
	p := newPod()
	p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "x"})
	p.Status.QOSClass = corev1.PodQOSBurstable
	p.Progress.Phase, p.Progress.Since = Running, createdAt
	in := input{Obj: p, World: runs(), Now: createdAt.Add(time.Minute)}
	ready := func(p *Pod) corev1.PodCondition { return *p.condition(corev1.PodReady) }
	out := Machine.Reduce(in, step(t, in), nil).Obj
	if c := ready(out); c.Status != corev1.ConditionFalse || c.Reason != "ReadinessGatesNotReady" || out.condition(corev1.ContainersReady).Status != corev1.ConditionTrue {
		t.Errorf("%+v", out.Status.Conditions)
	}
	out.Status.Conditions = append(out.Status.Conditions, corev1.PodCondition{Type: "example.com/gate", Status: corev1.ConditionTrue})
	in.Obj, in.Now = out, in.Now.Add(time.Minute)
	out = Machine.Reduce(in, step(t, in), nil).Obj
	if c := ready(out); c.Status != corev1.ConditionTrue || !c.LastTransitionTime.Equal(&metav1.Time{Time: in.Now}) {
		t.Errorf("%+v", c)
	}
	c := out.Status.ContainerStatuses[0]
	if !c.Ready || c.State.Running == nil || c.Image != image || out.Status.Phase != corev1.PodRunning || out.Status.PodIP != "" || out.Status.QOSClass != corev1.PodQOSBurstable || out.condition(corev1.DisruptionTarget) == nil {
		t.Errorf("%+v", out.Status)
	}
	if h := out.condition(HonouredCondition); h.Status != corev1.ConditionTrue || h.Reason != "LeftOut" || !strings.Contains(h.Message, "enableServiceLinks") {
		t.Errorf("%+v", h)
	}
	in.Obj, in.World = out, Perform(idle(), Send{})
	row(&in.World, device.Silent)
	s := step(t, in)
	silent := Machine.Reduce(in, s, nil).Obj
	if c := silent.Status.ContainerStatuses[0]; c.Ready || c.State.Running == nil || silent.Status.Phase != corev1.PodRunning || silent.Status.Reason != "DeviceSilent" || ready(silent).Reason != "DeviceSilent" {
		t.Errorf("phase and last status are not kept: %+v", silent.Status)
	}
}

func step(t *testing.T, in input) fsm.Step[*Pod] {
	t.Helper()
	s, err := Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A life without trouble is one edit of the device and three writes of status until it runs, and one of each until it goes.
func TestALifeIsFewWrites(t *testing.T) {
	p, w, now := newPod(), idle(), createdAt.Time
	writes, effects := 0, 0
	pass := func() {
		in := input{Obj: p, World: w, Now: now}
		s := step(t, in)
		var outcomes []fsm.Outcome
		for _, e := range s.Decision.Do {
			effects++
			w = Perform(w, e)
			outcomes = append(outcomes, fsm.Outcome{Effect: e})
		}
		next := Machine.Reduce(in, s, outcomes).Obj
		was, _ := json.Marshal(p)
		is, _ := json.Marshal(next)
		if string(was) != string(is) {
			writes++
		}
		p, now = next, now.Add(time.Second)
	}
	for range 20 {
		pass()
		w = Settle(p, w)
	}
	if p.Progress.Phase != Running || writes != 3 || effects != 1 {
		t.Errorf("%s after %d writes and %d edits", p.Progress.Phase, writes, effects)
	}
	p.DeletionTimestamp, writes, effects = &metav1.Time{Time: now}, 0, 0
	for !w.Released && writes < 20 {
		pass()
		w = Settle(p, w)
	}
	if writes != 1 || effects != 2 { // the removal, and the release
		t.Errorf("it leaves by %d writes and %d effects", writes, effects)
	}
}
