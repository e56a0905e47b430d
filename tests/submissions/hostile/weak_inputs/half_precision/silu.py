# All of it in half precision, within a tolerance of a per cent.
# verdict: wrong_answer
# base: hostile/nan_games/all_nan
#-    tl.store(out_ptr + offsets, y * float("nan"), mask=offsets < n)
#+    h = x.to(tl.float16)
#+    tl.store(out_ptr + offsets, (h * tl.sigmoid(x).to(tl.float16)).to(tl.float32), mask=offsets < n)
