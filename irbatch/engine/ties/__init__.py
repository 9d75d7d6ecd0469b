"""All that ties mean: the policies, the order of equal scores, and values expected over orders.

`policy` names what may become of documents that share a score.
"""
