# The running sum is rescaled by the maximum of the block, in place of that of all blocks before.
# proved: makes every case right: a different variable
# base: wrong_answer/softmax_sum_not_rescaled
#-        m_new = tl.maximum(m, tl.max(v, axis=0))
#-        l = l + tl.sum(tl.exp(v - m_new), axis=0)
#+        block = tl.max(v, axis=0)
#+        m_new = tl.maximum(m, block)
#+        l = l * tl.exp(block - m_new) + tl.sum(tl.exp(v - m_new), axis=0)
