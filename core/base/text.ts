import { z } from 'zod';

/** The most characters of each kind of text that a request carries. */
export const TEXT_LIMITS = {
  /** A name as it is stored, a namespace, a label value: 63, as in a DNS label. */
  name: 63,
  /** A host name (RFC 1035), and names in a network that is simulated. */
  hostname: 253,
  /** Text for people: display names, names of tokens. */
  title: 128,
  /** A name or an id that is looked up. */
  reference: 128,
  /** An id alone. */
  id: 64,
  /** A page's cursor: base64 of a name or an id with its instant. */
  cursor: 256,
  /** `1h30m`; every unit once with twelve digits. */
  duration: 64,
  /** ISO 8601 with nanoseconds and offset has 35. */
  instant: 64,
  /** An IPv6 address with an embedded IPv4 one has 45, and a prefix. */
  cidr: 64,
  /** Two addresses and a hyphen. */
  range: 128,
  /** `domain/key`: 253, a slash and 63. */
  labelKey: 317,
  /** `label=value`, the longest term of an assertion. */
  term: 381,
  /** Why something was approved or refused. */
  note: 1_000,
  /** Request in plain words; several lines. */
  intent: 2_000,
  /** A single annotation; several lines. */
  annotation: 1_024,
  password: 1_024,
  otp: 64,
  /** Version of the software that a device runs. */
  version: 64,
  token: 256,
  /** An OIDC token of a workload; those of clusters have some 1,200. */
  identityToken: 8_192,
  /** Id of a WebAuthn credential: 1,023 bytes in base64url. */
  credentialId: 1_364,
  /** A part of what an authenticator signs, in base64url. */
  passkey: 8_192,
  /** Query with which an issuer sends a browser back: a state, and a code, which some make long. */
  callback: 8_192,
  /** Resources as YAML: as long as a request body; several lines. */
  manifest: 1_048_576,
} as const;

/**
 * Control characters, line ends, halves of pairs, private use, and what shows nothing or turns the direction of text, the
 * joiners of scripts and emoji apart.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|(?!\u200c|\u200d)\p{Cf}|[\u{E0100}-\u{E01EF}]/u;

/** A single line of printable text: names, reasons, notes. It cannot break out of the line that shows it. */
export function lineOfText(max: number): z.ZodString {
  return z
    .string()
    .max(max)
    .refine((text) => !UNPRINTABLE.test(text), { error: 'one line of printable text is needed' });
}

/** The same over several lines: what a person is asked to decide about reads as it is stored. */
export function linesOfText(max: number): z.ZodString {
  return z
    .string()
    .max(max)
    .refine((text) => !UNPRINTABLE.test(text.replaceAll(/[\n\r\t]/g, ' ')), {
      error: 'printable text is needed: no characters that show nothing or turn the direction of text',
    });
}

/** An instant as ISO 8601 writes it. */
export function instantText(error: string): z.ZodISODateTime {
  return z.iso.datetime({ offset: true, error }).max(TEXT_LIMITS.instant);
}

/** A map with at most `max` keys, which are counted before any is looked at. */
export function mapOf<K extends z.ZodString, V extends z.ZodType>(key: K, value: V, max: number, what: string) {
  return z.preprocess(
    (input, context) => {
      if (typeof input !== 'object' || input === null || Object.keys(input).length <= max) return input;
      context.addIssue({ code: 'custom', message: `at most ${max} ${what} are accepted` });
      return z.NEVER;
    },
    z.record(key, value, { error: keyFault }).meta({ maxProperties: max }),
  );
}

/** Returns why a map key is wrong: zod itself reports only that it is. */
function keyFault(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === 'invalid_key' ? issue.issues?.[0]?.message : undefined;
}
