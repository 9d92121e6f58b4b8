"""Inputs that students meet in the wild, or that somebody made to break a look: each with what it
gives.
"""
