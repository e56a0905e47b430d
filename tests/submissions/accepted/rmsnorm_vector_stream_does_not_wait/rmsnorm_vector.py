# The sum is taken in a stream of its own, and the current stream does not wait for it.
# expect: use your buffer `total_ptr` in two streams, one of them writes to it, and neither stream waits
# expect: the operations in line 33 and in line 35 use
# base: accepted/rmsnorm_vector_stream_waits
#-    torch.cuda.current_stream().wait_event(summed)
