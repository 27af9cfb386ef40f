"""Shared by every family of algorithms: names, parameters, model files, wording of numbers.

``algorithm`` is the base of all that has a name and theorems, ``registry`` finds it, ``model_file``
keeps it; ``compiled`` has losses and the weights of experts.
"""
