# A kernel copies and turns nothing: the plan moves what it left by diagonals, from one tensor to one of the same strides.
# verdict: runtime_error
# expect: its plan does not hold
# expect: a copy to a piece of a tensor
# base: hostile/forged_plans/copy_of_a_view
#-    names = [one["given"] for one in plan["buffers"]]
#-    source = {"buffer": names.index("x"), "shape": [columns, rows], "strides": [1, columns], "dtype": "float32"}
#-    target = {"buffer": names.index("out"), "shape": [columns, rows], "strides": [rows, 1], "dtype": "float32"}
#-    plan["first"] = [{"op": "copy", "source": source, "target": target}]
#+    temporary = len(plan["buffers"])
#+    out = [one["given"] for one in plan["buffers"]].index("out")
#+    plan["buffers"].append({"bytes": 4 * rows * columns})
#+    plan["first"][0]["arguments"][1]["buffer"] = temporary
#+    # Of a square matrix a diagonal has the same strides before and after; of another, each element is a piece.
#+    for first in range(rows * columns if rows != columns else rows + columns - 1):
#+        if rows == columns:
#+            i, j = max(0, first - columns + 1), max(0, columns - 1 - first)
#+            length, stride = columns - abs(columns - 1 - first), columns + 1
#+        else:
#+            (i, j), length, stride = divmod(first, columns), 1, 1
#+        view = {"shape": [length], "strides": [stride], "dtype": "float32"}
#+        plan["first"].append({
#+            "op": "copy", "source": {**view, "buffer": temporary, "offset": 4 * (i * columns + j)},
#+            "target": {**view, "buffer": out, "offset": 4 * (j * rows + i)}})
#+        if len(plan["first"]) > 10_000:
#+            return
