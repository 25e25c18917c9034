import type { Finding } from '../core/audit/findings.ts';
import { type LogKey, leadsTo } from '../core/audit/log-keys.ts';
import { formatInstant } from '../core/base/time.ts';
import { fingerprintOf } from './evidence-keys.ts';
import { signerOf } from './served-log.ts';

interface Signature {
  /** The key that signed it, base64; undefined where no trusted key did. */
  readonly key?: string;
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
}

/**
 * Checks that a trusted key signed a checkpoint. Trusted is the pinned key alone, if there is one; otherwise the key that
 * signed the last time, or one to which it leads; at first one that the control plane names.
 *
 * @param pinned and `seen`: base64
 */
export function checkSignature(
  note: string,
  pinned: string | undefined,
  seen: string | undefined,
  served: readonly LogKey[],
): Signature {
  const trusted = pinned ?? seen;
  const signer = signerOf(note, [
    ...(trusted === undefined ? [] : [Buffer.from(trusted, 'base64')]),
    ...served.map(({ publicKey }) => publicKey),
  ]);
  if (!signer) return failing('signature', 'The checkpoint is signed by none of the keys that are trusted.');
  const key = Buffer.from(signer).toString('base64');
  const until = served.find(({ publicKey }) => Buffer.compare(publicKey, signer) === 0)?.until;
  if (until !== undefined) {
    const message = `The checkpoint is signed by ${key}, whose time was over on ${formatInstant(until)}.`;
    return failing('signature', message);
  }
  if (key === trusted) {
    const whose = pinned === undefined ? 'as the last time here' : 'the key given by --key';
    return { key, findings: [], notes: [`Signed by ${keyText(key)}, ${whose}.`] };
  }
  if (pinned !== undefined) return failing('signature', `The checkpoint is signed by ${key}, not by the key given.`);
  if (seen === undefined) {
    const advice = `Signed by ${keyText(key)}, as the control plane itself says, for no key was given: compare it with what the operator shows you (mesh admin get-audit-keys), and give it by --key.`;
    return { key, findings: [], notes: [advice] };
  }
  if (leadsTo(Buffer.from(seen, 'base64'), signer, served)) {
    return {
      key,
      findings: [],
      notes: [`Signed by ${keyText(key)}, which ${seen}, the key before, named as the next.`],
    };
  }
  const message = `The checkpoint is signed by ${key}, not by ${seen} as the last time, and that key did not name it as the next. If the operator had to make a new key, give it by --key.`;
  return failing('key_changed', message);
}

/** A key, base64, with its fingerprint. */
export function keyText(key: string): string {
  return `${key} (fingerprint ${fingerprintOf(key)})`;
}

function failing(code: Finding['code'], message: string): Signature {
  return { findings: [{ code, message }], notes: [] };
}
