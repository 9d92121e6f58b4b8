"""Hold the stages as they are shown: what is given, and below `# yours` what a student writes.

A stage runs on top of those before it, in one namespace, so none of these files can be imported.
"""
