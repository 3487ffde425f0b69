"""The vocabulary: the nouns of the field, such as columns, domains, workloads, marginals and queries."""
