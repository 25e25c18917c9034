"""Checks a SCIM server by scim2-tester.

python tester.py URL TOKEN   prints a line of JSON for each check: its title, its status and why.
"""

import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

url, token = sys.argv[1:]
with Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as http:
    results = check_server(SyncSCIMClient(http))
for result in results:
    print(json.dumps({"title": result.title, "status": result.status.name, "reason": result.reason}))
