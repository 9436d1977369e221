"""Missing views and missing labels: no one paper's table, but what papers on incomplete views compete on today.

``paper`` lists the tables, ``views`` has the clusterers, ``labels`` the completers, ``outside`` the methods of iMML,
which run in an interpreter of their own.
"""
