import { X509Certificate } from 'node:crypto';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';
/** Certificates of one text. */
const MAX_CERTIFICATES = 10;

/** Returns what is wrong with a text that has to be certificates in PEM and nothing else; undefined where it is that. */
export function certificatesFault(pem: string): string | undefined {
  const blocks = pem.trim().split(END);
  if (blocks.pop() !== '' || blocks.length === 0) return NO_PEM;
  if (blocks.length > MAX_CERTIFICATES) return `at most ${MAX_CERTIFICATES} certificates are taken`;
  return blocks.every(isCertificate) ? undefined : NO_PEM;
}

const NO_PEM = `write certificates in PEM alone, each from ${BEGIN} to ${END}`;

function isCertificate(block: string): boolean {
  if (!block.trim().startsWith(BEGIN)) return false;
  try {
    return new X509Certificate(`${block.trim()}\n${END}`).raw.length > 0;
  } catch {
    return false;
  }
}
