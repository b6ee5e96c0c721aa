"""A report on a table as one HTML file that needs nothing else: `making` computes, `page` writes it down."""

from pydine.report.content import Provenance, Report
from pydine.report.making import make_report
from pydine.report.page import to_html

__all__ = ["Provenance", "Report", "make_report", "to_html"]
