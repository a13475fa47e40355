"""Reports: from the records of runs to Markdown and to one HTML page that needs nothing else.

A report is a tree of blocks, built once and written in both forms; nothing is trained, and no data
are read.
"""
