package entry

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

const (
	ours = Cluster("0a1b2c3d")
	pod  = types.UID("6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f")
)

func TestWhoseAnEntryIs(t *testing.T) {
	for what, c := range map[string]struct {
		name  string
		pod   types.UID
		owns  bool
		other Cluster
	}{
		"a pod of ours":                             {name: "sc-0a1b2c3d-6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f", pod: pod, owns: true},
		"our nudge":                                 {name: "sc-0a1b2c3d-nudge", owns: true},
		"a pod of another cluster":                  {name: "sc-ffffffff-6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f", other: "ffffffff"},
		"the nudge of another cluster":              {name: "sc-ffffffff-nudge", other: "ffffffff"},
		"an application of a person":                {name: "nginx"},
		"one that begins as ours do":                {name: "sc-nginx"},
		"one with a cluster that is none":           {name: "sc-notahexa-6f1c9a52"},
		"one with our cluster and without a pod":    {name: "sc-0a1b2c3d-"},
		"one with our cluster in the wrong place":   {name: "x-sc-0a1b2c3d-6f1c9a52"},
		"one that only begins with our cluster":     {name: "sc-0a1b2c3d"},
		"one whose cluster is longer":               {name: "sc-0a1b2c3d0-6f1c9a52"},
		"an empty name":                             {},
		"one with what Flight Control never stores": {name: "sc-0a1b2c3d-A"},
	} {
		uid, is := ours.Pod(c.name)
		if uid != c.pod || is != (c.pod != "") {
			t.Errorf("%s: pod %q, %t", what, uid, is)
		}
		if ours.Owns(c.name) != c.owns {
			t.Errorf("%s: ours %t", what, !c.owns)
		}
		if other, is := ours.Other(c.name); other != c.other || is != (c.other != "") {
			t.Errorf("%s: of cluster %q, %t", what, other, is)
		}
	}
}

// Names lead back to their pods, fit what Flight Control allows, and no two clusters or pods share one.
func TestNamesLeadBack(t *testing.T) {
	uids := rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	rapid.Check(t, func(t *rapid.T) {
		a, err := ClusterOf(types.UID(uids.Draw(t, "kube-system")))
		if err != nil {
			t.Fatal(err)
		}
		b, err := ClusterOf(types.UID(uids.Draw(t, "another kube-system")))
		if err != nil {
			t.Fatal(err)
		}
		uid := types.UID(uids.Draw(t, "pod"))
		name := a.Of(uid)
		if back, is := a.Pod(name); !is || back != uid || len(name) != 48 {
			t.Errorf("%s leads to %q, %t", name, back, is)
		}
		if _, is := b.Pod(name); is != (a == b) || b.Owns(name) != (a == b) {
			t.Errorf("cluster %s takes %s for its own", b, name)
		}
	})
}

func TestAClusterHasAName(t *testing.T) {
	if c, err := ClusterOf("0a1b2c3d-7d1e-4f0a-9a58-3a4b5c6d7e8f"); err != nil || c != ours {
		t.Errorf("%q, %v", c, err)
	}
	for _, uid := range []types.UID{"", "0a1b2c3", "0A1B2C3D-7d1e", "kube-system"} {
		if c, err := ClusterOf(uid); !errors.Is(err, ErrNoCluster) {
			t.Errorf("%q is cluster %q, %v", uid, c, err)
		}
	}
}

func TestFilesLieApart(t *testing.T) {
	if Folder(pod) != "/var/lib/statecraft/6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f" || ours.NudgeFile() != "/var/lib/statecraft/nudge-0a1b2c3d" {
		t.Errorf("%s, %s", Folder(pod), ours.NudgeFile())
	}
}
