"""Talking to an API server: connection, requests, discovery, and reflectors that keep up with its objects."""
