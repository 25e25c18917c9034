import { formatDuration } from '../core/base/duration.ts';
import { EVENT_TYPES } from '../core/webhooks/event-types.ts';
import { MAX_EVENT_ITEMS } from '../core/webhooks/events.ts';
import { FAILING_DAYS, MAX_ATTEMPTS, RETRY_AFTER_MS } from '../core/webhooks/retry.ts';
import { DEAD_RETENTION_DAYS, DELIVERED_RETENTION_DAYS, MAX_WAITING } from '../core/webhooks/webhook-record.ts';
import { SEND_LIMITS } from '../plane/webhooks/post.ts';

/** docs/webhooks.md: what receivers are told, from the tables that the code goes by. */
export function webhooksPage(note: string): string {
  const rows = Object.entries(EVENT_TYPES).map(([type, meaning]) => `| \`${type}\` | ${meaning} |`);
  const retries = RETRY_AFTER_MS.map((ms, index) => `| ${index + 1} | ${formatDuration(ms)} |`);
  return `# Webhooks

${note}

A webhook posts the events of one workspace to a URL, signed as [Standard Webhooks](https://www.standardwebhooks.com) has it. Administrators of the
workspace manage them, logged in or by an API token; agents never do. Both editions have them. Whoever makes one owns it; once they have left it goes on [without an owner](accounts-and-tokens.md#when-a-person-leaves).

\`\`\`sh
field() { node -pe "JSON.parse(require('node:fs').readFileSync(0))$1"; }
made=$(bin/mesh webhook create https://hooks.example.com/mesh --events 'workflow.*' --description chat --json)
printf '%s' "$made" | field .secret            # whsec_…, for the receiver
hook=$(printf '%s' "$made" | field .id)
bin/mesh webhook deliveries "$hook" --status dead
bin/mesh webhook resend-dead "$hook" --since 2d
bin/mesh webhook rotate-secret "$hook"
\`\`\`

\`mesh webhook test ID\` sends it the event \`webhook.test\`.

The secret, \`whsec_…\`, is shown once, where the webhook is made and where its secret is rotated. After a rotation the old one signs
too for a day. The control plane keeps secrets encrypted with a key of \`credentials.json\`, each for its webhook and URL: whoever rewrites
the URL in the database gets nothing sent.

## What is sent

A \`POST\` of JSON: \`type\`, \`timestamp\` and \`data\`. Data is thin: names, ids, counts, and links to what the API shows of it; at most
${MAX_EVENT_ITEMS} records by name, the others as \`omitted\`. Events of workflows have \`title\`, \`risk\`, \`opened_pairs\`, \`closed_pairs\` and
\`review_url\`, where a person approves. Delivery is at least once and the order is not promised: \`webhook-id\` is the same at each attempt.

| Event | When |
|---|---|
${rows.join('\n')}

\`webhook.test\` comes by a test alone. A webhook subscribes to types, to prefixes such as \`workflow.*\`, or to \`*\`.

## Check a signature

\`webhook-signature\` has one or more signatures with spaces between; each is \`v1,\` and the base64 of HMAC-SHA256 over
\`<webhook-id>.<webhook-timestamp>.<body>\`, with the base64 after \`whsec_\` as the key. Refuse a timestamp that is over five minutes
from now. Libraries of Standard Webhooks do all of it. Without one, in Node:

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(secret, headers, body, now = Date.now() / 1000) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headers;
  if (!(Math.abs(now - Number(at)) < 300)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const wanted = createHmac('sha256', key).update(\`\${id}.\${at}.\${body}\`).digest();
  return signatures.split(' ').some((text) => {
    const given = Buffer.from(text.replace('v1,', ''), 'base64');
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}
\`\`\`

In Python:

\`\`\`python
import base64, hashlib, hmac, time

def is_genuine(secret, headers, body, now=None):
    at = headers["webhook-timestamp"]
    if abs((now or time.time()) - int(at)) >= 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{at}.{body}".encode()
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(wanted, given) for given in headers["webhook-signature"].split(" "))
\`\`\`

## Attempts

A delivery came through where the answer has a status from 200 to 299 within ${SEND_LIMITS.totalMs / 1_000} s. Else it is tried again, ${MAX_ATTEMPTS} times in all; up to a fifth
is added to each wait. A longer \`Retry-After\` is kept to, up to a day. Then it is dead: it stays visible for ${DEAD_RETENTION_DAYS} days, and can be sent
again. Delivered ones stay ${DELIVERED_RETENTION_DAYS} days.

| After attempt | Wait |
|---|---|
${retries.join('\n')}

An answer of 410 disables the webhook, and so do ${FAILING_DAYS} days without a success; \`disabledReason\` says which. What waits then becomes dead.
Enabled again, a webhook is told what happens from then on. Where ${MAX_WAITING} deliveries wait, later events stay in the audit log until there
is room. Redirects are not followed. Of an answer ${SEND_LIMITS.responseBytes} bytes are read.

## Where webhooks may go

To \`https\` on the internet. A name is looked up at each attempt, and where any of its addresses is private, of the loopback, of the machine's
neighbours, of a metadata service, of the overlay or otherwise not global, nothing is sent. The connection goes to the addresses that
were judged. Names are asked of the name servers; \`/etc/hosts\` is not read. Proxies of the environment are not used.

The operator of the control plane can allow more, and \`http\` to it: \`MESH_WEBHOOK_ALLOW=hooks.internal,10.1.0.0/16\`, or in \`config.yaml\`:

\`\`\`yaml
app:
  webhooks:
    allow: [hooks.internal, 10.1.0.0/16]
\`\`\`
`;
}
