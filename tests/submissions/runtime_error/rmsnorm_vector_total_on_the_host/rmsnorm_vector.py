# torch.empty without device= allocates on the host.
# expect: which is allocated in host memory in line
# expect: device="cuda"
# never: copy what is needed
# base: rmsnorm_vector_in_two
#-    total = torch.zeros(1, device=x.device)
#+    total = torch.zeros(1)
