# The second kernel is launched while the first still runs, and does not wait for its sums. From Hopper on only.
# expect: launch_pdl=True and does not wait
# expect: gdc_wait()
# base: accepted/rmsnorm_vector_dependent_launch_of_one_that_ends
#-from triton.language.extra.cuda import gdc_wait  # noqa: F401
#+from triton.language.extra.cuda import gdc_launch_dependents
#-def sums(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
#+def sums(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
#+    gdc_launch_dependents()
