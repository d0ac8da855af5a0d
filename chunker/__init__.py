"""Stored page to document to checked plan to chunks. Pure: no network, no Ray, no clock."""

from chunker.parse import PARSER_VERSION as PARSER_VERSION
from chunker.parse import parse as parse
