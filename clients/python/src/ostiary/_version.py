"""The version of the API that this client was made for, and its own."""

VERSION = "0.1.0"
