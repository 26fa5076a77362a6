"""What `is_old_enough` says, by the table that all clients share."""

import json
import os
import pathlib
import unittest

from ostiary import is_old_enough

CLONE = pathlib.Path(__file__).resolve().parents[3]
VECTORS = pathlib.Path(os.environ.get("OSTIARY_AGE_VECTORS", CLONE / "docs" / "age-test-vectors.json"))


class IsOldEnough(unittest.TestCase):
    def test_p1_all_clients_agree(self):
        vectors = json.loads(VECTORS.read_text(encoding="utf-8"))["vectors"]
        self.assertEqual(len(vectors), 48)
        for one in vectors:
            with self.subTest(one):
                risk = {"recommendation": one["recommendation"]}
                result = {"status": one["status"], "flowStatus": one["flowStatus"], "riskEvaluation": risk}
                self.assertIs(is_old_enough(result), one["isOldEnough"])

    def test_p1_what_is_missing_is_a_no(self):
        for result in ({}, {"flowStatus": "COMPLETED", "status": "AGE_AT_THRESHOLD"}, {"riskEvaluation": None}):
            self.assertIs(is_old_enough(result), False)


if __name__ == "__main__":
    unittest.main()
