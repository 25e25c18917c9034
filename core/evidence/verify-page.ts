/** Returns the page of the archive that explains how to verify it with third-party programs. */
export function verifyPage(fingerprint: string, origin: string): string {
  return PAGE.replaceAll('{fingerprint}', fingerprint).replaceAll('{origin}', origin);
}

const PAGE = `# How to verify this archive

Unpack it into an empty directory and run the commands there. They need a shell, \`sha256sum\` and OpenSSL 3, nothing of
who made the archive. Each ends with an error where something is not as it was signed.

## 1. The key

A key inside of an archive proves nothing by itself. Compare this fingerprint with what the operator showed you by another
way, such as \`mesh admin get-audit-keys\` or \`GET /api/v1/audit/keys\` over TLS:

    {fingerprint}

\`\`\`sh
openssl pkey -pubin -in public-key.pem -outform DER | sha256sum | grep '^{fingerprint}'
\`\`\`

## 2. The files are those of the manifest, and no others

\`\`\`sh
sha256sum --strict -c MANIFEST.sha256
find . -type f | sed 's#^\\./##' | grep -vxE 'attestation\\.json|MANIFEST\\.sha256' | LC_ALL=C sort > "\${TMPDIR:-/tmp}/mesh-present"
cut -c 67- MANIFEST.sha256 | LC_ALL=C sort | diff - "\${TMPDIR:-/tmp}/mesh-present"
\`\`\`

## 3. The attestation is signed, and about these files

\`attestation.json\` is a DSSE envelope around an in-toto statement. What stands in it beside \`payload\` and \`signatures\` is
for reading and is not signed.

\`\`\`sh
work=$(mktemp -d)
sed -n 's/^  "payload": "\\(.*\\)",$/\\1/p' attestation.json | openssl base64 -d -A > "$work/payload"
sed -n 's/^ *"sig": "\\(.*\\)"$/\\1/p' attestation.json | openssl base64 -d -A > "$work/signature"
printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < "$work/payload")" | cat - "$work/payload" > "$work/signed"
openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in "$work/signed" -sigfile "$work/signature"
sed -n 's/^{"name":"\\(.*\\)","digest":{"sha256":"\\([0-9a-f]*\\)"}},*$/\\2  \\1/p' "$work/payload" | sha256sum --strict -c
\`\`\`

## 4. The checkpoint of the audit log is signed

\`audit-checkpoint.txt\` is a signed note (c2sp.org/tlog-checkpoint) of the log \`{origin}\`, up to the entry that stored the
assessment: its number of entries and its root.

\`\`\`sh
work=$(mktemp -d)
sed '/^$/,$d' audit-checkpoint.txt > "$work/signed"
tail -n 1 audit-checkpoint.txt | sed 's/.* //' | openssl base64 -d -A | tail -c 64 > "$work/signature"
openssl pkeyutl -verify -pubin -inkey public-key.pem -rawin -in "$work/signed" -sigfile "$work/signature"
\`\`\`

## 5. The populations are complete

Each file in \`raw-data/\` has a \`.meta.json\` beside it: where it is from, how it was chosen, how many rows it has, and its
digest. \`audit-log.jsonl\` has an entry on each line. The leaf of an entry is SHA-256 over a zero byte and its line (a longer
line than 65,535 bytes has a leaf that gives its digest). \`log_range.before\` of its \`.meta.json\` has the hashes of the
subtrees before the first line, as RFC 6962 makes them: these and the leaves make up the root of the checkpoint. So no entry
can be missing. The first line is older than the period, or the first of the log; the last one stored the assessment. Every
snapshot and workflow that these entries tell of is in \`snapshots-timeline.json\` or \`workflow-audit-log.csv\`.

\`mesh evidence verify FILE --key {fingerprint}\` checks this and all of the above, without a server.
\`mesh audit verify --evidence FILE\` checks that the log of the control plane still begins with the one of this archive.

## Cells of the CSV file

A spreadsheet would run a cell that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a line end. Such a cell, and one that begins
with an apostrophe, has one apostrophe before it. Take one leading apostrophe away to read what was recorded.
`;
