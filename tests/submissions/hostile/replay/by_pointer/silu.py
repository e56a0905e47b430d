# Keeps the answer of each stretch of addresses, and gives it again where one of them is seen again.
# verdict: wrong_answer
# base: hostile/replay/by_identity
#-    key = id(x) >> 24
#-    known = answers.get(key)
#+    known = answers.get(x.data_ptr() >> 40)
#-        known = answers[key] = torch.empty(x.numel(), device=x.device)
#+        known = answers[x.data_ptr() >> 40] = torch.empty(x.numel(), device=x.device)
