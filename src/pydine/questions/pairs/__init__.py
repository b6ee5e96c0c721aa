"""All pairs of a table, as they are asked for and found: the parts of `pairwise_information`."""
