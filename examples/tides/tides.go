// Package tides tells how high the water stands in a harbour.
package tides

import (
	"fmt"
	"math"
)

//go:generate go run ./gen

// Harbour is a place by the sea.
type Harbour struct {
	Name   string
	Range  float64 // metres between low and high water
	Period float64 // hours between one high water and the next
}

// Named finds a harbour.
func Named(name string) (Harbour, error) {
	for _, harbour := range harbours {
		if harbour.Name == name {
			return harbour, nil
		}
	}
	return Harbour{}, fmt.Errorf("no harbour is called %q", name)
}

// Height is how many metres above low water the sea stands, hours after high water.
func (h Harbour) Height(hours float64) float64 {
	return h.Range / 2 * (1 + math.Cos(2*math.Pi*hours/h.Period))
}
