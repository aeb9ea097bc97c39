"""Tells people and machines what a scan found: messages, metrics, a log, a healthcheck. Decides nothing."""
