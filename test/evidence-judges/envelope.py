"""Verifies an unpacked evidence archive by securesystemslib: the DSSE envelope in attestation.json, and the digest of
each file that its in-toto statement names.

python envelope.py FOLDER [KEY.pem]   the key in the archive is taken where none is given; exit 1 where anything is wrong.
"""

import hashlib
import json
import pathlib
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

# Not among the subjects: what is signed cannot name its own signature, and the manifest lists what the statement does.
OUTSIDE = {"attestation.json", "MANIFEST.sha256"}


def main(folder, key_file):
    attestation = json.loads((folder / "attestation.json").read_text())
    key = load_pem_public_key(key_file.read_bytes())
    keys = [SSlibKey.from_crypto(key, keyid=one["keyid"]) for one in attestation["signatures"]]
    envelope = Envelope.from_dict(attestation)
    try:
        accepted = envelope.verify(keys, 1)
    except VerificationError as error:
        raise SystemExit(f"the signature is not of this key: {error}")
    statement = json.loads(envelope.payload)
    named = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).as_posix() not in OUTSIDE
    }
    named = {name: digest for name, digest in named.items() if name not in OUTSIDE}
    wrong = sorted(name for name in named.keys() | found.keys() if named.get(name) != found.get(name))
    if wrong:
        raise SystemExit(f"not as signed: {', '.join(wrong)}")
    print(json.dumps({"payloadType": envelope.payload_type, "keys": len(accepted), "files": len(found)}))


folder = pathlib.Path(sys.argv[1])
main(folder, pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "public-key.pem")
