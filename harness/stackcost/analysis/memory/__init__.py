"""What a flow that is held open takes of memory."""
