"""A few seconds of everything, for airspeed velocity: ``make bench-quick`` compares two commits."""
