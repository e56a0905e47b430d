"""All sentences of a language, with its terms: `.venv/bin/python -m tests.sentences numba`."""

import sys

from grader import languages
from grader.judging.explain.wording import mistaken, say
from grader.languages.phrases import Phrases


def printed(words: Phrases) -> str:
    """The sentences by name, and the hints of clues."""
    return "\n".join([*(f"{name}: {say(words, mistaken(text))}" for name, text in words.sentences.items() if text),
                      *(clue.hint for clue in (*words.clues, *words.absent) if clue.hint)])


if __name__ == "__main__":
    print(printed(languages.front_ends()[sys.argv[1]].phrases))
