"""Loops over the rows of nodes that are compiled, each with a twin in NumPy or plain Python that comes to the same.

What is asked of NumPy for a hundred rows takes as long as for one: some fifty calls a decision, whose code is in no
cache any more when the next pod comes.
"""
