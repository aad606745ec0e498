package nodesconf

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Four servers: this one (a) with slots, its replica (b), another primary (c) with
// its replica (d), whose shard is not c's.
var (
	ida    = strings.Repeat("a", 40)
	idb    = strings.Repeat("b", 40)
	idc    = strings.Repeat("c", 40)
	idd    = strings.Repeat("d", 40)
	shard1 = strings.Repeat("1", 40)
	shard2 = strings.Repeat("2", 40)
	shard3 = strings.Repeat("3", 40)

	lineA = ida + " 127.0.1.1:6379@16379,,tls-port=0,shard-id=" + shard1 + " myself,master - 0 0 7 connected 0-99 200 [93->-" + idc + "]\n"
	lineB = idb + " 127.0.1.2:6379@16379,,tls-port=0,shard-id=" + shard1 + " slave " + ida + " 0 1700000000000 7 connected\n"
	lineC = idc + " [fd00::3]:6379@16379,host.example,shard-id=" + shard2 + " master - 0 1700000000000 3 connected 100-199\n"
	lineD = idd + " :0@0,,shard-id=" + shard3 + " slave,noaddr " + idc + " 0 1700000000000 3 disconnected\n"
	vars  = "vars currentEpoch 7 lastVoteEpoch 0\n"
)

func TestParse(t *testing.T) {
	got, err := Parse(lineC + "\n" + lineA + lineB + lineD + vars)
	if err != nil {
		t.Fatal(err)
	}
	want := File{
		Self: Node{ID: ida, Addr: "127.0.1.1:6379", Epoch: 7, Slots: "0-99 200", Shard: shard1},
		Peers: []Node{
			{ID: idc, Addr: "[fd00::3]:6379", Epoch: 3, Slots: "100-199", Shard: shard2},
			{ID: idb, Addr: "127.0.1.2:6379", Follows: ida, Epoch: 7, Shard: shard1},
			{ID: idd, Follows: idc, Epoch: 3, Shard: shard3},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := got.Replicas(ida); len(r) != 1 || r[0].ID != idb {
		t.Errorf("replicas %v", r)
	}
}

func TestWhatCannotBeLoaded(t *testing.T) {
	for name, text := range map[string]string{
		"blank lines":           "\n \n",
		"only variables":        vars,
		"not about this server": lineB + vars,
		"two of itself":         lineA + strings.Replace(lineC, "master", "myself,master", 1),
		"one twice":             lineA + lineB + lineB,
		"a line cut off":        lineA + lineB[:60],
		"no ID":                 strings.ToUpper(lineA),
		"no address":            strings.Replace(lineA, ":", ";", 1),
		"a primary without ID":  lineA + strings.Replace(lineB, ida, "a", 1),
		"no epoch":              strings.Replace(lineA, " 7 ", " x ", 1),
		"slots that are none":   strings.Replace(lineA, "0-99", "0-99999", 1),
		"a shard that is none":  strings.Replace(lineA, shard1, "1", 1),
		"something else":        "appendonly yes\n",
	} {
		t.Run(name, func(t *testing.T) {
			if f, err := Parse(text); !errors.Is(err, ErrUnloadable) {
				t.Errorf("read as %+v, error %v", f, err)
			}
		})
	}
}

func TestRepair(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		changed    []string
	}{
		"a replica in another shard":       {lineA + lineC + lineD + vars, lineA + lineC + strings.Replace(lineD, shard3, shard2, 1) + vars, []string{idd}},
		"the replica comes first":          {lineD + lineA + lineC, strings.Replace(lineD, shard3, shard2, 1) + lineA + lineC, []string{idd}},
		"all in order":                     {lineA + lineB + lineC + "\n" + vars, lineA + lineB + lineC + "\n" + vars, nil},
		"a replica of nobody listed":       {lineA + lineD, lineA + lineD, nil},
		"a primary without shard":          {lineA + strings.Replace(lineC, ",shard-id="+shard2, "", 1) + lineD, lineA + strings.Replace(lineC, ",shard-id="+shard2, "", 1) + lineD, nil},
		"a replica without shard":          {lineA + lineC + strings.Replace(lineD, ",shard-id="+shard3, "", 1), lineA + lineC + strings.Replace(lineD, ",shard-id="+shard3, "", 1), nil},
		"what cannot be loaded stays":      {lineA + lineD + "x\n", lineA + lineD + "x\n", nil},
		"a replica of a replica":           {lineA + strings.Replace(lineC, "master -", "slave "+ida, 1) + lineD, lineA + strings.Replace(strings.Replace(lineC, "master -", "slave "+ida, 1), shard2, shard1, 1) + strings.Replace(lineD, shard3, shard1, 1), []string{idc, idd}},
		"two that follow each other stay":  {lineA + strings.Replace(lineC, "master -", "slave "+idd, 1) + lineD, lineA + strings.Replace(lineC, "master -", "slave "+idd, 1) + lineD, nil},
		"itself a replica in another one":  {strings.Replace(lineA, "myself,master -", "myself,slave "+idc, 1) + lineC, strings.Replace(strings.Replace(lineA, "myself,master -", "myself,slave "+idc, 1), shard1, shard2, 1) + lineC, []string{ida}},
		"a file whose last line is no end": {lineA + lineC + strings.TrimSpace(lineD), lineA + lineC + strings.TrimSpace(strings.Replace(lineD, shard3, shard2, 1)), []string{idd}},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed := Repair(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.changed, changed); diff != "" {
				t.Errorf("changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFragile(t *testing.T) {
	for version, want := range map[string]bool{"8.0.1": true, "8.1.9": true, "9.0.0": false, "9.1.2": false, "10.0": false} {
		if Fragile(version) != want {
			t.Errorf("%s: %t", version, !want)
		}
	}
}
