"""Experiments: protocols as data, one record for each run, sweeps that survive.

A protocol file names a data set, a network, its training and the methods to compare. It expands
into configurations, plain dictionaries that determine all numbers; `run` turns one of them into a
record, and a sweep runs many and keeps the records.
"""
