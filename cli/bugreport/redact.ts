export const REMOVED = '[removed]';

/** Shorter ones would be found in words that say nothing. */
const SHORTEST_SECRET = 6;

/** What reads as a secret, whoever wrote it; the first group of a match stays. A quote that is not closed goes to the end of its line. */
const PATTERNS: readonly RegExp[] = [
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(mesh:\/\/join\?)\S+/gi,
  /(mesh-[a-z]{2,8}-)[A-Za-z0-9_-]{8,}/g,
  /(:\/\/)[^\s/@"'<>]+@/g,
  /(\b(?:Bearer|Basic) )[^\s"',;]+/gi,
  /([?&](?:token|key|password|secret|code)=)[^&\s"']+/gi,
  /((?:password|passwd|passphrase|secret|token|credential|api[_-]?key|private[_-]?key|authorization|cookie|otp)["']?\s*[:=]\s*)(?!\[removed\])(?:"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s,;}\]]+)/gi,
];
/** What has the length of a key: which are public is known, and nothing else stays. */
const KEYS = /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/]{43}=|[0-9a-fA-F]{64}|[A-Za-z0-9_-]{40,})(?![A-Za-z0-9+/_=-])/g;

/**
 * Makes a text safe to give away: without the secrets that are known here, in whatever form, and without what reads as one.
 * When in doubt it goes.
 */
export function redactor(secrets: readonly string[], known: ReadonlySet<string>): (text: string) => string {
  const forms = [...new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf))]
    // A secret that holds another goes whole.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let safe = forms.reduce((left, form) => left.replaceAll(form, REMOVED), text);
    for (const pattern of PATTERNS) safe = safe.replace(pattern, (_, kept: string) => `${kept}${REMOVED}`);
    return safe.replace(KEYS, (key) => (known.has(key) ? key : REMOVED));
  };
}

/** How programs write a secret: as it is, in JSON, in an address; a key in hex as WireGuard has it. */
function formsOf(secret: string): string[] {
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ];
  if (!/^[A-Za-z0-9+/]{43}=$/.test(secret)) return forms;
  const bytes = Buffer.from(secret, 'base64');
  const hex = bytes.toString('hex');
  return [...forms, hex, hex.toUpperCase(), bytes.toString('base64url'), secret.slice(0, -1)];
}
