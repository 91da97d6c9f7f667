"""Requests that Schemathesis makes up from the document, and what they find to work on."""
