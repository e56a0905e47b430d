# Stores past the end, at a place whose file is markup and whose line is no line of any file; the name of the
# pointer holds escapes of the terminal.
# verdict: runtime_error
# shared: forging
# shared: plan
def forge(plan):
    for kernel in plan["kernels"]:
        lines = kernel["text"].splitlines()
        for number, line in enumerate(lines):
            if line.startswith("#loc"):
                lines[number] = line.split("=")[0] + '= loc("<script>alert(1)</script>\\1B[2J":4294967295:1)'
        kernel["text"] = "\n".join(lines) + "\n"
    for launch in launches(plan):
        launch["grid"][0] += 1
        for argument in launch["arguments"]:
            if argument["kind"] == "integer":
                argument["value"] += 1
# shared: forged
