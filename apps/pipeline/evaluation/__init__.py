"""Evaluation: how good what is stored is, estimated from samples that people have labelled."""
