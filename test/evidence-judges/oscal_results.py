"""Reads OSCAL assessment results by compliance-trestle, and checks them against NIST's metaschema by oscal.

python oscal_results.py FILE...   prints what each holds as a line of JSON; exit 1 where one is refused.
"""

import json
import os
import pathlib
import sys
import tempfile

from trestle.oscal.assessment_results import AssessmentResults


def read_by_trestle(path):
    results = AssessmentResults.oscal_read(path)
    if results is None:
        raise SystemExit(f"{path}: there is no such file")
    return results


def check_by_metaschema(path):
    import oscal

    document = oscal.OSCAL.load(str(path))
    if not document.validate():
        raise SystemExit(f"{path}: {document.validation_errors[:10] or document.validation_status}")
    return document.oscal_version


def main(paths):
    # The second one unpacks NIST's definitions into the directory it is started in.
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in paths:
            results = read_by_trestle(path)
            version = check_by_metaschema(path)
            [result] = results.results
            states = [finding.target.status.state.value for finding in result.findings]
            print(json.dumps({"version": version, "states": states}))


main([pathlib.Path(path).resolve() for path in sys.argv[1:]])
