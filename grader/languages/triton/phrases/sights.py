"""Words for what kernels and host code were seen to do, for wrong answers, and for where to look in the file."""

from __future__ import annotations

from grader.languages.phrases import AnswerPhrases, Calls, Names, Sights

NAMES = Names(
    program_id="tl.program_id", program_ids=("tl.program_id(0)", "tl.program_id(1)", "tl.program_id(2)"),
    blocks="triton.cdiv({count}, {block})", load="tl.load", store="tl.store", atomic="atomic operation",
    launch_opens="](",
)

SIGHTS = Sights(
    masked_remark="The load of {tensor}{line} has a mask and no `other`, and the answer depends on the lanes that the "
                  "mask switches off. NVIDIA GPUs leave 0 there, but Triton does not promise it: give tl.load "
                  "other=0.0.",
    assertion="The tl.device_assert{line} does not hold in program {program}",
    granule="From Hopper on, a GPU writes 16 bytes at a time where a descriptor stores, even where the tensor ends "
            "within them. Use a descriptor for tensors whose last dimension takes a multiple of 16 bytes, and tl.store "
            "with a mask for the others.",
    far_outside="What are tl.program_id and the strides multiplied by, and what is added?",
    unmasked="This {call} has no mask, and the last block reaches past the end: add a mask {sizes}{other}.",
    unmasked_load=", and an `other` that changes nothing, such as 0.0 in a sum",
    flat_sizes="such as offsets < n with the names of this line",
    unwritten="Memory from torch.empty holds anything, in floats NaN: use torch.zeros, or let something write every "
              "element before it is read.",
    no_program="A size divided with // rounds down, to 0 where it is smaller than the block: use triton.cdiv(n, "
               "BLOCK).",
    overflow="Numbers in a kernel are int32 unless they pass 2**31 - 1: convert a factor of the product first, as in "
             "row.to(tl.int64) * stride.",
    overflow_of_bytes="Sums and products of such narrow integers are as narrow, and wrap around: convert with "
                      ".to(tl.int32) or .to(tl.float32) right after tl.load.",
    race="Each element belongs to one program: offsets begin at tl.program_id times what a program covers, and a mask "
         "ends where the next one begins. A sum over programs takes tl.atomic_add, or a second launch.",
    unordered="Programs of a launch run in any order, and none waits for another: only a later launch can rely on what "
              "a program stores. A sum over programs needs tl.atomic_add, or a second launch.",
    recast="Leave the pointer as it is: convert what tl.load gives, with .to(tl.float32) after it. tl.store converts "
           "by itself.",
    tuned=r"(?s)\A(?!.*?\blambda (\w{1,40}+):.{0,300}?\b\1\[)(?!.*\bdef \w+\((?:META|meta)\b).*@triton\.autotune",
    tuned_look="The grid has to follow the configuration that is taken: as a function, lambda META: "
               "(triton.cdiv({count}, META[\"BLOCK\"]),), with the name of your block's size.",
    bounds_checked="boundary_check",
    padded_remark="The load of {tensor}{line} has a boundary_check and no padding_option, and the answer depends on "
                  "the lanes past the end. NVIDIA GPUs leave 0 there, but Triton does not promise it: add "
                  "padding_option=\"zero\".",
    block_pointer="make_block_ptr",
    block_pointer_look="A block pointer takes no mask: name the dimensions that may reach past the end, as in "
                       "boundary_check=(0, 1), and give loads padding_option=\"zero\" where sums are taken.",
)

ANSWERS = AnswerPhrases(
    nothing_stored="Does the tl.store go to the pointer of the output, with a mask that is true somewhere?",
    keep_inputs="Inputs must not be changed: store to {out} alone, and what else is needed to a tensor from "
                "torch.empty.",
)

CALLS = Calls(
    returned="Write into {out}: pass it to the kernel that stores the answer{copy_into}. What the function returns is "
             "ignored.",
    copy_into=", or copy into it, {out}.copy_(...)",
    no_copy="`{out} = ...` gives the name to another tensor, and {out}.cpu() and {out}.clone() are tensors of their "
            "own: write into {out} itself, with {out}.copy_(...).",
    not_passed="Pass {out} itself to the kernel that stores the answer: what torch.empty gives is another tensor.",
    no_launch="Launch it in the function, as kernel[(programs,)](arguments), for all sizes.",
    beyond_buffer="Do the shape and strides of as_strided, or of a tensor descriptor, fit the tensor?",
    host_given="Copy what is needed to the GPU first, with .to(\"cuda\").",
    host_own="Allocate it on the GPU: torch.empty(..., device=\"cuda\").",
    nothing_to_copy="Launch the kernel that writes it first. A CUDA graph launches nothing until it is replayed.",
    kernel_too_long="An unrolled loop repeats its text: use an ordinary `range` where tl.static_range makes very many "
                    "steps.",
    too_many_kernels="Each value of a tl.constexpr parameter, and each set of options, is compiled as a kernel of its "
                     "own: pass what changes from launch to launch as an ordinary parameter.",
    no_memory="A block of BLOCK_M x BLOCK_N elements takes memory, and so does each tensor from torch.empty: take "
              "smaller ones.",
    assembly="Write it with triton.language and triton.language.extra.libdevice alone.",
    assembly_unsimulated="A kernel in triton.language alone can be checked here, too.",
    skipped_print="Skipped in {lines}{texts}: host code has no values to print or check. In a kernel use "
                  "tl.device_print or tl.device_assert. This costs no points.",
)
