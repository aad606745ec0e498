package enforce

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// The course of a generated load, in intervals of 15 s: it rises after 10 minutes, falls after 50, and ends after 110.
const (
	rise, fall, end = 40, 200, 440
	settled         = 80 // 20 minutes after the rise
)

// seeds is how often every generated load is tried: decision 0053 has the figures of level full.
func seeds() int {
	if os.Getenv("LEVEL") == "full" {
		return 40
	}
	return 2
}

func overloaded(u float64) bool { return u > 1 }
func served(u float64) bool     { return u <= 1 }
func carried(u float64) bool    { return u <= 0.75 }
func givenBack(u float64) bool  { return u >= 0.5 }

// stepped is a load that is so many times as high for 40 minutes.
func stepped(rps, times float64) []float64 {
	list := slices.Repeat([]float64{rps}, end)
	copy(list[rise:], slices.Repeat([]float64{rps * times}, fall-rise))
	return list
}

// noisy adds what two looks at the same load differ by.
func noisy(rps []float64, noise float64, seed int) []float64 {
	r := rand.New(rand.NewPCG(uint64(seed), 7)) //nolint:gosec // the same in every run
	samples := slices.Clone(rps)
	for i := range samples {
		samples[i] = max(0, samples[i]*(1+noise*r.NormFloat64()))
	}
	return samples
}

// replicasAt is what carries a load at 65 %, between the two limits.
func replicasAt(rps float64) int32 { return int32(math.Ceil(rps / (0.65 * each))) }

// open are the defaults, but for the most replicas.
func open() Settings {
	s := settings()
	s.Min, s.Max = 1, 1000
	return s
}

// tally is what many days came to.
type tally struct {
	up, down took
	changes  float64 // an hour, by noise alone
	most     int     // in five minutes, by noise alone
}

func (l *tally) add(d day) {
	l.up.note(d.until(rise, fall, carried))
	if carried(d.used(fall - 1)) { // it has something to give back
		l.down.note(d.until(fall, end, givenBack))
	}
	l.changes += float64(d.count(rise+settled, fall)) * 3 / float64(seeds())
	for i := rise + settled; i+20 <= fall; i++ {
		l.most = max(l.most, d.count(i, i+20))
	}
}

func (l *tally) String() string {
	return fmt.Sprintf("up %s, down %s, %.1f changes/h, %d in 5 min", &l.up, &l.down, l.changes, l.most)
}

// took is how long something took, and how often it never came about.
type took struct {
	times   []float64
	starved int
}

func (o *took) note(seconds float64) {
	if seconds < 0 {
		o.starved++
		seconds = math.Inf(1)
	}
	o.times = append(o.times, seconds)
}

func (o *took) String() string {
	slices.Sort(o.times)
	middle := " never"
	if n := len(o.times); n > 0 && !math.IsInf(o.times[n/2], 1) {
		middle = fmt.Sprintf("%4.0f s", o.times[n/2])
	}
	return fmt.Sprintf("%s, %2d of %2d starve", middle, o.starved, len(o.times))
}

// trial is one size of function under one noise, measured in one way.
type trial struct {
	window
	size, noise    float64
	band, document tally
}

// A load that rises at once to three times what it was, and falls again: how long it takes until it is carried, how long until replicas
// are given back, how often neither happens, and how many changes an hour noise alone makes.
func TestStepsOfLoad(t *testing.T) {
	for _, size := range []float64{20, 45, 200, 650} {
		for _, noise := range []float64{0, 0.02, 0.05, 0.1} {
			for _, w := range windows {
				tr := trial{window: w, size: size, noise: noise}
				for seed := range seeds() {
					rps := stepped(size, 3)
					samples := noisy(rps, noise, seed)
					tr.band.add(live(&band{Settings: open()}, w, rps, samples, replicasAt(size)))
					tr.document.add(live(&document{Settings: open()}, w, rps, samples, replicasAt(size)))
				}
				t.Logf("%3d to %3d, %2.0f %% noise, %-11s | band: %s | document: %s", replicasAt(size), replicasAt(3*size), 100*noise, w.name, &tr.band, &tr.document)
				tr.judge(t)
			}
		}
	}
}

