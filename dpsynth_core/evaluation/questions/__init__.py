"""Questions that a reader asks a release, answered from released values alone, each with the interval that the evidence gives.

`question` says what can be asked, `known` what a release knows, `evidence` which intervals follow from it, with proofs, and `answer` puts
them together. The page `explore.html` computes the same in a browser; a test compares the two.
"""
