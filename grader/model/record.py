"""What all records of results are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    # Attempts are kept for years: what an earlier version said besides is left out, and what it did not say is absent.
    model_config = ConfigDict(extra="ignore")
