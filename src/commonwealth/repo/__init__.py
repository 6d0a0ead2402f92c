"""Git moves the files: commits, merges and history of a brain, and the code repository of a session."""
