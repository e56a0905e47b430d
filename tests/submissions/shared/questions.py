def asked():
    """Of the judge's question: the first was to load the file, and for each plan the function is called twice."""
    return 2 + (calls - 1) // 2


