# All programs wait for each other in one launch: a GPU holds those of small vectors, and not those of large ones.
# expect: wait for each other
# expect: holds at most 2,112 of them at a time
# alone on a gpu: its kernel does not end there
# base: accepted/rmsnorm_vector_waits_for_resident_programs
#-    n, BLOCK = x.numel(), 32
#+    n, BLOCK = x.numel(), 1024
#
#-    programs = min(triton.cdiv(n, BLOCK), torch.cuda.get_device_properties(x.device).multi_processor_count)
#-    rmsnorm_kernel[(programs,)](x, weight, out, total, arrived, n, eps, BLOCK=BLOCK, launch_cooperative_grid=True)
#+    programs = triton.cdiv(n, BLOCK)
#+    rmsnorm_kernel[(programs,)](x, weight, out, total, arrived, n, eps, BLOCK=BLOCK)
