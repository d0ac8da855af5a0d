"""HTML: decoding, the content region, and its Markdown."""
