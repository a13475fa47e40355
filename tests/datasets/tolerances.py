"""The tolerances of the dataset tests, with what each of them allows for."""

# One formula evaluated in two ways in float64, values of order one.
FLOAT64 = 1e-12
# A chain of decompositions in float64 (logarithms of 8x8 matrices of condition 1e2).
DECOMPOSITIONS = 1e-9
# Positions stored in float32, in units of the largest coordinate.
STORED_FLOAT32 = 1e-5
# Rotations stored in float32.
ROTATION_FLOAT32 = 1e-6
