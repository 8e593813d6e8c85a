package tides

import (
	"math"
	"os"
	"strings"
	"testing"
)

func TestEveryHarbourOfTheListIsKnown(t *testing.T) {
	text, err := os.ReadFile("harbours.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name := strings.Fields(line)[0]
		if _, err := Named(name); err != nil {
			t.Errorf("%v: harbours_gen.go is out of date, run go generate", err)
		}
	}
}

func TestHighWaterComesBack(t *testing.T) {
	hull, err := Named("Hull")
	if err != nil {
		t.Fatal(err)
	}
	for _, hours := range []float64{0, hull.Period} {
		if height := hull.Height(hours); math.Abs(height-hull.Range) > 1e-9 {
			t.Errorf("after %v hours: %v metres, want %v", hours, height, hull.Range)
		}
	}
	if low := hull.Height(hull.Period / 2); math.Abs(low) > 1e-9 {
		t.Errorf("low water at %v metres, want 0", low)
	}
}

func TestNobodyKnowsAtlantis(t *testing.T) {
	if _, err := Named("Atlantis"); err == nil {
		t.Error("want an error")
	}
}
