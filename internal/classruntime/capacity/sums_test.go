package capacity

import (
	"errors"
	"math"
	"testing"
)

func TestCarrying(t *testing.T) {
	for name, tc := range map[string]struct {
		rps, each float64
		want      int32
	}{
		"no demand":                        {0, 10, 0},
		"less than one replica":            {0.1, 10, 1},
		"exactly three":                    {30, 10, 3},
		"a little more than three":         {30.1, 10, 4},
		"a fraction that floats not quite": {0.3, 0.1, 3},
		"more than there can be":           {1e12, 1, Most},
		"no number":                        {math.NaN(), 1, Most},
	} {
		if got := Carrying(tc.rps, tc.each); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestUtilisation(t *testing.T) {
	for name, tc := range map[string]struct {
		rps, each float64
		replicas  int32
		want      float64
		known     bool
	}{
		"half":                   {15, 10, 3, 0.5, true},
		"over":                   {60, 10, 3, 2, true},
		"no requests":            {0, 10, 3, 0, true},
		"no replicas":            {15, 10, 0, 0, false},
		"capacity is unknown":    {15, 0, 3, 0, false},
		"the rate is a nonsense": {math.Inf(1), 10, 3, 0, false},
	} {
		if got, known := Utilisation(tc.rps, tc.each, tc.replicas); math.Abs(got-tc.want) > dust || known != tc.known {
			t.Errorf("%s: %f, %t", name, got, known)
		}
	}
}

// The wanted figures are from tables of the binomial distribution: 0.995 squared is 0.990025, and so on.
func TestAvailable(t *testing.T) {
	for name, tc := range map[string]struct {
		enough         int32
		required, each float64
		want           int32
	}{
		"one is there for 99.5 % of the time": {1, 0.995, 0.995, 1},
		"a little more takes two":             {1, 0.9951, 0.995, 2},
		"two give 99.9975 %":                  {1, 0.999975, 0.995, 2},
		"five nines take three":               {1, 0.99999, 0.995, 3},
		"both of two are there for 99.0025 %": {2, 0.990025, 0.995, 2},
		"three for two give 99.9925 %":        {2, 0.999925, 0.995, 3},
		"and no more than that":               {2, 0.999926, 0.995, 4},
		"ten of eleven give 99.86 %":          {10, 0.9986, 0.995, 11},
		"three nines of ten take twelve":      {10, 0.999, 0.995, 12},
		"pods that are there half the time":   {1, 0.999, 0.5, 10},
		"900 of 912":                          {900, 0.999, 0.995, 912},
		"more than there can be":              {Most, 0.999, 0.995, Most},
	} {
		if got := Available(tc.enough, tc.required, tc.each); got != tc.want {
			t.Errorf("%s: %d, want %d (%.6f)", name, got, tc.want, thereAtLeast(got, tc.enough, tc.each))
		}
	}
}

// The sum agrees with one that is taken from the other end.
func TestThereAtLeast(t *testing.T) {
	for n := int32(1); n <= 60; n++ {
		for enough := int32(1); enough <= n; enough++ {
			fewer := 0.0
			for k := range enough {
				fewer += math.Exp(choose(n, k) + float64(k)*math.Log(0.9) + float64(n-k)*math.Log(0.1))
			}
			if got := thereAtLeast(n, enough, 0.9); math.Abs(got-(1-fewer)) > 1e-9 {
				t.Fatalf("%d of %d: %g, want %g", enough, n, got, 1-fewer)
			}
		}
	}
}

func choose(n, k int32) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

func TestSpare(t *testing.T) {
	for name, tc := range map[string]struct {
		wanted, carrying, want int32
		has                    bool
	}{
		"one replica has no budget":       {1, 1, 1, false},
		"two that are needed lose one":    {2, 2, 1, true},
		"ten of which seven carry lose 3": {10, 7, 3, true},
		"more are needed than wanted":     {3, 9, 1, true},
	} {
		if got, has := Spare(tc.wanted, tc.carrying); has != tc.has || has && got != tc.want {
			t.Errorf("%s: %d, %t", name, got, has)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for text, want := range map[string]float64{"99.9": 0.999, "50": 0.5, "0.1": 0.001, "99.": 0.99} {
		if got, err := ParsePercent(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %f, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "100", "100.1", "-1", "99,9", "1e1", "0x10", "NaN", "Inf", "99.9%", " 99", "1.2.3"} {
		if got, err := ParsePercent(text); !errors.Is(err, ErrPercent) {
			t.Errorf("%q: %f, %v", text, got, err)
		}
	}
}
