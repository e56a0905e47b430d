# The function exists only inside another one.
def main():
    def copy_first_column(matrix, out):
        out.copy_(matrix[:, 0])

    return copy_first_column
