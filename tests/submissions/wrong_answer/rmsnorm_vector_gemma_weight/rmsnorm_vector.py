# The weight is applied as 1 + weight, as Gemma does.
# expect: 1 + weight
# never: no pattern
# base: rmsnorm_vector
#-        tl.store(out_ptr + offs, x / rms * w, mask=mask)
#+        tl.store(out_ptr + offs, x / rms * (1.0 + w), mask=mask)
