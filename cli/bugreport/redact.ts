export const REMOVED = '[removed]';

/** A shorter secret would be found within words. */
const SHORTEST_SECRET = 6;

/** Secrets that are recognized by their form. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [^-]*(?:-----)?[^-]*(?:-----END [^\n]*)?/g,
  /\bmesh-(?:dev|agt|join|dlg|api|oat|oac|ort)-[\w.-]+/g,
  // A JSON web token.
  /(?<![\w-])eyJ[\w-]+\.[\w.-]+/g,
  /(?<=\b(?:authorization|cookie)\W{1,4})[^\r\n]+/gi,
  // A key of 32 bytes in base64 or in hex.
  /(?<![\w+/])[A-Za-z0-9+/]{43}=|\b[0-9a-f]{64}\b/gi,
];
/** A name, a separator and a value, in text, JSON, an address or a command. */
const NAMED = [
  /(?<![\w-])([\w-]{1,64})(["'\\]{0,4}[:=] {0,8})(\\?"[^"\n]{0,512}"|'[^'\n]{0,512}'|[^\s,;&)}\]]+)/g,
  /(?<=\s)(--?[\w-]{1,64})( {1,8})(\S+)/g,
];
/** Programs print these in place of a secret. */
const PLACEHOLDERS = new Set(['(hidden', '(none']);
const SECRET_NAME = /pass|pwd|psk|secret|token|credential|key|auth/i;

/**
 * Returns a function that removes secrets from a text: the given ones in the forms in which programs write them, then whatever
 * has the form of a secret and is not publicly known.
 *
 * @param known public keys, names and ids that the report needs
 */
export function redactor(secrets: readonly string[], known: ReadonlySet<string>): (text: string) => string {
  const forms = [...new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf))]
    // A secret that contains another is removed whole.
    .sort((a, b) => b.length - a.length);
  const byForm = (text: string) => (known.has(text) ? text : REMOVED);
  const byName = (all: string, name: string, separator: string, value: string) =>
    SECRET_NAME.test(name) && !known.has(value) && !PLACEHOLDERS.has(value) ? `${name}${separator}${REMOVED}` : all;
  return (text) => {
    const safe = forms.reduce((left, form) => left.replaceAll(form, REMOVED), text);
    const unformed = FORMS.reduce((left, form) => left.replace(form, byForm), withoutUserinfo(safe));
    return NAMED.reduce((left, named) => left.replace(named, byName), unformed);
  };
}

/** Removes name and password of each address, up to the last @: a password may contain one, or a slash. */
function withoutUserinfo(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const [from, end] = [word.indexOf('://') + 3, word.lastIndexOf('@')];
    return from < 3 || end <= from ? word : `${word.slice(0, from)}${REMOVED}${word.slice(end)}`;
  });
}

/** Removes secrets from all texts of a value. */
export function redactedJson(safe: (text: string) => string, value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => (typeof part === 'string' ? safe(part) : part), 1);
}

/** A secret as it is, in JSON, in an address, in base64 and in hex; a WireGuard key as the tunnel's protocol writes it too. */
function formsOf(secret: string): string[] {
  const inAddress = encodeURIComponent(secret);
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    inAddress,
    inAddress.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inAddress.replaceAll('%20', '+'),
    bytes.toString('base64'),
    bytes.toString('base64').replaceAll('=', ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
  if (!/^[A-Za-z0-9+/]{43}=$/.test(secret)) return forms;
  const key = Buffer.from(secret, 'base64');
  const hex = key.toString('hex');
  return [...forms, hex, hex.toUpperCase(), key.toString('base64url'), secret.slice(0, -1)];
}
