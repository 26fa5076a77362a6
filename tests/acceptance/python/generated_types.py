"""Reads examples by types that quicktype made from the OpenAPI document: ostiary_types.py and examples.json in the folder that is named."""

import json
import sys
import types
from datetime import datetime
from pathlib import Path

folder = Path(sys.argv[1])

# The generated code reads times by python-dateutil, which Debian does not install. Since 3.11 Python can do that itself.
parser = types.ModuleType("dateutil.parser")
parser.parse = datetime.fromisoformat
sys.modules["dateutil"] = types.ModuleType("dateutil")
sys.modules["dateutil"].parser = parser
sys.modules["dateutil.parser"] = parser

sys.path.insert(0, str(folder))
import ostiary_types  # noqa: E402

read = 0
for name, examples in json.loads((folder / "examples.json").read_text()).items():
    of_type = getattr(ostiary_types, name)
    for example in examples:
        once = of_type.from_dict(example)
        again = of_type.from_dict(json.loads(json.dumps(once.to_dict())))
        assert once == again, name
        read += 1

result = ostiary_types.AgeResult.from_dict(json.loads((folder / "examples.json").read_text())["AgeResult"][0])
print(read, result.session_status.value, result.risk_evaluation.recommendation.value, result.created_at.year)
