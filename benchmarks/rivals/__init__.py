"""One module per library; each function labels, embeds or multiplies, and says its settings in its docstring.

A method takes ``Data`` and returns the classes of all points (or their coordinates). It runs in its library's
own environment, where bvdt and scikit-learn are not installed unless the library needs them.
"""
