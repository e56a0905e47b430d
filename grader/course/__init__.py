"""A course as its authors write it: course.toml, assignments, cases, calibration, and the files that students send."""
