import { existsSync } from 'node:fs';
import { hostname } from 'node:os';

const MAX_LENGTH = 63;

/** Returns the host name in the form of device names, in Latin letters; `node` where nothing is left of it. */
export async function nodeName(host = hostname()): Promise<string> {
  const text = (await inLatin(host)).replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  const start = text.search(/[^-]/);
  let end = Math.min(text.length, start + MAX_LENGTH);
  while (text[end - 1] === '-') end -= 1;
  const name = text.slice(start, end);
  return /[A-Za-z0-9]/.test(name) ? name : 'node';
}

async function inLatin(host: string): Promise<string> {
  const text = host.trim().normalize('NFC');
  if (/^[\x20-\x7E]*$/.test(text)) return text;
  const { default: anyAscii } = await import('any-ascii');
  return anyAscii(text);
}

/** Returns the kind of device that this host is. */
export function localPlatform(): 'linux' | 'macos' | 'container' {
  if (process.platform === 'darwin') return 'macos';
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv') ? 'container' : 'linux';
}
