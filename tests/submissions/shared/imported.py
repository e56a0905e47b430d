(Path(__file__).parent / "kernelmark-hostile-imported").touch()


def __getattr__(name):
    return lambda *args, **kwargs: True
