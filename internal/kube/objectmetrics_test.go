package kube

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// aLamp stands in a phase since second 100.
func aLamp(name string, phase fsm.Phase, change func(*meta.Progress)) *kubetest.Lamp {
	l := &kubetest.Lamp{ObjectMeta: metav1.ObjectMeta{Namespace: "room", Name: name}}
	l.Status.Place = meta.Place{Phase: phase, Since: metav1.Unix(100, 0)}
	if change != nil {
		change(&l.Status.Progress)
	}
	return l
}

// lampObjects are the series of lamps that a cache holds.
func lampObjects(t *testing.T, m *fsm.Machine[*kubetest.Lamp, world], shard Shard, lamps ...client.Object) (Objects[standing], client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := kubetest.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(lamps...).Build()
	e := Env{Client: c, Live: c, Now: time.Now, Shard: shard}
	return objectsOf(e, NewReconciler(e, m)), c
}

// serving is a collector that serves these objects until the test ends, or until stop is called.
func serving[O any](t *testing.T, o Objects[O], limit int) (c *ObjectCollector, stop func()) {
	t.Helper()
	c = NewObjectCollector(metricObjects.descs...)
	ctx, cancel := context.WithCancel(t.Context())
	go o.serve(ctx, c, limit)
	synctest.Wait()
	return c, func() { cancel(); synctest.Wait() }
}

func TestSeriesNameTheObject(t *testing.T) {
	o, _ := lampObjects(t, lampMachine(), Shard{},
		aLamp("desk", on, func(p *meta.Progress) {
			p.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionTrue}, {Type: available, Status: metav1.ConditionTrue}}
		}),
		aLamp("floor", off, func(p *meta.Progress) {
			p.Failures, p.Deadline = 3, ptr.To(metav1.Unix(200, 0))
			p.Conditions = []metav1.Condition{{Type: available, Status: metav1.ConditionFalse}}
		}),
		aLamp("held", off, func(p *meta.Progress) {
			p.Failures = 7
			p.Deadline, p.HeldSince = ptr.To(metav1.Unix(200, 0)), ptr.To(metav1.Unix(150, 0))
		}),
		&kubetest.Lamp{ObjectMeta: metav1.ObjectMeta{Namespace: "room", Name: "new"}})
	synctest.Test(t, func(t *testing.T) {
		c, stop := serving(t, o, 4)
		defer stop()
		want := `
# HELP statecraft_object_available Whether the object does for others what it is for: 1 or 0, of kinds that have a condition Available.
# TYPE statecraft_object_available gauge
statecraft_object_available{kind="Lamp",name="desk",namespace="room"} 1
statecraft_object_available{kind="Lamp",name="floor",namespace="room"} 0
# HELP statecraft_object_deadline_timestamp_seconds When the phase is given up; absent without a deadline, and while a hold stops the clock.
# TYPE statecraft_object_deadline_timestamp_seconds gauge
statecraft_object_deadline_timestamp_seconds{kind="Lamp",name="floor",namespace="room"} 200
# HELP statecraft_object_failures How often in a row the steps of the phase have failed; absent while a hold keeps them from being tried.
# TYPE statecraft_object_failures gauge
statecraft_object_failures{kind="Lamp",name="desk",namespace="room"} 0
statecraft_object_failures{kind="Lamp",name="floor",namespace="room"} 3
statecraft_object_failures{kind="Lamp",name="new",namespace="room"} 0
# HELP statecraft_object_info 1 for each object: its phase, what the phase means, and the status of its condition Ready.
# TYPE statecraft_object_info gauge
statecraft_object_info{class="",kind="Lamp",name="new",namespace="room",phase="",ready=""} 1
statecraft_object_info{class="Steady",kind="Lamp",name="desk",namespace="room",phase="On",ready="True"} 1
statecraft_object_info{class="Working",kind="Lamp",name="floor",namespace="room",phase="Off",ready=""} 1
statecraft_object_info{class="Working",kind="Lamp",name="held",namespace="room",phase="Off",ready=""} 1
# HELP statecraft_object_phase_timestamp_seconds When the object entered its phase.
# TYPE statecraft_object_phase_timestamp_seconds gauge
statecraft_object_phase_timestamp_seconds{kind="Lamp",name="desk",namespace="room"} 100
statecraft_object_phase_timestamp_seconds{kind="Lamp",name="floor",namespace="room"} 100
statecraft_object_phase_timestamp_seconds{kind="Lamp",name="held",namespace="room"} 100
`
		if err := testutil.CollectAndCompare(c, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	})
}

// What is gone has no series at the next scrape, and a process that no longer leads has none at all.
func TestSeriesGoWithTheObject(t *testing.T) {
	lamp := aLamp("desk", on, nil)
	o, c := lampObjects(t, lampMachine(), Shard{}, lamp)
	synctest.Test(t, func(t *testing.T) {
		series, stop := serving(t, o, 4)
		if n := testutil.CollectAndCount(series); n != 3 {
			t.Errorf("%d series of a lamp that is there", n)
		}
		if err := c.Delete(t.Context(), lamp); err != nil {
			t.Fatal(err)
		}
		if n := testutil.CollectAndCount(series); n != 0 {
			t.Errorf("%d series of a lamp that is gone", n)
		}
		if err := c.Create(t.Context(), aLamp("floor", on, nil)); err != nil {
			t.Fatal(err)
		}
		stop()
		if n := testutil.CollectAndCount(series); n != 0 {
			t.Errorf("%d series without leading", n)
		}
	})
}

