"""What an age result means for a shop."""

from __future__ import annotations

from typing import Any, Mapping


def is_old_enough(result: Mapping[str, Any]) -> bool:
    """Whether somebody may buy: the check was completed, the age is at or above the threshold, and the recommendation is `ALLOW`.

    Takes a result, or the body of a webhook. Everything else is a no: `REVIEW` is for a person of yours to look at.
    """
    return (
        result.get("flowStatus") == "COMPLETED"
        and result.get("status") in ("AGE_AT_THRESHOLD", "AGE_ABOVE_THRESHOLD")
        and (result.get("riskEvaluation") or {}).get("recommendation") == "ALLOW"
    )
