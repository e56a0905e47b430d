"""The kit of an author: what assignment files import."""