func TestOneShotsThatEndedWellHaveNoSeries(t *testing.T) {
	m := lampMachine()
	m.OneShot = true
	m.Phases["Burnt"] = fsm.Rule[input]{Doc: "Burnt.", Class: fsm.Failed}
	m.Phases["Sold"] = fsm.Rule[input]{Doc: "Sold.", Class: fsm.Done}
	o, _ := lampObjects(t, m, Shard{}, aLamp("burnt", "Burnt", nil), aLamp("sold", "Sold", nil), aLamp("on", on, nil))
	synctest.Test(t, func(t *testing.T) {
		c, stop := serving(t, o, 2)
		defer stop()
		if n := testutil.CollectAndCount(c, "statecraft_object_info"); n != 2 {
			t.Errorf("%d lamps have series", n)
		}
	})
}

// Above the limit no object has series, and the gauge says so, until there are few enough again.
func TestTooManyObjectsHaveNoSeries(t *testing.T) {
	lamp := aLamp("desk", on, nil)
	o, c := lampObjects(t, lampMachine(), Shard{}, lamp, aLamp("floor", on, nil))
	synctest.Test(t, func(t *testing.T) {
		series, stop := serving(t, o, 1)
		if n := testutil.CollectAndCount(series); n != 0 {
			t.Errorf("%d series above the limit", n)
		}
		if off := metricOf(t, metricSeriesOff.WithLabelValues("Lamp")); off != 1 {
			t.Errorf("the gauge says %v", off)
		}
		if err := c.Delete(t.Context(), lamp); err != nil {
			t.Fatal(err)
		}
		if n := testutil.CollectAndCount(series); n != 3 {
			t.Errorf("%d series within the limit", n)
		}
		if off := metricOf(t, metricSeriesOff.WithLabelValues("Lamp")); off != 0 {
			t.Errorf("the gauge says %v", off)
		}
		stop()
		if n := testutil.CollectAndCount(metricSeriesOff); n != 0 {
			t.Error("a process that does not lead speaks of objects")
		}
	})
}

// A process that may name no objects says so for as long as it leads.
func TestSeriesThatAreOff(t *testing.T) {
	o, _ := lampObjects(t, lampMachine(), Shard{}, aLamp("desk", on, nil))
	synctest.Test(t, func(t *testing.T) {
		series, stop := serving(t, o, 0)
		if n, off := testutil.CollectAndCount(series), metricOf(t, metricSeriesOff.WithLabelValues("Lamp")); n != 0 || off != 1 {
			t.Errorf("%d series, the gauge says %v", n, off)
		}
		stop()
		if n := testutil.CollectAndCount(metricSeriesOff); n != 0 {
			t.Error("a process that does not lead speaks of objects")
		}
	})
}

// What is quiet while it is ready neither has series nor counts against the limit.
func TestQuietObjectsHaveSeriesWhileNotReady(t *testing.T) {
	ready := func(status metav1.ConditionStatus) func(*meta.Progress) {
		return func(p *meta.Progress) { p.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: status}} }
	}
	lamps := []client.Object{
		aLamp("desk", on, ready("True")), aLamp("quiet", on, ready("True")), aLamp("quiet-but-dark", on, ready("False")), aLamp("quiet-and-new", "", nil),
	}
	o, _ := lampObjects(t, lampMachine(), Shard{}, lamps...)
	if list, err := o.List(t.Context()); err != nil || len(list) != 4 {
		t.Errorf("%d lamps have series, %v", len(list), err)
	}
	_, c := lampObjects(t, lampMachine(), Shard{}, lamps...)
	e := Env{Client: c, Live: c, Now: time.Now}
	r := NewReconciler(e, lampMachine())
	r.QuietWhileReady = func(key read.Key) bool { return strings.HasPrefix(key.Name, "quiet") }
	list, err := objectsOf(e, r).List(t.Context())
	if err != nil || len(list) != 3 {
		t.Errorf("%d lamps have series, %v", len(list), err)
	}
}

// Two processes that share the objects do not serve one twice.
func TestSeriesAreOfOneShard(t *testing.T) {
	var lamps []client.Object
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		lamps = append(lamps, aLamp(name, on, nil))
	}
	counted := 0
	for i := range 2 {
		o, _ := lampObjects(t, lampMachine(), Shard{Index: i, Count: 2}, lamps...)
		list, err := o.List(t.Context())
		if err != nil || len(list) == 0 || len(list) == len(lamps) {
			t.Errorf("shard %d has %d, %v", i, len(list), err)
		}
		counted += len(list)
	}
	if counted != len(lamps) {
		t.Errorf("%d of %d", counted, len(lamps))
	}
}

// A kind that cannot be listed must not cost the series of all others.
func TestAFailedListIsCounted(t *testing.T) {
	o := Objects[string]{
		Kind: "Lamp", List: func(context.Context) ([]string, error) { return nil, errors.New("broken") },
		Series: func(string) []prometheus.Metric { return nil },
	}
	was := metricOf(t, metricLookErrors.WithLabelValues("metrics"))
	synctest.Test(t, func(t *testing.T) {
		c, stop := serving(t, o, 1)
		defer stop()
		if problems, err := testutil.CollectAndLint(c); len(problems) > 0 || err != nil {
			t.Error(problems, err)
		}
	})
	if is := metricOf(t, metricLookErrors.WithLabelValues("metrics")); is <= was {
		t.Error("nobody counts it")
	}
}
