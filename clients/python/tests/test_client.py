"""What is refused before the first call, and the small rules. Retries are tested against a server, by the tests of the clone."""

import hashlib
import unittest
from datetime import datetime, timezone
from urllib.parse import urlencode

from ostiary import Client, OstiaryError, check_return, code_matches, new_state
from ostiary._http import ConfigWarning, delay_before, warnings_in
from ostiary.sessions import moment_text

# Of the right form, made of the numbers 0 to 31: it opens nothing.
API_KEY = "ost_test_07000g40r40m30e209185gr38e1w8124gk2gahc5rr34d1p70x3rfgv7bw1z"


class Arguments(unittest.TestCase):
    def test_an_address_that_cannot_work_is_refused(self):
        refused = [
            "",
            "localhost:8080",
            "ostiary.example.com",
            "//ostiary.example.com",
            "ftp://ostiary.example.com",
            "https://",
            "https://ostiary.example.com:99999",
            "https://ostiary.example.com:0",
            "https://ostiary.example.com\n",
            "https://key@ostiary.example.com",
            "https://ostiary.example.com?key=1",
            "https://ostiary.example.com#top",
            None,
        ]
        for base_url in refused:
            with self.subTest(base_url), self.assertRaises(OstiaryError) as caught:
                Client(base_url)
            self.assertEqual((caught.exception.status, caught.exception.code), (0, "INVALID_OPTION"))
        for base_url in ("https://ostiary.example.com/", "http://127.0.0.1:8080", "https://host.example/ostiary"):
            Client(base_url)

    def test_a_cut_off_or_mistyped_key_is_refused(self):
        key = API_KEY
        Client("https://ostiary.example.com", key)
        for wrong in ("", key[:-1], key + "0", " " + key, key.replace("ost_test_", "ost_live_"), key[:-1] + "~"):
            with self.subTest(wrong), self.assertRaises(OstiaryError):
                Client("https://ostiary.example.com", wrong)

    def test_half_of_the_client_credentials_is_refused(self):
        with self.assertRaisesRegex(OstiaryError, "client_secret"):
            Client("https://ostiary.example.com", API_KEY, client_id="ostc_test_1")

    def test_area_e_without_a_key_is_refused(self):
        with self.assertRaises(OstiaryError):
            Client("https://ostiary.example.com").node.enroll([[0.5] * 128])


class Rules(unittest.TestCase):
    def test_warnings_are_read_with_their_subject(self):
        found = warnings_in("estimate-without-buffer, ignored-field: livenessEnabled")
        self.assertEqual(found, (ConfigWarning("estimate-without-buffer"), ConfigWarning("ignored-field", "livenessEnabled")))
        self.assertEqual([str(one) for one in found], ["estimate-without-buffer", "ignored-field: livenessEnabled"])
        self.assertEqual(warnings_in(""), ())

    def test_waits_grow_vary_and_follow_the_service(self):
        first, third = ([delay_before(attempt, None) for _ in range(200)] for attempt in (0, 2))
        self.assertLessEqual(max(first), 0.25)
        self.assertTrue(0.5 < max(third) <= 1)
        self.assertGreater(len(set(first)), 100)
        self.assertTrue(all(3 <= delay_before(0, 3) <= 3.3 for _ in range(50)))

    def test_moments_are_written_in_utc(self):
        self.assertEqual(moment_text(datetime(2026, 1, 31, 12, tzinfo=timezone.utc)), "2026-01-31T12:00:00.000Z")
        self.assertEqual(moment_text("2026-01-31T12:00:00Z"), "2026-01-31T12:00:00Z")


class Returns(unittest.TestCase):
    def setUp(self):
        self.state, self.code = new_state(), "code-1"
        self.facts = {"state": self.state, "session_id": "s-1", "code_hash": hashlib.sha256(b"code-1").hexdigest()}

    def url(self, **changes):
        return "/back?" + urlencode({"state": self.state, "sessionId": "s-1", "status": "SUCCESS", "code": self.code, **changes})

    def test_the_browser_that_finished_is_bound(self):
        self.assertTrue(check_return(self.url(), **self.facts).is_bound)
        self.assertTrue(check_return("https://shop.example" + self.url(), **self.facts).is_bound)

    def test_any_other_is_not_and_the_reason_says_why(self):
        cases = [
            (self.url(state="x"), {}, "other_browser"),
            (self.url(sessionId="s-2"), {}, "other_browser"),
            (self.url(), {"state": None}, "other_browser"),
            (self.url(), {"session_id": None}, "other_browser"),
            (self.url(), {"code_hash": None}, "no_code_hash"),
            (self.url(code="code-2"), {}, "wrong_code"),
            (self.url(code=""), {}, "wrong_code"),
        ]
        for url, changes, reason in cases:
            checked = check_return(url, **{**self.facts, **changes})
            self.assertEqual((checked.is_bound, checked.reason), (False, reason))

    def test_codes_of_popups(self):
        self.assertTrue(code_matches("code-1", self.facts["code_hash"].upper()))
        self.assertFalse(code_matches(None, self.facts["code_hash"]))
        self.assertFalse(code_matches("code-1", None))

    def test_states_differ(self):
        self.assertEqual(len({new_state() for _ in range(100)}), 100)


if __name__ == "__main__":
    unittest.main()
