# All programs wait until each has its part of the sum, in a loop that a compiler takes out.
# expect: waits for other programs by a plain load
# expect: volatile=True
# base: accepted/rmsnorm_vector_waits_by_a_volatile_load
#-    while tl.load(arrived_ptr, volatile=True) < P:
#-        pass
#-    mean = tl.sum(tl.load(parts_ptr + tl.arange(0, P), volatile=True)) / n
#+    while tl.load(arrived_ptr) < P:
#+        pass
#+    mean = tl.sum(tl.load(parts_ptr + tl.arange(0, P))) / n
