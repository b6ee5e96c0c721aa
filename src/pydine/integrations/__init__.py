"""The independence test in the libraries that search for causal graphs, one thin module each.

`pydine.questions.search` is what they share; `causal_learn`, `tigramite`, `pgmpy` and `dowhy` each hold a `DineTest` of
the form that their library asks for, and `function` one for any other: names of columns to a p-value.
"""
