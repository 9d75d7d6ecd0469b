"""All that ties mean: what becomes of documents that share a score.

`policy` names what may become of them; `by_score` orders scores and finds the documents that share
one; `by_id` orders these by their ids; `groups` applies a policy to those that are judged.
Where the order is left open, `expected` has the statistics to be expected over all orders, and
`orders` the orders themselves, for measures that have to be averaged over them.
"""
