// Nothing but a comment.