// judge fails where the band does not do what it is for, and where the rule of the document would do as well after all: then
// the band has no place.
func (tr *trial) judge(t *testing.T) {
	t.Helper()
	if b := tr.band; b.up.starved+b.down.starved > 0 {
		t.Errorf("the band starves %d times on the way up and %d times on the way down", b.up.starved, b.down.starved)
	}
	if b := tr.band; tr.noise == 0 && b.changes > 0 || b.most > 1 {
		t.Errorf("a steady load makes %.1f changes an hour, and %d in five minutes", b.changes, b.most)
	}
	if d := tr.document.down; tr.size == 200 && tr.noise == 0.05 && tr.samples == 8 && 2*d.starved < seeds() {
		t.Errorf("the rule of the document starves %d times of %d on the way down", d.starved, seeds())
	}
}

// A load varies most while it rises fastest, so that must not hold growth back.
func TestVariationDoesNotDelayGrowth(t *testing.T) {
	w := windows[3]
	for _, times := range []float64{2, 3, 5, 10} {
		rps := stepped(20, times)
		samples := noisy(rps, 0.05, 1)
		d := live(&band{Settings: open()}, w, rps, samples, replicasAt(20))
		held := live(&band{Settings: open(), wary: true}, w, rps, samples, replicasAt(20))
		t.Logf("%2.0f times the load: overloaded for %3.0f s; with the variation held against growth %3.0f s", times, d.until(rise, fall, served), held.until(rise, fall, served))
		if got := d.until(rise, fall, served); got < 0 || got > 120 {
			t.Errorf("%.0f times the load overloads for %.0f s", times, got)
		}
	}
}

// record reads a recorded load: requests in 15 s each.
func record(t *testing.T) (rps []float64) {
	t.Helper()
	file, err := os.Open("testdata/launch.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range slices.Concat(rows...) {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		rps = append(rps, float64(n)/every.Seconds())
	}
	return rps
}

// smooth is the mean of what is around, a minute before and after.
func smooth(rps []float64) []float64 {
	out := slices.Clone(rps)
	for i := range rps {
		out[i] = mean(rps[max(0, i-4):min(len(rps), i+5)])
	}
	return out
}

// waves are a load that rises and falls all the time, to three times its least, every half hour.
func waves(size float64, n int) []float64 {
	rps := make([]float64, n)
	for i := range rps {
		rps[i] = size * (2 - math.Cos(2*math.Pi*float64(i)/120))
	}
	return rps
}

// Loads that never rest: a wave, and a day that was recorded, for functions of several sizes.
func TestRestlessLoads(t *testing.T) {
	type restless struct {
		name         string
		rps, samples []float64
	}
	var all []restless
	for _, size := range []float64{20, 65, 200} {
		rps := waves(size, 1920)
		all = append(all, restless{fmt.Sprintf("wave, %d to %d", replicasAt(size), replicasAt(3*size)), rps, noisy(rps, 0.05, 1)})
	}
	for _, by := range []float64{20, 60, 200} {
		samples := record(t)
		for i := range samples {
			samples[i] *= by
		}
		all = append(all, restless{fmt.Sprintf("recorded, about %d", replicasAt(mean(samples))), smooth(samples), samples})
	}
	for _, l := range all {
		for _, w := range windows {
			b := live(&band{Settings: open()}, w, l.rps, l.samples, replicasAt(l.rps[0]))
			d := live(&document{Settings: open()}, w, l.rps, l.samples, replicasAt(l.rps[0]))
			t.Logf("%-18s %-11s | band: %s | document: %s", l.name, w.name, b, d)
			if over := b.share(overloaded); over > 0.005 {
				t.Errorf("%s, %s: overloaded for %.1f %% of the time", l.name, w.name, 100*over)
			}
		}
	}
}

func (d day) String() string {
	return fmt.Sprintf("%4.1f changes/h, overloaded %4.1f %%, surplus %3.0f %%",
		float64(d.count(0, len(d.rps)))/float64(len(d.rps))*240, 100*d.share(overloaded), 100*d.surplus())
}
