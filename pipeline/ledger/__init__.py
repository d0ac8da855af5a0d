"""The ledger: per source and URL, what was fetched, what is wanted and what is indexed.

SQL through SQLAlchemy Core, in what SQLite and PostgreSQL both take. Every method is one
transaction and durable when it returns.
"""

from pipeline.ledger.ledger import Ledger, open_ledger
from pipeline.ledger.model import Counts, Job, PageRow, Pins, Source

__all__ = ["Counts", "Job", "Ledger", "PageRow", "Pins", "Source", "open_ledger"]
